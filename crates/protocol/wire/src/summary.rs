//! Packets in words, a line each: addresses, flags, sequence numbers as they stand in them, options of
//! MPTCP.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use bytes::Bytes;

use crate::option::{DataNumber, Dss, Join, MptcpOption};
use crate::{Flags, Packet, Segment, ethernet};

/// A frame of Ethernet in one line: the packet in it, or its type.
#[must_use]
pub fn frame(frame: &Bytes) -> String {
    const IP: [u16; 2] = [ethernet::ether_type::IPV4, ethernet::ether_type::IPV6];
    let Some((header, _)) = ethernet::Header::read(frame) else {
        return format!("frame of {} bytes", frame.len());
    };
    let inner = frame.slice(ethernet::HEADER_BYTES.min(frame.len())..);
    match Packet::read(inner) {
        Ok(packet) if IP.contains(&header.ether_type) => self::packet(&packet),
        _ => format!(
            "frame of type {:#06x}, {} bytes",
            header.ether_type,
            frame.len()
        ),
    }
}

/// A packet in one line.
#[must_use]
pub fn packet(packet: &Packet) -> String {
    if let Ok(segment) = Segment::parse(packet.clone()) {
        return segment_line(&segment);
    }
    let (from, to) = (packet.source(), packet.destination());
    let bytes = packet.ip_bytes();
    if let Some(echo) = packet.as_echo() {
        return format!("{from} > {to} ICMP {:?} seq {}", echo.kind, echo.sequence);
    }
    match packet.socket_addresses() {
        Some((from, to)) => format!("{from} > {to} UDP {bytes} bytes"),
        None => format!(
            "{from} > {to} protocol {}, {bytes} bytes",
            packet.protocol()
        ),
    }
}

fn segment_line(segment: &Segment) -> String {
    let mut line = format!(
        "{} > {} {} seq {}",
        segment.source,
        segment.destination,
        flags(segment.flags),
        segment.sequence
    );
    if segment.flags.ack {
        let _ = write!(line, " ack {}", segment.acknowledgement);
    }
    let _ = write!(line, " win {}", segment.window);
    if !segment.payload.is_empty() {
        let _ = write!(line, " len {}", segment.payload.len());
    }
    for block in &segment.options.sack {
        let _ = write!(line, " sack {}-{}", block.left, block.right);
    }
    for option in &segment.options.mptcp {
        let _ = write!(line, " {}", option_text(option));
    }
    line
}

fn flags(flags: Flags) -> String {
    let all = [
        (flags.syn, "SYN"),
        (flags.fin, "FIN"),
        (flags.rst, "RST"),
        (flags.psh, "PSH"),
        (flags.ack, "ACK"),
        (flags.urg, "URG"),
        (flags.ece, "ECE"),
        (flags.cwr, "CWR"),
    ];
    let set: Vec<_> = all.iter().filter(|(set, _)| *set).collect();
    set.iter()
        .map(|(_, name)| *name)
        .collect::<Vec<_>>()
        .join(",")
}

fn option_text(option: &MptcpOption) -> String {
    match option {
        MptcpOption::Capable(capable) => {
            let keys = [capable.sender_key, capable.receiver_key];
            let keys = keys.iter().flatten().count();
            format!("MP_CAPABLE v{} keys {keys}", capable.version)
        }
        MptcpOption::Join(join) => join_text(join),
        MptcpOption::Dss(dss) => dss_text(dss),
        MptcpOption::AddAddress(add) => {
            let echo = if add.echo { " echo" } else { "" };
            format!("ADD_ADDR{echo} id {} {}", add.address_id, add.address)
        }
        MptcpOption::RemoveAddress(ids) => format!("REMOVE_ADDR ids {:?}", ids.as_slice()),
        MptcpOption::Priority { backup, .. } => format!("MP_PRIO backup {backup}"),
        MptcpOption::Fail { data_sequence } => format!("MP_FAIL dseq {data_sequence}"),
        MptcpOption::FastClose { .. } => "MP_FASTCLOSE".to_owned(),
        MptcpOption::Reset(reset) => format!("MP_TCPRST reason {}", reset.reason),
    }
}

fn join_text(join: &Join) -> String {
    let backup = |backup: bool| if backup { " backup" } else { "" };
    match *join {
        Join::Syn {
            backup: wants,
            address_id,
            token,
            ..
        } => format!(
            "MP_JOIN id {address_id} token {token:#010x}{}",
            backup(wants)
        ),
        Join::SynAck {
            backup: wants,
            address_id,
            ..
        } => format!("MP_JOIN id {address_id}{}", backup(wants)),
        Join::Ack { .. } => "MP_JOIN hmac".to_owned(),
    }
}

fn dss_text(dss: &Dss) -> String {
    let number = |number: DataNumber| match number {
        DataNumber::Long(number) => number,
        DataNumber::Short(number) => number.into(),
    };
    let mut text = "DSS".to_owned();
    if let Some(acknowledgement) = dss.acknowledgement {
        let _ = write!(text, " ack {}", number(acknowledgement));
    }
    if let Some(mapping) = dss.mapping {
        let from = number(mapping.data_sequence);
        let _ = write!(text, " dseq {from} len {}", mapping.bytes);
    }
    if dss.data_fin {
        text.push_str(" FIN");
    }
    text
}
