//! The kernel's MPTCP path manager over generic netlink (family `mptcp_pm`).
//!
//! Message layouts: `Documentation/netlink/specs/mptcp_pm.yaml` and `include/uapi/linux/mptcp_pm.h`
//! of the kernel.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NetlinkDeserializable, NetlinkHeader, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_sys::protocols::NETLINK_GENERIC;

use super::{Netlink, messages};
use crate::plan::EndpointFlags;

const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_NAME: u16 = 1;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

const CMD_ADD_ADDR: u8 = 1;
const CMD_DEL_ADDR: u8 = 2;
const CMD_GET_ADDR: u8 = 3;
const CMD_SET_LIMITS: u8 = 5;
const CMD_SET_FLAGS: u8 = 7;
const CMD_SUBFLOW_CREATE: u8 = 10;

const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ATTR_TOKEN: u16 = 4;
const ATTR_ADDR_REMOTE: u16 = 6;

const ADDR_ATTR_FAMILY: u16 = 1;
const ADDR_ATTR_ID: u16 = 2;
const ADDR_ATTR_ADDR4: u16 = 3;
const ADDR_ATTR_ADDR6: u16 = 4;
const ADDR_ATTR_PORT: u16 = 5;
const ADDR_ATTR_FLAGS: u16 = 6;

const FLAG_SIGNAL: u32 = 1;
const FLAG_SUBFLOW: u32 = 2;
const FLAG_BACKUP: u32 = 4;
const FLAG_FULLMESH: u32 = 8;

const EVENT_ESTABLISHED: u8 = 2;
const EVENT_ATTR_TOKEN: u16 = 1;
const EVENT_ATTR_SADDR4: u16 = 5;
const EVENT_ATTR_SADDR6: u16 = 6;
const EVENT_ATTR_DADDR4: u16 = 7;
const EVENT_ATTR_DADDR6: u16 = 8;
const EVENT_ATTR_DPORT: u16 = 10;
const EVENT_ATTR_SERVER_SIDE: u16 = 18;

/// Requests to the path manager of one namespace.
pub struct PathManager {
    netlink: Netlink,
    family: u16,
    event_group: u32,
}

/// An endpoint of the kernel's path manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address id; the kernel gives one where 0 is asked for.
    pub id: u8,
    /// Its address.
    pub address: IpAddr,
    /// What it is used for.
    pub flags: EndpointFlags,
}

/// A connection that this host opened and that speaks MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Established {
    /// Its token on this host.
    pub token: u32,
    /// Local address of the initial subflow.
    pub local: IpAddr,
    /// Remote address of the initial subflow.
    pub remote: IpAddr,
    /// Remote port.
    pub remote_port: u16,
}

impl PathManager {
    /// Opens a socket in the calling thread's namespace.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no MPTCP.
    pub fn open() -> io::Result<Self> {
        let mut netlink = Netlink::open(NETLINK_GENERIC)?;
        let name = nla(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0");
        let request = GenericMessage::new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &[name]);
        let mut family = None;
        let mut event_group = None;
        netlink.send(request, netlink_packet_core::NLM_F_ACK)?;
        netlink.answers::<GenericMessage>(|answer| {
            for (kind, value) in attributes(&answer.attributes) {
                match kind {
                    CTRL_ATTR_FAMILY_ID => family = number::<2>(value).map(u16::from_ne_bytes),
                    CTRL_ATTR_MCAST_GROUPS => event_group = group_id(value, b"mptcp_pm_events\0"),
                    _ => {}
                }
            }
        })?;
        let absent = || io::Error::new(io::ErrorKind::NotFound, "the kernel has no MPTCP");
        Ok(Self {
            netlink,
            family: family.ok_or_else(absent)?,
            event_group: event_group.ok_or_else(absent)?,
        })
    }

    /// Sets the limits of every connection: additional subflows, and accepted ADD_ADDR.
    ///
    /// # Errors
    /// The kernel's: limits above 8 are refused.
    pub fn set_limits(&mut self, subflows: u32, add_addr_accepted: u32) -> io::Result<()> {
        self.request(
            CMD_SET_LIMITS,
            &[
                nla(ATTR_RCV_ADD_ADDRS, &add_addr_accepted.to_ne_bytes()),
                nla(ATTR_SUBFLOWS, &subflows.to_ne_bytes()),
            ],
        )
    }

