//! All channels, and who of those that have not said their features may stay.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::channel::Channel;
use crate::config::Limits;
use crate::transport::Transport;

/// Time without a message after which a switch is idle: each is asked for its ports' counters every
/// second.
const IDLE: Duration = Duration::from_secs(3);

/// Channels by their numbers.
#[derive(Debug)]
pub(crate) struct Channels {
    limits: Limits,
    tls: Option<Arc<ServerConfig>>,
    all: BTreeMap<u32, Channel>,
    next: u32,
}

impl Channels {
    pub(crate) fn new(limits: Limits, tls: Option<Arc<ServerConfig>>) -> Self {
        Self {
            limits,
            tls,
            all: BTreeMap::new(),
            next: 1,
        }
    }

    /// The channel that gives way to a new one of a peer, where there is no more room: the oldest one
    /// without features of the address that has the most such. Where all have said theirs, that of
    /// the address which then has the most channels that was silent the longest, so that none takes
    /// the places of others; of the peer's own address only one that has said nothing for some time.
    pub(crate) fn yielding(&self, now: Instant, peer: IpAddr) -> Option<u32> {
        if self.all.len() < self.limits.connections {
            return None;
        }
        if let Some(unknown) = self.oldest_unknown() {
            return Some(unknown);
        }
        let peer = network(peer);
        let mut counts = BTreeMap::from([(peer, 1_usize)]);
        for channel in self.all.values() {
            *counts.entry(network(channel.peer)).or_default() += 1;
        }
        let most = counts
            .into_iter()
            .max_by_key(|(of, count)| (*count, *of == peer));
        let (most, _) = most?;
        let theirs = self.all.iter();
        let theirs = theirs.filter(|(_, channel)| network(channel.peer) == most);
        let yields = |channel: &Channel| {
            let is_idle = now.duration_since(channel.heard) >= IDLE;
            most != peer || is_idle
        };
        let yielding = theirs.filter(|(_, channel)| yields(channel));
        let first = yielding.min_by_key(|(_, channel)| channel.heard);
        first.map(|(number, _)| *number)
    }

    /// The oldest channel without features of the address that has the most such; of addresses with
    /// equally many the oldest of all.
    fn oldest_unknown(&self) -> Option<u32> {
        let mut of_address = BTreeMap::new();
        for (number, channel) in &self.all {
            if let Some(until) = channel.unknown_until {
                let this = Reverse((until, *number));
                let (count, oldest) = of_address
                    .entry(network(channel.peer))
                    .or_insert((0_usize, this));
                *count += 1;
                *oldest = this.max(*oldest);
            }
        }
        let most = of_address.into_values().max();
        most.map(|(_, Reverse((_, number)))| number)
    }

    /// Takes a connection that has just been accepted, and gives its number.
    pub(crate) fn add(&mut self, now: Instant, stream: TcpStream, peer: IpAddr) -> io::Result<u32> {
        if self.all.len() >= self.limits.connections {
            return Err(io::Error::other("there are too many connections"));
        }
        let transport = Transport::new(stream, self.tls.as_ref())?;
        let until = now + self.limits.unknown_time();
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let channel = Channel::new(transport, self.limits.message_bytes, (peer, now, until));
        self.all.insert(number, channel);
        Ok(number)
    }

    /// The channel without features that is to end, where there are too many of them: the oldest one
    /// of the address that has the most, so that none takes the places of others.
    pub(crate) fn crowded(&self) -> Option<u32> {
        let is_crowded = self.unknown().count() > self.limits.unknown;
        is_crowded.then(|| self.oldest_unknown()).flatten()
    }

    /// The channels whose features have not come in time.
    pub(crate) fn late(&self, now: Instant) -> Vec<u32> {
        let late = self.unknown().filter(|(until, _)| *until <= now);
        late.map(|(_, number)| number).collect()
    }

