//! Packets in flight over links, and frames on links at switches.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use mptcplab_wire::Packet;

/// A packet or a frame in flight over a link. It takes no more room than a packet alone.
#[derive(Clone, Debug)]
pub(crate) enum InFlight {
    /// A packet, on a link between hosts and routers.
    Packet(PacketInFlight),
    /// A frame without its check sequence, on a link at a switch.
    Frame(Box<Bytes>),
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
