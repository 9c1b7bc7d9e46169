//! The middleboxes of a link, between the link model and the interface at the far end.
//!
//! They are those of the simulator ([`mptcplab_middlebox`]) and see what a wire carries: each packet
//! of a large frame by itself, with whole checksums. What leaves them is a frame of its own.

use std::collections::HashSet;
use std::mem;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use mptcplab_link::{Delivery, Nanos};
use mptcplab_middlebox::{Chain, Directed};
use mptcplab_wire as wire;

use super::driven_link::Packet;
use crate::frames::segments::{ETHERNET_BYTES, Frame, with_checksum};
use crate::translations::Translations;

const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xdd];

/// The middleboxes of a link and how to hand over what leaves them.
pub struct Middleboxes {
    boxes: Chain,
    translations: Translations,
    /// Senders whose translation has been noted.
    translated: HashSet<SocketAddr>,
    /// Hardware address of the interfaces at both ends.
    mac: [u8; 6],
    /// Of the interfaces at both ends, bytes.
    mtu: u32,
}

impl Middleboxes {
    /// The boxes of a link whose two ends have this hardware address and this MTU. Addresses that
    /// they give to senders are noted in `translations`.
    pub fn new(boxes: Chain, mac: [u8; 6], mtu: u32, translations: Translations) -> Self {
        Self {
            boxes,
            translations,
            translated: HashSet::new(),
            mac,
            mtu,
        }
    }

    /// The next time at which a box acts by itself.
    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.boxes.deadline()
    }

    /// Takes the packets that come out of the link, in the order of their times, and lets the boxes
    /// do what is due by `until`; `due` is then what leaves the boxes. What is no whole packet of
    /// IP, such as a fragment, passes as it is, or not at all where a box forbids that.
    pub(super) fn pass(&mut self, until: Nanos, due: &mut Vec<Delivery<Packet>>) {
        if self.boxes.is_empty() {
            return;
        }
        for delivery in mem::take(due) {
            let Delivery { at, direction, .. } = delivery;
            self.act(at, due);
            match read(&delivery.packet) {
                Some(packet) => {
                    let inner = sender(&packet);
                    let mut out = Vec::new();
                    self.boxes.pass(at, (direction, packet), &mut out);
                    self.note(inner, direction, &out);
                    due.extend(out.into_iter().map(|directed| self.leave(at, directed)));
                }
                None if self.boxes.passes_unread() => due.push(delivery),
                None => {}
            }
        }
        self.act(until, due);
    }

    /// Notes another sender of a segment that has passed the boxes, before the segment goes on.
    fn note(&mut self, inner: Option<SocketAddr>, direction: usize, out: &[Directed]) {
        let Some(inner) = inner.filter(|inner| !self.translated.contains(inner)) else {
            return;
        };
        let onwards = out.iter().filter(|(onwards, _)| *onwards == direction);
        for outer in onwards.filter_map(|(_, packet)| sender(packet)) {
            if outer != inner {
                self.translations.note(inner, outer);
                self.translated.insert(inner);
            }
        }
    }

    /// Lets the boxes do what is due by `until`, each at its time.
    fn act(&mut self, until: Nanos, due: &mut Vec<Delivery<Packet>>) {
        while let Some(at) = self.boxes.deadline().filter(|&at| at <= until) {
            let mut out = Vec::new();
            self.boxes.act(at, &mut out);
            due.extend(out.into_iter().map(|directed| self.leave(at, directed)));
        }
    }

    /// A packet that leaves the boxes, as a frame.
    fn leave(&self, at: Nanos, (direction, packet): Directed) -> Delivery<Packet> {
        let ip_bytes = packet.ip_bytes();
        let mut bytes = Vec::with_capacity(ETHERNET_BYTES + ip_bytes);
        bytes.extend_from_slice(&self.mac);
        bytes.extend_from_slice(&self.mac);
        bytes.extend_from_slice(match packet.source().is_ipv4() {
            true => &ETHERTYPE_IPV4,
            false => &ETHERTYPE_IPV6,
        });
        packet.write_to(&mut bytes);
        let frame = Rc::new(Frame::one_packet(bytes, self.mtu));
        Delivery {
            direction,
            at,
            ip_bytes: ip_bytes as u32,
            packet: Packet { frame, index: 0 },
        }
    }
}

/// The sender of a segment of TCP: the ports of other protocols are translated by themselves.
fn sender(packet: &wire::Packet) -> Option<SocketAddr> {
    let addresses = packet.socket_addresses();
    let is_tcp = i32::from(packet.protocol()) == libc::IPPROTO_TCP;
    addresses.filter(|_| is_tcp).map(|(sender, _)| sender)
}

/// A packet of a frame as the boxes take it.
fn read(packet: &Packet) -> Option<wire::Packet> {
    let (offload, bytes) = packet.frame.carve(packet.index..packet.index + 1);
    let bytes = Bytes::from(with_checksum(&offload, bytes));
    if bytes.len() < ETHERNET_BYTES {
        return None;
    }
    wire::Packet::read(bytes.slice(ETHERNET_BYTES..)).ok()
}

#[cfg(test)]
mod tests {
    use mptcplab_plan::Middlebox;

    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    /// A packet of TCP or UDP, from its sender to a server.
    fn packet(sender: SocketAddr, is_tcp: bool) -> wire::Packet {
        let mut packet = wire::Packet::udp(sender, address("198.51.100.7:80"), Bytes::new());
        if is_tcp {
            // Its header of 20 bytes, with no flag.
            packet.header[9] = libc::IPPROTO_TCP as u8;
            packet.header[3] += 12;
            packet
                .header
                .extend([0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0]);
        }
        packet
    }

    #[test]
    fn a_translation_of_datagrams_is_none_of_connections() {
        let nat = Middlebox::Nat {
            inside: 0,
            address: [192, 0, 2, 1].into(),
        };
        let translations = Translations::default();
        let chain = Chain::new(&[nat], 1, 0);
        let mut boxes = Middleboxes::new(chain, [0; 6], 1500, translations.clone());
        let [first, second] = ["10.0.0.1:4000", "10.0.0.2:4000"].map(address);
        for (sender, is_tcp) in [(first, true), (second, false), (second, true)] {
            let leaving = boxes.leave(0, (0, packet(sender, is_tcp)));
            let mut due = vec![leaving];
            boxes.pass(0, &mut due);
            assert_eq!(due.len(), 1);
        }
        assert_eq!(translations.outermost(first), address("192.0.2.1:4000"));
        assert_eq!(translations.outermost(second), address("192.0.2.1:49152"));
    }

    #[test]
    fn a_fragment_passes_boxes_but_no_nat() {
        let nat = Middlebox::Nat {
            inside: 0,
            address: [192, 0, 2, 1].into(),
        };
        let split = Middlebox::Split {
            payload_bytes: 100,
            direction: None,
        };
        for (planned, passes) in [(nat, false), (split, true)] {
            let chain = Chain::new(&[planned], 1, 0);
            let mut boxes = Middleboxes::new(chain, [0; 6], 1500, Translations::default());
            let mut fragment = packet(address("10.0.0.1:4000"), false);
            fragment.header[6] = 0x20;
            let mut due = vec![boxes.leave(0, (0, fragment))];
            boxes.pass(0, &mut due);
            assert_eq!(due.len(), usize::from(passes));
        }
    }
}
