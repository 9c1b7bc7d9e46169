//! From the beginning of a frame to its first IP header.

use super::layers::{Layer, Layers};
use super::{Extent, Skip};
use crate::input::LinkType;

/// Most headers before an IP header, that of the link counted.
const MAX_HEADERS: usize = 9;
/// Most labels of a stack.
const MAX_LABELS: usize = 16;

/// Ethernet's numbers of protocols (IANA's IEEE 802 numbers).
mod ethertype {
    pub(super) const IPV4: u16 = 0x0800;
    /// A frame of Ethernet within GRE and the like.
    pub(super) const BRIDGING: u16 = 0x6558;
    pub(super) const VLAN: u16 = 0x8100;
    pub(super) const IPV6: u16 = 0x86dd;
    pub(super) const MPLS: u16 = 0x8847;
    pub(super) const MPLS_MULTICAST: u16 = 0x8848;
    pub(super) const PPPOE_SESSION: u16 = 0x8864;
    /// Within GRE of version 1.
    pub(super) const PPP: u16 = 0x880b;
    /// The outer tag of IEEE 802.1ad, QinQ.
    pub(super) const SERVICE_VLAN: u16 = 0x88a8;
    /// The outer tag of QinQ before it was standardised.
    pub(super) const OLD_SERVICE_VLAN: u16 = 0x9100;
    /// Up to this it is a length instead (IEEE 802.3).
    pub(super) const MAX_LENGTH: u16 = 1500;
    /// Of Linux cooked captures: a frame of IEEE 802.2.
    pub(super) const LINUX_LLC: u16 = 4;
}

/// PPP's numbers of protocols.
mod ppp {
    pub(super) const IPV4: u16 = 0x0021;
    pub(super) const IPV6: u16 = 0x0057;
    pub(super) const MPLS: u16 = 0x0281;
    /// Address and control, where they are not left out (RFC 1662).
    pub(super) const ALL_STATIONS: [u8; 2] = [0xff, 3];
}

/// LLC and SNAP up to the number of the protocol, which is one of Ethernet's (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

/// Header that an extent begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    Ip,
    /// The header of Ethernet.
    Ethernet,
    /// The protocol of an EtherType.
    Protocol(u16),
    Ppp,
    PppoeSession,
    MplsLabel,
}

/// Returns the bytes from the IP header on, where only the header of the link stands before it.
#[inline(always)]
pub(super) fn plain(link_type: LinkType, frame: Extent<'_>) -> Option<Extent<'_>> {
    match begin(link_type, frame) {
        Ok((Begin::Ip | Begin::Protocol(ethertype::IPV4 | ethertype::IPV6), packet)) => {
            Some(packet)
        }
        _ => None,
    }
}

/// Passes over the header of the link. Returns the header that follows.
#[inline(always)]
pub(super) fn begin(link_type: LinkType, frame: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    match link_type {
        LinkType::ETHERNET => ethernet(frame),
        LinkType::RAW
        | LinkType::RAW_BSD
        | LinkType::RAW_OPENBSD
        | LinkType::IPV4
        | LinkType::IPV6 => Ok((Begin::Ip, frame)),
        LinkType::LINUX_COOKED => {
            let [.., high, low] = *frame.front::<16>()?;
            Ok((protocol(high, low), frame.after(16)?))
        }
        LinkType::LINUX_COOKED_2 => {
            let [high, low, ..] = *frame.front::<20>()?;
            Ok((protocol(high, low), frame.after(20)?))
        }
        LinkType::NULL | LinkType::LOOP => {
            is_ip_family(*frame.front()?)?;
            Ok((Begin::Ip, frame.after(4)?))
        }
        _ => of_ppp(link_type, frame),
    }
}

/// Does as [`begin`] for PPP, in the ways in which captures have it.
#[cold]
fn of_ppp(link_type: LinkType, frame: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    match link_type {
        LinkType::PPP => Ok((Begin::Ppp, frame)),
        LinkType::PPP_ETHER => Ok((Begin::PppoeSession, frame)),
        LinkType::PPP_WITH_DIRECTION => Ok((Begin::Ppp, frame.after(1)?)),
        LinkType::PPP_HDLC | LinkType::CISCO_HDLC => match *frame.front()? {
            // Cisco HDLC: address, control, and a number of Ethernet's.
            [0x0f | 0x8f, 0, high, low] => Ok((protocol(high, low), frame.after(4)?)),
            _ if link_type == LinkType::PPP_HDLC => Ok((Begin::Ppp, frame)),
            _ => Err(Skip::NotIp),
        },
        _ => Err(Skip::UnknownLinkType),
    }
}

/// Goes through whatever stands before an IP header; adds it to `layers`.
pub(super) fn packet<'a>(
    mut begin: Begin,
    mut content: Extent<'a>,
    layers: &mut Layers,
) -> Result<Extent<'a>, Skip> {
    for _ in 0..MAX_HEADERS {
        (begin, content) = match begin {
            Begin::Ip => return Ok(content),
            Begin::Ethernet => {
                layers.push(Layer::Ethernet)?;
                ethernet(content)?
            }
            Begin::Protocol(number) => of_protocol(number, content, layers)?,
            Begin::Ppp => of_ppp_header(content)?,
            Begin::PppoeSession => {
                layers.push(Layer::Pppoe)?;
                pppoe(content)?
            }
            Begin::MplsLabel => {
                layers.push(Layer::Mpls)?;
                (Begin::Ip, labels(content)?)
            }
        };
    }
    Err(Skip::Malformed)
}

