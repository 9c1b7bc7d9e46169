//! Changes of a frame by actions (section 5.12).

use mptcplab_openflow::matching::VLAN_PRESENT;
use mptcplab_openflow::{Field, Oxm};

use super::checksums::{Covered, amend, renew_ipv4, replace, replace_sctp};
use super::headers::{
    ETHER_TYPE_AT, Headers, ICMP, ICMPV6, Network, SCTP, SERVICE_VLAN, TCP, UDP, VLAN, u16_at,
};
use super::key::neighbour_field_at;

/// Sets a field; without effect where the frame does not have it.
pub(crate) fn set_field(frame: &mut [u8], headers: &Headers, oxm: &Oxm) {
    let bytes = oxm.value.to_be_bytes();
    let value = &bytes[16 - oxm.field.bytes()..];
    let at = headers.network_at;
    let is_arp = headers.network == Network::Arp;
    let is_ipv4 = headers.network == Network::Ipv4;
    let is_ipv6 = matches!(headers.network, Network::Ipv6(_));
    match oxm.field {
        Field::EthDst => frame[..6].copy_from_slice(value),
        Field::EthSrc => frame[6..12].copy_from_slice(value),
        Field::EthType if headers.ether_type.is_some() => {
            frame[headers.ether_type_at..headers.ether_type_at + 2].copy_from_slice(value);
        }
        Field::VlanVid => set_tag(frame, headers, 0x0fff, oxm.value as u16 & !VLAN_PRESENT),
        Field::VlanPcp => set_tag(frame, headers, 0xe000, (oxm.value as u16) << 13),
        Field::IpDscp => set_class(frame, headers, 0xfc, (oxm.value as u8) << 2),
        Field::IpEcn => set_class(frame, headers, 0x03, oxm.value as u8),
        Field::IpProto => set_protocol(frame, headers, oxm.value as u8),
        Field::Ipv4Src if is_ipv4 => set_address(frame, headers, at + 12, value),
        Field::Ipv4Dst if is_ipv4 => set_address(frame, headers, at + 16, value),
        Field::Ipv6Src if is_ipv6 => set_address(frame, headers, at + 8, value),
        Field::Ipv6Dst if is_ipv6 => set_address(frame, headers, at + 24, value),
        Field::Ipv6Flabel if is_ipv6 => {
            frame[at + 1] = frame[at + 1] & 0xf0 | value[1] & 0x0f;
            frame[at + 2..at + 4].copy_from_slice(&value[2..]);
        }
        Field::ArpOp if is_arp => frame[at + 6..at + 8].copy_from_slice(value),
        Field::ArpSha if is_arp => frame[at + 8..at + 14].copy_from_slice(value),
        Field::ArpSpa if is_arp => frame[at + 14..at + 18].copy_from_slice(value),
        Field::ArpTha if is_arp => frame[at + 18..at + 24].copy_from_slice(value),
        Field::ArpTpa if is_arp => frame[at + 24..at + 28].copy_from_slice(value),
        Field::Ipv6NdTarget | Field::Ipv6NdSll | Field::Ipv6NdTll => {
            if let Some(at) = neighbour_field_at(frame, headers, oxm.field) {
                replace(frame, headers, at, value, Covered::Segment);
            }
        }
        _ => set_transport(frame, headers, oxm.field, value),
    }
}

fn set_transport(frame: &mut [u8], headers: &Headers, field: Field, value: &[u8]) {
    let (protocol, place) = match field {
        Field::TcpSrc => (TCP, 0),
        Field::TcpDst => (TCP, 2),
        Field::UdpSrc => (UDP, 0),
        Field::UdpDst => (UDP, 2),
        Field::SctpSrc => (SCTP, 0),
        Field::SctpDst => (SCTP, 2),
        Field::Icmpv4Type | Field::Icmpv4Code => (ICMP, 0),
        Field::Icmpv6Type | Field::Icmpv6Code => (ICMPV6, 0),
        _ => return,
    };
    let Some(at) = headers.transport_of(protocol) else {
        return;
    };
    let new = match field {
        Field::Icmpv4Type | Field::Icmpv6Type => [value[0], frame[at + 1]],
        Field::Icmpv4Code | Field::Icmpv6Code => [frame[at], value[0]],
        _ => [value[0], value[1]],
    };
    match protocol {
        SCTP => replace_sctp(frame, headers, at + place, &new),
        _ => replace(frame, headers, at + place, &new, Covered::Segment),
    }
}