    /// The time by which the next features are to come.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.unknown().map(|(until, _)| until).min()
    }

    fn unknown(&self) -> impl Iterator<Item = (Instant, u32)> {
        let all = self.all.iter();
        all.filter_map(|(number, channel)| Some((channel.unknown_until?, *number)))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Channel)> {
        self.all.iter().map(|(number, channel)| (*number, channel))
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.all.keys().copied().collect()
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Channel> {
        self.all.get_mut(&number)
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<Channel> {
        self.all.remove(&number)
    }
}

/// The address by which the hosts are told apart: of IPv6 their network, all of whose addresses one
/// host may have.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Channels of peers of the given last bytes, all with features.
    fn full(peers: &[u8], begun: Instant) -> Channels {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let limits = Limits {
            connections: peers.len(),
            ..Limits::default()
        };
        let mut channels = Channels::new(limits, None);
        for last in peers {
            let stream = TcpStream::connect(listener.local_addr().expect("bound"));
            let peer = IpAddr::from([10, 0, 0, *last]);
            let number = channels.add(begun, stream.expect("connected"), peer);
            let channel = channels.get_mut(number.expect("room"));
            channel.expect("there").unknown_until = None;
        }
        channels
    }

    #[test]
    fn the_address_with_the_most_gives_way_to_others() {
        let begun = Instant::now();
        let mut channels = full(&[1, 2, 2, 2, 3], begun);
        let [new, own] = [9, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        // Of equally silent ones the first.
        assert_eq!(channels.yielding(begun, new), Some(2));
        channels.get_mut(2).expect("there").heard = begun + Duration::from_secs(1);
        assert_eq!(channels.yielding(begun, new), Some(3));
        channels.get_mut(4).expect("there").unknown_until = Some(begun);
        assert_eq!(channels.yielding(begun, new), Some(4));
        assert_eq!(channels.yielding(begun, own), Some(4));
        channels.remove(5);
        assert_eq!(channels.yielding(begun, new), None);
    }

    #[test]
    fn channels_without_features_give_way_before_switches_that_speak() {
        let begun = Instant::now();
        let mut channels = full(&[1, 1, 1, 2, 3], begun);
        let silent = |channels: &mut Channels, number| {
            channels.get_mut(number).expect("there").unknown_until = Some(begun);
        };
        silent(&mut channels, 4);
        for last in [1, 2, 9] {
            let peer = IpAddr::from([10, 0, 0, last]);
            assert_eq!(channels.yielding(begun, peer), Some(4));
        }
        // Of the address with the most of them.
        silent(&mut channels, 2);
        silent(&mut channels, 3);
        assert_eq!(
            channels.yielding(begun, IpAddr::from([10, 0, 0, 9])),
            Some(2)
        );
    }

    #[test]
    fn an_address_fills_the_places_without_features_only_while_no_other_needs_them() {
        let begun = Instant::now();
        let mut channels = full(&[1, 2, 2, 2, 3], begun);
        channels.limits.unknown = 3;
        let begins = |channels: &mut Channels, number, at_ms| {
            let until = begun + Duration::from_millis(at_ms);
            channels.get_mut(number).expect("there").unknown_until = Some(until);
        };
        for (number, at_ms) in [(1, 0), (2, 2), (3, 1)] {
            begins(&mut channels, number, at_ms);
            assert_eq!(channels.crowded(), None);
        }
        begins(&mut channels, 4, 3);
        assert_eq!(channels.crowded(), Some(3));
        // Of addresses with equally many the oldest.
        channels.remove(3);
        channels.remove(4);
        channels.limits.unknown = 2;
        begins(&mut channels, 5, 4);
        assert_eq!(channels.crowded(), Some(1));
    }

    #[test]
    fn switches_that_speak_do_not_give_way_to_others_of_their_address() {
        let begun = Instant::now();
        let channels = full(&[1, 2, 2], begun);
        let [own, new] = [2, 3].map(|last| IpAddr::from([10, 0, 0, last]));
        assert_eq!(channels.yielding(begun, own), None);
        assert_eq!(channels.yielding(begun, new), Some(2));
        assert_eq!(channels.yielding(begun + IDLE, own), Some(2));
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_host() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