#[inline(always)]
fn protocol(high: u8, low: u8) -> Begin {
    Begin::Protocol(u16::from_be_bytes([high, low]))
}

#[inline(always)]
fn ethernet(frame: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    let [.., high, low] = *frame.front::<14>()?;
    Ok((protocol(high, low), frame.after(14)?))
}

fn of_protocol<'a>(
    number: u16,
    content: Extent<'a>,
    layers: &mut Layers,
) -> Result<(Begin, Extent<'a>), Skip> {
    match number {
        ethertype::IPV4 | ethertype::IPV6 => Ok((Begin::Ip, content)),
        ethertype::VLAN | ethertype::SERVICE_VLAN | ethertype::OLD_SERVICE_VLAN => {
            layers.push(Layer::Vlan)?;
            let [_, _, high, low] = *content.front()?;
            Ok((protocol(high, low), content.after(4)?))
        }
        ethertype::PPPOE_SESSION => Ok((Begin::PppoeSession, content)),
        ethertype::PPP => Ok((Begin::Ppp, content)),
        ethertype::MPLS | ethertype::MPLS_MULTICAST => Ok((Begin::MplsLabel, content)),
        ethertype::BRIDGING => Ok((Begin::Ethernet, content)),
        // Of Linux cooked captures the number is within the range of lengths.
        ethertype::LINUX_LLC | 0..=ethertype::MAX_LENGTH => {
            let [a, b, c, d, e, f, high, low] = *content.front()?;
            if [a, b, c, d, e, f] != SNAP {
                return Err(Skip::NotIp);
            }
            layers.push(Layer::Snap)?;
            Ok((protocol(high, low), content.after(8)?))
        }
        _ => Err(Skip::NotIp),
    }
}

/// Passes over the header of PPP (RFC 1661), also where it was compressed (RFC 1662).
fn of_ppp_header(mut frame: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    if frame.captured.starts_with(&ppp::ALL_STATIONS) {
        frame = frame.after(2)?;
    }
    let [first] = *frame.front()?;
    // The last byte of a number is odd, those before it are even.
    let (number, bytes) = if first & 1 == 1 {
        (u16::from(first), 1)
    } else {
        (u16::from_be_bytes(*frame.front()?), 2)
    };
    let content = frame.after(bytes)?;
    match number {
        ppp::IPV4 | ppp::IPV6 => Ok((Begin::Ip, content)),
        ppp::MPLS => Ok((Begin::MplsLabel, content)),
        _ => Err(Skip::NotIp),
    }
}

/// Passes over the header of PPP over Ethernet, whose length leaves out Ethernet's padding.
fn pppoe(frame: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    let [version_and_type, code, _, _, high, low] = *frame.front()?;
    if version_and_type != 0x11 || code != 0 {
        return Err(Skip::NotIp);
    }
    let content = frame.after(6)?;
    let bytes = u32::from(u16::from_be_bytes([high, low])).min(content.bytes);
    Ok((Begin::Ppp, content.with_bytes(bytes)))
}

/// Passes over a stack of labels, below which only IP is looked for: the protocol is not in it.
fn labels(mut content: Extent<'_>) -> Result<Extent<'_>, Skip> {
    for _ in 0..MAX_LABELS {
        let [_, _, third, _] = *content.front()?;
        content = content.after(4)?;
        if third & 1 == 1 {
            let [first] = *content.front()?;
            return match first >> 4 {
                4 | 6 => Ok(content),
                _ => Err(Skip::NotIp),
            };
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