fn set_address(frame: &mut [u8], headers: &Headers, at: usize, value: &[u8]) {
    replace(frame, headers, at, value, Covered::PseudoHeader);
    renew_ipv4(frame, headers);
}

/// Sets the protocol; pseudo-headers have it as a word.
fn set_protocol(frame: &mut [u8], headers: &Headers, protocol: u8) {
    if let Some(at) = headers.protocol_at {
        let (old, new) = ([0, frame[at]], [0, protocol]);
        amend(frame, headers, &old, &new, Covered::PseudoHeader);
        frame[at] = protocol;
        renew_ipv4(frame, headers);
    }
}

fn set_tag(frame: &mut [u8], headers: &Headers, mask: u16, bits: u16) {
    if headers.is_tagged
        && let Some(tag) = u16_at(frame, ETHER_TYPE_AT + 2)
    {
        let tag = tag & !mask | bits & mask;
        frame[ETHER_TYPE_AT + 2..ETHER_TYPE_AT + 4].copy_from_slice(&tag.to_be_bytes());
    }
}

/// Sets bits of the traffic class.
pub(crate) fn set_class(frame: &mut [u8], headers: &Headers, mask: u8, bits: u8) {
    let at = headers.network_at;
    match headers.network {
        Network::Ipv4 => {
            frame[at + 1] = frame[at + 1] & !mask | bits;
            renew_ipv4(frame, headers);
        }
        Network::Ipv6(_) => {
            let class = frame[at] << 4 | frame[at + 1] >> 4;
            let class = class & !mask | bits;
            frame[at] = frame[at] & 0xf0 | class >> 4;
            frame[at + 1] = class << 4 | frame[at + 1] & 0x0f;
        }
        Network::Other | Network::Arp => {}
    }
}

/// The place of the TTL or the hop limit.
fn ttl_at(headers: &Headers) -> Option<usize> {
    match headers.network {
        Network::Ipv4 => Some(headers.network_at + 8),
        Network::Ipv6(_) => Some(headers.network_at + 7),
        Network::Other | Network::Arp => None,
    }
}

/// Sets the TTL or the hop limit.
pub(crate) fn set_ttl(frame: &mut [u8], headers: &Headers, ttl: u8) {
    if let Some(at) = ttl_at(headers) {
        frame[at] = ttl;
        renew_ipv4(frame, headers);
    }
}

/// Decrements the TTL or the hop limit; `false`: it is invalid, 0 or 1 (section 5.12).
pub(crate) fn decrement_ttl(frame: &mut [u8], headers: &Headers) -> bool {
    let Some(at) = ttl_at(headers) else {
        return true;
    };
    if frame[at] <= 1 {
        return false;
    }
    set_ttl(frame, headers, frame[at] - 1);
    true
}

/// The frame with a tag of this EtherType in front, which has the id and the priority of the tag
/// that was the outermost, or zeros (section 5.12.1).
pub(crate) fn push_vlan(frame: &[u8], headers: &Headers, ether_type: u16) -> Vec<u8> {
    let tag = u16_at(frame, ETHER_TYPE_AT + 2)
        .filter(|_| headers.is_tagged)
        .unwrap_or(0);
    let mut tagged = Vec::with_capacity(frame.len() + 4);
    tagged.extend(&frame[..ETHER_TYPE_AT]);
    tagged.extend(ether_type.to_be_bytes());
    tagged.extend(tag.to_be_bytes());
    tagged.extend(&frame[ETHER_TYPE_AT..]);
    tagged
}

/// The frame without its outermost tag; `None`: it has none.
pub(crate) fn pop_vlan(frame: &[u8], headers: &Headers) -> Option<Vec<u8>> {
    let without = || [&frame[..ETHER_TYPE_AT], &frame[ETHER_TYPE_AT + 4..]].concat();
    headers.is_tagged.then(without)
}

/// Whether a tag may have this EtherType.
pub(crate) fn is_vlan_type(ether_type: u16) -> bool {
    matches!(ether_type, VLAN | SERVICE_VLAN)
}
