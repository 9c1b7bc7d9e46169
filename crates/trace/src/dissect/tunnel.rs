//! Tunnels: packets and frames within IP packets.

use super::ip::{Datagram, protocol};
use super::layers::{Layer, Layers};
use super::link::Begin;
use super::{Extent, Skip};

/// Ports of UDP to which tunnels send.
mod port {
    pub(super) const GTP_U: u16 = 2152;
    pub(super) const VXLAN: u16 = 4789;
    pub(super) const GENEVE: u16 = 6081;
}

/// Most extension headers of a packet of GTP-U.
const MAX_EXTENSIONS: usize = 8;

/// Returns the content of a tunnel's packet; adds the packet and the tunnel to `layers`.
pub(super) fn content<'a>(
    datagram: &Datagram<'a>,
    layers: &mut Layers,
) -> Result<(Begin, Extent<'a>), Skip> {
    let packet = datagram.content;
    let (tunnel, begin, content) = match datagram.protocol {
        protocol::IPV4 | protocol::IPV6 => (None, Begin::Ip, packet),
        protocol::MPLS => (None, Begin::MplsLabel, packet),
        protocol::GRE => {
            let (begin, content) = gre(packet)?;
            (Some(Layer::Gre), begin, content)
        }
        protocol::UDP => udp(packet)?,
        _ => return Err(Skip::NotTcp),
    };
    layers.push(match datagram.header.source.is_ipv4() {
        true => Layer::Ipv4,
        false => Layer::Ipv6,
    })?;
    if let Some(tunnel) = tunnel {
        layers.push(tunnel)?;
    }
    Ok((begin, content))
}

type Tunnelled<'a> = (Option<Layer>, Begin, Extent<'a>);

/// Returns the content of a tunnel over UDP, by the port of the receiver.
fn udp(packet: Extent<'_>) -> Result<Tunnelled<'_>, Skip> {
    let [_, _, high, low, length_high, length_low, _, _] = *packet.front()?;
    let to = u16::from_be_bytes([high, low]);
    if ![port::GTP_U, port::VXLAN, port::GENEVE].contains(&to) {
        return Err(Skip::NotTcp);
    }
    let content = packet.after(8)?;
    let content = match u16::from_be_bytes([length_high, length_low]) {
        // More than the field holds.
        0 => content,
        1..8 => return Err(Skip::Malformed),
        bytes => content.with_bytes(content.bytes.min(u32::from(bytes) - 8)),
    };
    match to {
        port::GTP_U => Ok((Some(Layer::GtpU), Begin::Ip, gtp_u(content)?)),
        port::VXLAN => Ok((Some(Layer::Vxlan), Begin::Ethernet, vxlan(content)?)),
        _ => {
            let (begin, content) = geneve(content)?;
            Ok((Some(Layer::Geneve), begin, content))
        }
    }
}

/// Passes over GRE (RFC 2784 and RFC 2890); version 1 is that of PPTP (RFC 2637).
fn gre(packet: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    let [a, b, c, d] = *packet.front()?;
    let flags = u16::from_be_bytes([a, b]);
    let fields = match flags & 7 {
        0 => CHECKSUM | KEY | SEQUENCE,
        1 => KEY | SEQUENCE | ACKNOWLEDGEMENT,
        _ => return Err(Skip::Malformed),
    };
    // Routes within GRE (RFC 1701) were given up.
    if flags & ROUTING != 0 {
        return Err(Skip::NotTcp);
    }
    let bytes = 4 + 4 * (flags & fields).count_ones();
    Ok((
        Begin::Protocol(u16::from_be_bytes([c, d])),
        packet.after(bytes as usize)?,
    ))
}

/// Passes over the user plane of GTP version 1 (3GPP TS 29.281, section 5): user data only.
fn gtp_u(packet: Extent<'_>) -> Result<Extent<'_>, Skip> {
    /// Version 1, and GTP rather than GTP'.
    const KIND: u8 = 0x30;
    const USER_DATA: u8 = 255;
    const EXTENSION: u8 = 4;
    let [flags, kind, high, low, ..] = *packet.front::<8>()?;
    if flags & 0xf0 != KIND || kind != USER_DATA {
        return Err(Skip::NotTcp);
    }
    let mut content = packet.after(8)?;
    let bytes = u32::from(u16::from_be_bytes([high, low]));
    content = content.with_bytes(content.bytes.min(bytes));
    // Extension, sequence number, or number of N-PDU: where one is there, all have room.
    if flags & 7 != 0 {
        let [_, _, _, mut next] = *content.front()?;
        content = content.after(4)?;
        if flags & EXTENSION == 0 {
            next = 0;
        }
        for _ in 0..MAX_EXTENSIONS {
            if next == 0 {
                break;
            }
            let [units] = *content.front()?;
            let bytes = 4 * usize::from(units);
            if bytes == 0 {
                return Err(Skip::Malformed);
            }
            let last = content.after(bytes - 1)?;
            [next] = *last.front()?;
            content = last.after(1)?;
        }
        if next != 0 {
            return Err(Skip::Malformed);
        }
    }
    match *content.front()? {
        [first] if matches!(first >> 4, 4 | 6) => Ok(content),
        _ => Err(Skip::NotIp),
    }
}

/// Passes over VXLAN (RFC 7348, section 5).
fn vxlan(packet: Extent<'_>) -> Result<Extent<'_>, Skip> {
    const HAS_NETWORK: u8 = 8;
    let [flags, ..] = *packet.front::<8>()?;
    if flags & HAS_NETWORK == 0 {
        return Err(Skip::NotTcp);
    }
    packet.after(8)
}

/// Passes over Geneve (RFC 8926, section 3.4).
fn geneve(packet: Extent<'_>) -> Result<(Begin, Extent<'_>), Skip> {
    let [first, _, high, low, ..] = *packet.front::<8>()?;
    if first >> 6 != 0 {
        return Err(Skip::NotTcp);
    }
    let options = 4 * usize::from(first & 0x3f);
    let begin = Begin::Protocol(u16::from_be_bytes([high, low]));
    Ok((begin, packet.after(8 + options)?))
}
