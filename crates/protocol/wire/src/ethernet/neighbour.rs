//! Neighbour solicitations and advertisements (RFC 4861, sections 4.3 and 4.4).

use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv6Addr;

use super::{Header, MacAddress, ether_type};
use crate::checksum::Sum;
use crate::layout::{IPV6_BYTES, protocol};

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Options with the hardware address of the source and of the target.
const SOURCE_ADDRESS: u8 = 1;
const TARGET_ADDRESS: u8 = 2;
/// Bytes of type, code, checksum, flags and target.
const MESSAGE_BYTES: usize = 24;
/// The only hop limit, which no router can have passed on.
const HOP_LIMIT: u8 = 255;
/// Flags of an advertisement: solicited, override.
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// A kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighbourKind {
    /// Asks for the hardware address of the target.
    Solicitation,
    /// Gives it.
    Advertisement,
}

/// A message of neighbour discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The kind.
    pub kind: NeighbourKind,
    /// The sender's address; unspecified where it has none yet.
    pub source: Ipv6Addr,
    /// The receiver's address, or that of a group.
    pub destination: Ipv6Addr,
    /// The address that is asked for or made known.
    pub target: Ipv6Addr,
    /// The hardware address of a solicitation's source or of an advertisement's target, if given.
    pub mac: Option<MacAddress>,
}

impl Neighbour {
    /// The message of an IPv6 packet, whose checksum is not looked at; `None`: it is none.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let (header, rest) = packet.split_first_chunk::<IPV6_BYTES>()?;
        let is_ours =
            header[0] >> 4 == 6 && header[6] == protocol::ICMPV6 && header[7] == HOP_LIMIT;
        let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let message = rest.get(..length).filter(|_| is_ours)?;
        let (fixed, options) = message.split_first_chunk::<MESSAGE_BYTES>()?;
        let (kind, option) = match fixed[..2] {
            [SOLICITATION, 0] => (NeighbourKind::Solicitation, SOURCE_ADDRESS),
            [ADVERTISEMENT, 0] => (NeighbourKind::Advertisement, TARGET_ADDRESS),
            _ => return None,
        };
        Some(Self {
            kind,
            source: address(&header[8..24]),
            destination: address(&header[24..40]),
            target: address(&fixed[8..24]),
            mac: find(options, option),
        })
    }

    /// A question of an interface, to all that may have the target's address.
    pub fn solicitation(mac: MacAddress, source: Ipv6Addr, target: Ipv6Addr) -> Self {
        let [.., a, b, c] = target.octets();
        Self {
            kind: NeighbourKind::Solicitation,
            source,
            // The solicited-node multicast address (RFC 4291, section 2.7.1).
            destination: Ipv6Addr::from([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c]),
            target,
            mac: Some(mac),
        }
    }

    /// The answer of `mac`, which has the address that is asked for: to the one that asks, or to
    /// all nodes where it has no address yet.
    pub fn answer(&self, mac: MacAddress) -> Self {
        Self {
            destination: match self.source.is_unspecified() {
                true => ALL_NODES,
                false => self.source,
            },
            ..Self::announcement(mac, self.target)
        }
    }

    /// The message by which an interface makes an address of its own known to all nodes.
    pub fn announcement(mac: MacAddress, address: Ipv6Addr) -> Self {
        Self {
            kind: NeighbourKind::Advertisement,
            source: address,
            destination: ALL_NODES,
            target: address,
            mac: Some(mac),
        }
    }

    /// The frame of an interface to another one, or to a multicast address.
    pub fn frame(&self, from: MacAddress, to: Option<MacAddress>) -> Vec<u8> {
        let [.., a, b, c, d] = self.destination.octets();
        let to = to.filter(|_| !self.destination.is_multicast());
        let to = to.unwrap_or([0x33, 0x33, a, b, c, d]);
        let (kind, flags, option) = match self.kind {
            NeighbourKind::Solicitation => (SOLICITATION, 0, SOURCE_ADDRESS),
            NeighbourKind::Advertisement => {
                let solicited = if self.destination.is_multicast() {
                    0
                } else {
                    SOLICITED
                };
                (ADVERTISEMENT, solicited | OVERRIDE, TARGET_ADDRESS)
            }
        };
        let mut message = vec![kind, 0, 0, 0, flags, 0, 0, 0];
        message.extend(self.target.octets());
        if let Some(mac) = self.mac {
            message.extend([option, 1]);
            message.extend(mac);
        }
        let length = message.len() as u16;
        let mut sum = Sum::default();
        sum.add(&self.source.octets());
        sum.add(&self.destination.octets());
        sum.add(&u32::from(length).to_be_bytes());
        sum.add(&[0, 0, 0, protocol::ICMPV6]);
        sum.add(&message);
        message[2..4].copy_from_slice(&sum.finish().to_be_bytes());
        let header = Header {
            destination: to,
            source: from,
            ether_type: ether_type::IPV6,
        };
        let mut frame = header.frame();
        frame.extend([0x60, 0, 0, 0]);
        frame.extend(length.to_be_bytes());
        frame.extend([protocol::ICMPV6, HOP_LIMIT]);
        frame.extend(self.source.octets());
        frame.extend(self.destination.octets());
        frame.extend(message);
        frame
    }
}

fn address(bytes: &[u8]) -> Ipv6Addr {
    let bytes = <[u8; 16]>::try_from(bytes).unwrap_or_default();
    bytes.into()
}

/// The hardware address of an option.
fn find(mut options: &[u8], wanted: u8) -> Option<MacAddress> {
    while let [kind, words, ..] = *options {
        let bytes = usize::from(words) * 8;
        if bytes == 0 || bytes > options.len() {
            return None;
        }
        if kind == wanted {
            return options[2..].first_chunk().copied();
        }
        options = &options[bytes..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    #[test]
    fn what_is_written_is_read_and_has_the_right_checksum() {
        let source = "fd00::1".parse().unwrap();
        let asked = Neighbour::solicitation([2; 6], source, "fd00::2".parse().unwrap());
        for message in [asked, asked.answer([4; 6])] {
            let bytes = message.frame([2; 6], Some([4; 6]));
            let (header, packet) = Header::read(&bytes).expect("a frame");
            assert_eq!(header.ether_type, ether_type::IPV6);
            assert_eq!(Neighbour::read(packet), Some(message));
            let packet = Packet::read(packet.to_vec().into());
            assert!(packet.is_ok(), "{packet:?}");
        }
    }

    #[test]
    fn an_option_without_length_ends_the_list() {
        assert_eq!(find(&[1, 0, 2, 2, 2, 2, 2, 2], 1), None);
        assert_eq!(find(&[1, 2, 2, 2, 2, 2, 2, 2], 1), None);
    }
}
