//! Packets in flight over links, and frames on links at switches.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use mptcplab_wire::{MAX_OPTION_BYTES, Packet, Segment, ethernet};

use crate::interference::Rewrite;

/// Bytes of the longest headers: of IPv6, and of TCP without options.
const HEADER_BYTES: usize = 40 + 20;

/// A packet or a frame in flight over a link. It takes no more room than a packet alone.
#[derive(Clone, Debug)]
pub(crate) enum InFlight {
    /// A packet, on a link between hosts and routers.
    Packet(PacketInFlight),
    /// A frame without its check sequence, on a link at a switch.
    Frame(Box<Bytes>),
}

impl InFlight {
    /// Bytes of the IP packet.
    pub(crate) fn ip_bytes(&self) -> u32 {
        match self {
            Self::Packet(packet) => packet.packet.ip_bytes() as u32,
            Self::Frame(frame) => frame.len().saturating_sub(ethernet::HEADER_BYTES) as u32,
        }
    }

    /// Changes a packet of TCP; false where it is none, or none that the change is for.
    pub(crate) fn rewrite(&mut self, rewrite: &dyn Rewrite) -> bool {
        let changed = match self {
            Self::Packet(packet) => rewritten(packet.packet(), rewrite).map(|packet| {
                let packet = PacketInFlight::new(Box::new(packet));
                Self::Packet(packet)
            }),
            Self::Frame(frame) => {
                let start = ethernet::HEADER_BYTES.min(frame.len());
                let packet = Packet::read(frame.slice(start..)).ok();
                let packet = packet.and_then(|packet| rewritten(&packet, rewrite));
                packet.map(|packet| {
                    let mut bytes = frame[..start].to_vec();
                    packet.write_to(&mut bytes);
                    Self::Frame(Box::new(bytes.into()))
                })
            }
        };
        match changed {
            Some(changed) => *self = changed,
            None => return false,
        }
        true
    }
}

/// A changed packet; none where it is not of TCP, the change is not for it, or it would be longer
/// than a packet may be.
fn rewritten(packet: &Packet, rewrite: &dyn Rewrite) -> Option<Packet> {
    let mut segment = Segment::parse(packet.clone()).ok()?;
    if !rewrite.rewrite(&mut segment) {
        return None;
    }
    let options = segment.options.encoded_bytes();
    let fits = options <= MAX_OPTION_BYTES
        && HEADER_BYTES + options + segment.payload.len() <= usize::from(u16::MAX);
    fits.then(|| segment.into_packet(packet.hop_limit()))
}

/// A packet in flight, with the fields that routers read.
///
/// With many packets in flight the caches no longer hold one when it comes to the end of a link, and
/// loading it would take as long as all that a router does. This entry itself stands in the queue
/// of the link, so that the packet is read at its destination only.
///
/// It is moved about ten times through the stages of a link: hence the box, and fields that make
/// up two words.
#[derive(Clone, Debug)]
pub(crate) struct PacketInFlight {
    packet: Box<Packet>,
    /// The IPv4 destination; 0 where the packet has to be read for it.
    destination: u32,
    hop_limit: u16,
    /// Hops that the packet's own hop limit does not include yet.
    hops: u16,
}

impl PacketInFlight {
    pub(crate) fn new(packet: Box<Packet>) -> Self {
        let destination = match packet.destination() {
            IpAddr::V4(address) => address.to_bits(),
            IpAddr::V6(_) => 0,
        };
        let hop_limit = packet.hop_limit().into();
        Self {
            packet,
            destination,
            hop_limit,
            hops: 0,
        }
    }

    pub(crate) fn destination(&self) -> IpAddr {
        match self.destination {
            0 => self.packet.destination(),
            bits => Ipv4Addr::from_bits(bits).into(),
        }
    }

    /// [`Packet::flow_hash`].
    pub(crate) fn flow_hash(&self, seed: u64) -> u64 {
        self.packet.flow_hash(seed)
    }

    /// Counts a hop, as [`Packet::decrement_hop_limit`] does.
    pub(crate) fn count_hop(&mut self) -> bool {
        self.hops = self.hops.saturating_add(1);
        self.hop_limit = self.hop_limit.saturating_sub(1);
        self.hop_limit > 0
    }

    /// The packet as it is now.
    pub(crate) fn packet(&mut self) -> &Packet {
        for _ in 0..std::mem::take(&mut self.hops) {
            self.packet.decrement_hop_limit();
        }
        &self.packet
    }

    pub(crate) fn into_packet(mut self) -> Box<Packet> {
        self.packet();
        self.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_cost_packets_no_room() {
        assert_eq!(size_of::<InFlight>(), size_of::<PacketInFlight>());
        assert_eq!(size_of::<InFlight>(), 16);
    }

    #[test]
    fn the_hops_in_flight_are_those_of_the_packet() {
        for addresses in [
            ["10.0.0.1:1", "10.0.0.2:2"],
            ["[2001:db8::1]:1", "[2001:db8::2]:2"],
        ] {
            let [from, to] = addresses.map(|address| address.parse().unwrap());
            let mut packet = Packet::udp(from, to, Bytes::new());
            let mut in_flight = PacketInFlight::new(Box::new(packet.clone()));
            assert_eq!(in_flight.destination(), to.ip());
            while packet.decrement_hop_limit() {
                assert!(in_flight.count_hop());
                if !packet.hop_limit().is_multiple_of(3) {
                    assert_eq!(in_flight.packet(), &packet);
                }
            }
            assert!(!in_flight.count_hop());
            assert_eq!(*in_flight.into_packet(), packet);
        }
    }
}
