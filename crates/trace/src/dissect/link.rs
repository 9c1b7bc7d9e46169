//! From the beginning of a frame to its IP header.

use super::{Extent, Skip};
use crate::input::LinkType;

/// Most tags of VLANs and the like before an IP header.
const MAX_TAGS: usize = 8;

/// Ethernet's numbers of protocols (IANA's IEEE 802 numbers).
mod ethertype {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const VLAN: u16 = 0x8100;
    pub(super) const IPV6: u16 = 0x86dd;
    /// The outer tag of IEEE 802.1ad, QinQ.
    pub(super) const SERVICE_VLAN: u16 = 0x88a8;
    /// The outer tag of QinQ before it was standardised.
    pub(super) const OLD_SERVICE_VLAN: u16 = 0x9100;
    /// Up to this it is a length instead (IEEE 802.3).
    pub(super) const MAX_LENGTH: u16 = 1500;
    /// Of Linux cooked captures: a frame of IEEE 802.2.
    pub(super) const LINUX_LLC: u16 = 4;
}

/// LLC and SNAP up to the number of the protocol, which is one of Ethernet's (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

/// The bytes from the IP header on.
#[inline(always)]
pub(super) fn network(link_type: LinkType, frame: Extent<'_>) -> Result<Extent<'_>, Skip> {
    match link_type {
        LinkType::ETHERNET => {
            let [.., high, low] = *frame.front::<14>()?;
            protocol(u16::from_be_bytes([high, low]), frame.after(14)?)
        }
        LinkType::RAW
        | LinkType::RAW_BSD
        | LinkType::RAW_OPENBSD
        | LinkType::IPV4
        | LinkType::IPV6 => Ok(frame),
        LinkType::LINUX_COOKED => {
            let [.., high, low] = *frame.front::<16>()?;
            protocol(u16::from_be_bytes([high, low]), frame.after(16)?)
        }
        LinkType::LINUX_COOKED_2 => {
            let [high, low, ..] = *frame.front::<20>()?;
            protocol(u16::from_be_bytes([high, low]), frame.after(20)?)
        }
        LinkType::NULL | LinkType::LOOP => {
            is_ip_family(*frame.front()?)?;
            frame.after(4)
        }
        _ => Err(Skip::UnknownLinkType),
    }
}

#[inline(always)]
fn protocol(number: u16, content: Extent<'_>) -> Result<Extent<'_>, Skip> {
    match number {
        ethertype::IPV4 | ethertype::IPV6 => Ok(content),
        _ => encapsulated(number, content),
    }
}

/// Goes through tags, and through LLC and SNAP.
#[inline(never)]
fn encapsulated(mut number: u16, mut content: Extent<'_>) -> Result<Extent<'_>, Skip> {
    for _ in 0..MAX_TAGS {
        match number {
            ethertype::IPV4 | ethertype::IPV6 => return Ok(content),
            ethertype::VLAN | ethertype::SERVICE_VLAN | ethertype::OLD_SERVICE_VLAN => {
                let [_, _, high, low] = *content.front()?;
                number = u16::from_be_bytes([high, low]);
                content = content.after(4)?;
            }
            // Of Linux cooked captures the number is within the range of lengths.
            ethertype::LINUX_LLC | 0..=ethertype::MAX_LENGTH => {
                let [a, b, c, d, e, f, high, low] = *content.front()?;
                if [a, b, c, d, e, f] != SNAP {
                    return Err(Skip::NotIp);
                }
                number = u16::from_be_bytes([high, low]);
                content = content.after(8)?;
            }
            _ => return Err(Skip::NotIp),
        }
    }
    Err(Skip::Malformed)
}

/// Of the address families that systems use for IPv4 and IPv6, in either byte order: a capture
/// may have been made on another machine.
fn is_ip_family(bytes: [u8; 4]) -> Result<(), Skip> {
    match u32::from_be_bytes(bytes).min(u32::from_le_bytes(bytes)) {
        // IPv4, and IPv6 of Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
        2 | 10 | 23 | 24 | 28 | 30 => Ok(()),
        _ => Err(Skip::NotIp),
    }
}
