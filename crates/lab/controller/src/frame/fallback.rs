//! The SYN of MPTCP as a SYN of TCP: without its MP_CAPABLE.
//!
//! Middleboxes take the option out, and both ends then speak TCP (RFC 8684, sections 3.1 and 3.7).
//! NOPs take its place, so that no length changes and all other options stay where they are; the
//! checksum changes by as much as the bytes do, and so is as right as it was.

use mptcplab_wire::checksum::internet;
use mptcplab_wire::ethernet::{Header, ether_type};

use super::ip::{IPV4_BYTES, IPV6_BYTES, TCP, TCP_BYTES};

/// Kinds of options.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOP: u8 = 1;
    pub(super) const MAX_SEGMENT: u8 = 2;
    pub(super) const WINDOW_SHIFT: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const TIMESTAMPS: u8 = 8;
    pub(super) const MPTCP: u8 = 30;
}

/// The flags of a segment that say what it is, and SYN alone of them.
const KINDS: u8 = 0b11_1111;
const SYN: u8 = 0b10;
/// The place of the checksum in a header of TCP.
const CHECKSUM: usize = 16;
/// More fragments, and the place of a fragment.
const FRAGMENT: u16 = 0x3fff;

/// The frame of a SYN without its MP_CAPABLE of version 1.
///
/// `None`: it has none, or the SYN is an unusual one, which is left as it is. It may have data, or an
/// option that asks for such (TCP Fast Open), or one that signs the others (TCP-AO); it may be a
/// fragment, or have another header between those of IP and TCP.
pub(crate) fn without_capable(frame: &[u8]) -> Option<Vec<u8>> {
    let (header, packet) = Header::read(frame)?;
    let (ip_bytes, packet_bytes) = match header.ether_type {
        ether_type::IPV4 => (IPV4_BYTES, ipv4_bytes(packet)?),
        ether_type::IPV6 => (IPV6_BYTES, ipv6_bytes(packet)?),
        _ => return None,
    };
    let begin = frame.len() - packet.len();
    let segment = begin + ip_bytes..begin + packet_bytes;
    let option = capable_at(frame.get(segment.clone())?)?;
    let mut altered = frame.to_vec();
    let own = &mut altered[segment];
    // Whole words: the option may begin in the middle of one.
    let words = option & !1..(option + 5) & !1;
    let before = internet(&own[words.clone()]);
    own[option..option + 4].fill(kind::NOP);
    let after = !internet(&own[words]);
    let checksum = u16::from_be_bytes([own[CHECKSUM], own[CHECKSUM + 1]]);
    let checksum = !add(add(!checksum, before), after);
    own[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    Some(altered)
}

/// The sum of two words in one's complement (RFC 1624, equation 3, has three of them).
fn add(one: u16, other: u16) -> u16 {
    let (sum, has_carry) = one.overflowing_add(other);
    sum + u16::from(has_carry)
}

/// Bytes of a packet of IPv4 that has TCP behind a header without options, and is no fragment.
fn ipv4_bytes(packet: &[u8]) -> Option<usize> {
    let header = packet.first_chunk::<IPV4_BYTES>()?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let is_usual = header[0] == 0x45 && word(6) & FRAGMENT == 0 && header[9] == TCP;
    is_usual.then(|| usize::from(word(2)))
}

/// The same of IPv6.
fn ipv6_bytes(packet: &[u8]) -> Option<usize> {
    let header = packet.first_chunk::<IPV6_BYTES>()?;
    let payload = u16::from_be_bytes([header[4], header[5]]);
    let is_usual = header[0] >> 4 == 6 && header[6] == TCP;
    is_usual.then(|| IPV6_BYTES + usize::from(payload))
}

/// The place of MP_CAPABLE in a usual SYN without data.
fn capable_at(segment: &[u8]) -> Option<usize> {
    let header = segment.first_chunk::<TCP_BYTES>()?;
    if usize::from(header[12] >> 4) * 4 != segment.len() || header[13] & KINDS != SYN {
        return None;
    }
    let mut found = None;
    let mut at = TCP_BYTES;
    while let Some(rest @ [kind, ..]) = segment.get(at..) {
        match (*kind, rest) {
            (kind::END, _) => break,
            (kind::NOP, _) => at += 1,
            (kind::MPTCP, [_, 4, 1, ..]) if rest.len() >= 4 && found.is_none() => {
                found = Some(at);
                at += 4;
            }
            (
                kind::MAX_SEGMENT | kind::WINDOW_SHIFT | kind::SACK_PERMITTED | kind::TIMESTAMPS,
                [_, length, ..],
            ) if *length >= 2 => at += usize::from(*length),
            _ => return None,
        }
    }
    // An option that is longer than the header is none.
    found.filter(|_| at <= segment.len())
}

#[cfg(test)]
mod tests;
