//! Attributes of the family `mptcp_pm`.

use std::net::{IpAddr, SocketAddr};

use netlink_packet_core::DefaultNla;

use super::{Endpoint, EndpointFlags, Local};
use crate::dump::attributes;
use crate::event::{ipv4, ipv6};
use crate::generic::{nla, number};

pub(super) const ATTR_ADDR: u16 = 1;
pub(super) const ATTR_RCV_ADD_ADDRS: u16 = 2;
pub(super) const ATTR_SUBFLOWS: u16 = 3;
pub(super) const ATTR_TOKEN: u16 = 4;
pub(super) const ATTR_LOC_ID: u16 = 5;
pub(super) const ATTR_ADDR_REMOTE: u16 = 6;

pub(super) const ADDR_ATTR_FAMILY: u16 = 1;
pub(super) const ADDR_ATTR_ID: u16 = 2;
pub(super) const ADDR_ATTR_ADDR4: u16 = 3;
pub(super) const ADDR_ATTR_ADDR6: u16 = 4;
pub(super) const ADDR_ATTR_PORT: u16 = 5;
pub(super) const ADDR_ATTR_FLAGS: u16 = 6;
pub(super) const ADDR_ATTR_IF_IDX: u16 = 7;

pub(super) const FLAG_SIGNAL: u32 = 1;
pub(super) const FLAG_SUBFLOW: u32 = 2;
pub(super) const FLAG_BACKUP: u32 = 4;
pub(super) const FLAG_FULLMESH: u32 = 8;

pub(super) fn token_attribute(token: u32) -> DefaultNla {
    nla(ATTR_TOKEN, &token.to_ne_bytes())
}

/// An address, and its port where it has one.
pub(super) fn socket_attributes(address: SocketAddr) -> Vec<DefaultNla> {
    let mut attributes = address_attributes(address.ip());
    if address.port() != 0 {
        attributes.push(nla(ADDR_ATTR_PORT, &address.port().to_ne_bytes()));
    }
    attributes
}

pub(super) fn address_attributes(address: IpAddr) -> Vec<DefaultNla> {
    match address {
        IpAddr::V4(address) => vec![
            nla(ADDR_ATTR_FAMILY, &(libc::AF_INET as u16).to_ne_bytes()),
            nla(ADDR_ATTR_ADDR4, &address.octets()),
        ],
        IpAddr::V6(address) => vec![
            nla(ADDR_ATTR_FAMILY, &(libc::AF_INET6 as u16).to_ne_bytes()),
            nla(ADDR_ATTR_ADDR6, &address.octets()),
        ],
    }
}

pub(super) fn local_flags(local: &Local, purpose: u32) -> [u8; 4] {
    let backup = if local.backup { FLAG_BACKUP } else { 0 };
    (purpose | backup).to_ne_bytes()
}

pub(super) fn flag_bits(flags: EndpointFlags) -> u32 {
    [
        (flags.signal, FLAG_SIGNAL),
        (flags.subflow, FLAG_SUBFLOW),
        (flags.backup, FLAG_BACKUP),
        (flags.fullmesh, FLAG_FULLMESH),
    ]
    .iter()
    .filter(|(set, _)| *set)
    .fold(0, |bits, (_, bit)| bits | bit)
}

pub(super) fn parse_endpoint(bytes: &[u8]) -> Option<Endpoint> {
    let (mut id, mut address, mut port, mut bits) = (None, None, 0, 0);
    for (kind, value) in attributes(bytes) {
        match kind {
            ADDR_ATTR_ID => id = value.first().copied(),
            ADDR_ATTR_ADDR4 => address = ipv4(value),
            ADDR_ATTR_ADDR6 => address = ipv6(value),
            ADDR_ATTR_PORT => port = number(value).map_or(0, u16::from_ne_bytes),
            ADDR_ATTR_FLAGS => bits = number(value).map_or(0, u32::from_ne_bytes),
            _ => {}
        }
    }
    let flags = EndpointFlags {
        signal: bits & FLAG_SIGNAL != 0,
        subflow: bits & FLAG_SUBFLOW != 0,
        backup: bits & FLAG_BACKUP != 0,
        fullmesh: bits & FLAG_FULLMESH != 0,
    };
    Some(Endpoint {
        id: id?,
        address: address?,
        port,
        flags,
    })
}