    /// Adds an endpoint; one that is there already is no error. It is not bound to an interface:
    /// for a socket that is, the kernel takes every destination that it has no route to as one on
    /// the link.
    ///
    /// # Errors
    /// The kernel's: e.g. `signal` together with `fullmesh`, or more than 8 endpoints.
    pub fn add_endpoint(&mut self, address: IpAddr, flags: EndpointFlags) -> io::Result<()> {
        let mut address = address_attributes(address);
        address.push(nla(ADDR_ATTR_FLAGS, &flag_bits(flags).to_ne_bytes()));
        match self.request(CMD_ADD_ADDR, &[nested(ATTR_ADDR, &address)]) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Removes an endpoint: its subflows close and its announcement is withdrawn.
    ///
    /// # Errors
    /// The kernel's.
    pub fn delete_endpoint(&mut self, endpoint: &Endpoint) -> io::Result<()> {
        let id = nla(ADDR_ATTR_ID, &[endpoint.id]);
        self.request(CMD_DEL_ADDR, &[nested(ATTR_ADDR, &[id])])
    }

    /// The endpoints of the namespace.
    ///
    /// # Errors
    /// The kernel's.
    pub fn endpoints(&mut self) -> io::Result<Vec<Endpoint>> {
        let mut endpoints = Vec::new();
        let request = GenericMessage::new(self.family, CMD_GET_ADDR, &[]);
        self.netlink.dump(request, |answer| {
            for (kind, value) in attributes(&answer.attributes) {
                if kind == ATTR_ADDR {
                    endpoints.extend(parse_endpoint(value));
                }
            }
        })?;
        Ok(endpoints)
    }

    /// Changes the `backup` and `fullmesh` flags of an endpoint. The peers of its connections are
    /// told of a change of `backup` (MP_PRIO); one of `fullmesh` opens its subflows anew.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_flags(&mut self, endpoint: &Endpoint, flags: EndpointFlags) -> io::Result<()> {
        self.request(
            CMD_SET_FLAGS,
            &[nested(
                ATTR_ADDR,
                &[
                    nla(ADDR_ATTR_ID, &[endpoint.id]),
                    nla(ADDR_ATTR_FLAGS, &flag_bits(flags).to_ne_bytes()),
                ],
            )],
        )
    }

    /// Opens one more subflow of `connection` on the address pair of its initial one. Needs
    /// `net.mptcp.path_manager=userspace` and a subscriber of the events.
    ///
    /// # Errors
    /// The kernel's: the connection is gone, or no route.
    pub fn create_subflow(&mut self, connection: &Established, local_id: u8) -> io::Result<()> {
        let mut local = address_attributes(connection.local);
        local.push(nla(ADDR_ATTR_ID, &[local_id]));
        let mut remote = address_attributes(connection.remote);
        remote.push(nla(ADDR_ATTR_PORT, &connection.remote_port.to_ne_bytes()));
        self.request(
            CMD_SUBFLOW_CREATE,
            &[
                nla(ATTR_TOKEN, &connection.token.to_ne_bytes()),
                nested(ATTR_ADDR, &local),
                nested(ATTR_ADDR_REMOTE, &remote),
            ],
        )
    }

    /// Subscribes to the events of the namespace's connections.
    ///
    /// # Errors
    /// Without CAP_NET_ADMIN over the namespace.
    pub fn subscribe(&mut self) -> io::Result<()> {
        self.netlink.socket().add_membership(self.event_group)
    }

    /// Waits for the next datagram of events and gives the client-side connections that became
    /// established.
    ///
    /// # Errors
    /// What recvmsg(2) gives, e.g. `WouldBlock` after the socket's time-out.
    pub fn established(&mut self) -> io::Result<Vec<Established>> {
        let (datagram, _) = self.netlink.socket().recv_from_full()?;
        Ok(messages::<GenericMessage>(&datagram)
            .filter_map(|message| match message.ok()?.payload {
                NetlinkPayload::InnerMessage(message) => parse_established(&message),
                _ => None,
            })
            .collect())
    }

    fn request(&mut self, command: u8, attributes: &[DefaultNla]) -> io::Result<()> {
        self.netlink
            .request(GenericMessage::new(self.family, command, attributes), 0)
    }
}

impl AsFd for PathManager {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}

/// A generic netlink message, its attributes as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GenericMessage {
    family: u16,
    command: u8,
    attributes: Vec<u8>,
}

impl GenericMessage {
    const HEADER_BYTES: usize = 4;

    fn new(family: u16, command: u8, attributes: &[DefaultNla]) -> Self {
        Self {
            family,
            command,
            attributes: emit(attributes),
        }
    }
}

impl NetlinkSerializable for GenericMessage {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        Self::HEADER_BYTES + self.attributes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..Self::HEADER_BYTES].copy_from_slice(&[self.command, 1, 0, 0]);
        buffer[Self::HEADER_BYTES..].copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for GenericMessage {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let command = payload.first().copied().unwrap_or_default();
        let attributes = payload
            .get(Self::HEADER_BYTES..)
            .unwrap_or_default()
            .to_vec();
        Ok(Self {
            family: header.message_type,
            command,
            attributes,
        })
    }
}

fn nla(kind: u16, value: &[u8]) -> DefaultNla {
    DefaultNla::new(kind, value.to_vec())
}

fn nested(kind: u16, attributes: &[DefaultNla]) -> DefaultNla {
    const NLA_F_NESTED: u16 = 1 << 15;
    DefaultNla::new(kind | NLA_F_NESTED, emit(attributes))
}

fn emit(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}

/// Kind and value of each attribute; a damaged one ends the list.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const HEADER_BYTES: usize = 4;
    const NLA_TYPE_MASK: u16 = 0x3fff;
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(number(rest.get(..2)?)?));
        let kind = u16::from_ne_bytes(number(rest.get(2..HEADER_BYTES)?)?) & NLA_TYPE_MASK;
        let value = rest.get(HEADER_BYTES..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn number<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    value.try_into().ok()
}

fn group_id(groups: &[u8], name: &[u8]) -> Option<u32> {
    attributes(groups).find_map(|(_, group)| {
        let of = |wanted| {
            attributes(group)
                .find(|(kind, _)| *kind == wanted)
                .map(|(_, v)| v)
        };
        (of(CTRL_ATTR_MCAST_GRP_NAME)? == name)
            .then(|| number(of(CTRL_ATTR_MCAST_GRP_ID)?).map(u32::from_ne_bytes))
            .flatten()
    })
}

fn address_attributes(address: IpAddr) -> Vec<DefaultNla> {
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

fn flag_bits(flags: EndpointFlags) -> u32 {
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

fn parse_endpoint(bytes: &[u8]) -> Option<Endpoint> {
    let (mut id, mut address, mut bits) = (None, None, 0);
    for (kind, value) in attributes(bytes) {
        match kind {
            ADDR_ATTR_ID => id = value.first().copied(),
            ADDR_ATTR_ADDR4 => address = ipv4(value),
            ADDR_ATTR_ADDR6 => address = ipv6(value),
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
        flags,
    })
}

fn parse_established(message: &GenericMessage) -> Option<Established> {
    if message.command != EVENT_ESTABLISHED {
        return None;
    }
    let (mut token, mut local, mut remote, mut remote_port) = (None, None, None, None);
    for (kind, value) in attributes(&message.attributes) {
        match kind {
            EVENT_ATTR_TOKEN => token = number(value).map(u32::from_ne_bytes),
            EVENT_ATTR_SADDR4 => local = ipv4(value),
            EVENT_ATTR_SADDR6 => local = ipv6(value),
            EVENT_ATTR_DADDR4 => remote = ipv4(value),
            EVENT_ATTR_DADDR6 => remote = ipv6(value),
            EVENT_ATTR_DPORT => remote_port = number(value).map(u16::from_be_bytes),
            EVENT_ATTR_SERVER_SIDE if value.first() == Some(&1) => return None,
            _ => {}
        }
    }
    Some(Established {
        token: token?,
        local: local?,
        remote: remote?,
        remote_port: remote_port?,
    })
}

fn ipv4(value: &[u8]) -> Option<IpAddr> {
    number::<4>(value).map(|octets| IpAddr::V4(Ipv4Addr::from(octets)))
}

fn ipv6(value: &[u8]) -> Option<IpAddr> {
    number::<16>(value).map(|octets| IpAddr::V6(Ipv6Addr::from(octets)))
}
