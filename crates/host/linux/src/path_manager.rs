//! Commands to the kernel's MPTCP path manager over generic netlink (family `mptcp_pm`).
//!
//! Message layouts: `Documentation/netlink/specs/mptcp_pm.yaml` and `include/uapi/linux/mptcp_pm.h`
//! of the kernel. Commands about one connection need `net.mptcp.path_manager=userspace` (older
//! kernels: `net.mptcp.pm_type=1`) when the connection is opened, and a subscriber of the
//! [`Events`](crate::event::Events).

mod address_id;
mod attributes;
mod endpoint;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{DefaultNla, NLM_F_ACK};

pub use self::endpoint::{Endpoint, EndpointFlags, Local};

use self::attributes::*;
use crate::bytes::u32_at;
use crate::dump;
use crate::generic::{Family, GenericMessage, nested, nla};
use crate::netlink::Netlink;

const CMD_ADD_ADDR: u8 = 1;
const CMD_DEL_ADDR: u8 = 2;
const CMD_GET_ADDR: u8 = 3;
const CMD_SET_LIMITS: u8 = 5;
const CMD_GET_LIMITS: u8 = 6;
const CMD_SET_FLAGS: u8 = 7;
const CMD_ANNOUNCE: u8 = 8;
const CMD_REMOVE: u8 = 9;
const CMD_SUBFLOW_CREATE: u8 = 10;
const CMD_SUBFLOW_DESTROY: u8 = 11;

/// Client of the path manager of one namespace.
pub struct PathManager {
    netlink: Netlink,
    family: Family,
}

impl PathManager {
    /// Opens a socket in the calling thread's namespace.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no MPTCP.
    pub fn open() -> io::Result<Self> {
        let mut netlink = Netlink::generic()?;
        let family = Family::ask(&mut netlink)?;
        Ok(Self { netlink, family })
    }

    /// The kernel's text beside the error number of the last command.
    pub fn words(&self) -> Option<&str> {
        self.netlink.words()
    }

    /// Index of an interface, by its name.
    ///
    /// # Errors
    /// `ENODEV` where there is none.
    pub fn interface_index(&self, name: &str) -> io::Result<u32> {
        self.netlink.interface_index(name)
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

    /// The limits of every connection, as they are set.
    ///
    /// # Errors
    /// The kernel's.
    pub fn limits(&mut self) -> io::Result<(u32, u32)> {
        let request = GenericMessage::new(self.family.id, CMD_GET_LIMITS, &[]);
        let (mut subflows, mut add_addr_accepted) = (0, 0);
        self.netlink
            .exchange(request, NLM_F_ACK, |answer: GenericMessage| {
                for (kind, value) in dump::attributes(&answer.attributes) {
                    match kind {
                        ATTR_SUBFLOWS => subflows = u32_at(value, 0).unwrap_or(0),
                        ATTR_RCV_ADD_ADDRS => add_addr_accepted = u32_at(value, 0).unwrap_or(0),
                        _ => {}
                    }
                }
            })?;
        Ok((subflows, add_addr_accepted))
    }

    /// Adds an endpoint; one that is there already is no error. It is not bound to an interface:
    /// for a socket that is, the kernel takes every destination that it has no route to as one on
    /// the link.
    ///
    /// # Errors
    /// The kernel's: e.g. `signal` together with `fullmesh`, or more than 8 endpoints.
    pub fn add_endpoint(&mut self, address: IpAddr, flags: EndpointFlags) -> io::Result<()> {
        self.add_endpoint_at(address, 0, flags)
    }

    /// The same, its subflows bound to an interface where `interface` is not 0.
    ///
    /// # Errors
    /// As [`Self::add_endpoint`].
    pub fn add_endpoint_at(
        &mut self,
        address: IpAddr,
        interface: u32,
        flags: EndpointFlags,
    ) -> io::Result<()> {
        let mut address = address_attributes(address);
        address.push(nla(ADDR_ATTR_FLAGS, &flag_bits(flags).to_ne_bytes()));
        if interface != 0 {
            address.push(nla(ADDR_ATTR_IF_IDX, &interface.to_ne_bytes()));
        }
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
        self.addresses(&[])
    }

    /// The local addresses that were given ids in one connection by commands about it.
    ///
    /// # Errors
    /// The kernel's; those before 6.10 cannot tell.
    pub fn local_addresses(&mut self, token: u32) -> io::Result<Vec<Endpoint>> {
        self.addresses(&[token_attribute(token)])
    }

    /// The id of an address from which a subflow is to be opened: that which it has; 0 for the
    /// address at which the connection was opened (RFC 8684, section 3.2), without a port; else one
    /// that is free. `None` where all are taken.
    ///
    /// The kernel forgets an address when any of its subflows is closed: `in_use` tells the addresses
    /// and ids of those that live.
    ///
    /// # Errors
    /// As [`Self::local_addresses`].
    pub fn subflow_address_id(
        &mut self,
        token: u32,
        initial: Option<IpAddr>,
        address: SocketAddr,
        in_use: impl FnOnce() -> Vec<(IpAddr, u8)>,
    ) -> io::Result<Option<u8>> {
        let known = self.local_addresses(token)?;
        Ok(address_id::of_subflow(&known, initial, address, in_use))
    }

    /// The id of an address that is to be announced: that which it has, or one that is free. 0 where
    /// subflows were opened from the address at which the connection was opened: the kernel does not
    /// announce it then. The rest is as with [`Self::subflow_address_id`].
    ///
    /// # Errors
    /// As [`Self::local_addresses`].
    pub fn announced_address_id(
        &mut self,
        token: u32,
        address: SocketAddr,
        in_use: impl FnOnce() -> Vec<(IpAddr, u8)>,
    ) -> io::Result<Option<u8>> {
        let known = self.local_addresses(token)?;
        Ok(address_id::of_announcement(&known, address, in_use))
    }

    fn addresses(&mut self, of: &[DefaultNla]) -> io::Result<Vec<Endpoint>> {
        let mut endpoints = Vec::new();
        let request = GenericMessage::new(self.family.id, CMD_GET_ADDR, of);
        self.netlink.dump(request, |answer: GenericMessage| {
            for (kind, value) in dump::attributes(&answer.attributes) {
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

    /// Opens a subflow of the connection with this token. Success says only that a SYN leaves;
    /// its outcome is an event.
    ///
    /// # Errors
    /// The kernel's: e.g. EINVAL where the local address has another id, ESRCH where there is no
    /// such connection, what connect(2) gives.
    pub fn create_subflow(
        &mut self,
        token: u32,
        local: &Local,
        remote: SocketAddr,
    ) -> io::Result<()> {
        let mut attributes = socket_attributes(local.address);
        attributes.push(nla(ADDR_ATTR_ID, &[local.id]));
        attributes.push(nla(ADDR_ATTR_FLAGS, &local_flags(local, FLAG_SUBFLOW)));
        if local.interface != 0 {
            attributes.push(nla(ADDR_ATTR_IF_IDX, &local.interface.to_ne_bytes()));
        }
        self.of_pair(CMD_SUBFLOW_CREATE, token, &attributes, remote)
    }

    /// Closes a subflow, the initial one or another.
    ///
    /// # Errors
    /// The kernel's: ESRCH where there is none between these addresses and ports.
    pub fn destroy_subflow(
        &mut self,
        token: u32,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> io::Result<()> {
        let mut destroy = |local, remote| {
            let local = socket_attributes(local);
            self.of_pair(CMD_SUBFLOW_DESTROY, token, &local, remote)
        };
        match destroy(local, remote) {
            // Of a socket of IPv6 the kernel looks for IPv4 addresses as they are mapped into that.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) && local.is_ipv4() => {
                destroy(mapped(local), mapped(remote))
            }
            done => done,
        }
    }

    /// Makes a subflow a backup, or no longer, and tells the peer (MP_PRIO).
    ///
    /// # Errors
    /// The kernel's: EINVAL where there is no subflow between these addresses.
    pub fn set_backup(
        &mut self,
        token: u32,
        local: SocketAddr,
        remote: SocketAddr,
        backup: bool,
    ) -> io::Result<()> {
        let mut attributes = socket_attributes(local);
        let bits = if backup { FLAG_BACKUP } else { 0 };
        attributes.push(nla(ADDR_ATTR_FLAGS, &bits.to_ne_bytes()));
        self.of_pair(CMD_SET_FLAGS, token, &attributes, remote)
    }

    /// Announces an address to the peer of a connection (ADD_ADDR).
    ///
    /// # Errors
    /// The kernel's: EINVAL for id 0, and where the address has another id.
    pub fn announce(&mut self, token: u32, local: &Local) -> io::Result<()> {
        let mut attributes = socket_attributes(local.address);
        attributes.push(nla(ADDR_ATTR_ID, &[local.id]));
        attributes.push(nla(ADDR_ATTR_FLAGS, &local_flags(local, FLAG_SIGNAL)));
        let address = nested(ATTR_ADDR, &attributes);
        self.request(CMD_ANNOUNCE, &[token_attribute(token), address])
    }

    /// Withdraws an address (REMOVE_ADDR); its subflows close.
    ///
    /// # Errors
    /// The kernel's: EINVAL where no address of the connection has this id.
    pub fn remove(&mut self, token: u32, id: u8) -> io::Result<()> {
        self.request(
            CMD_REMOVE,
            &[token_attribute(token), nla(ATTR_LOC_ID, &[id])],
        )
    }

    fn of_pair(
        &mut self,
        command: u8,
        token: u32,
        local: &[DefaultNla],
        remote: SocketAddr,
    ) -> io::Result<()> {
        self.request(
            command,
            &[
                token_attribute(token),
                nested(ATTR_ADDR, local),
                nested(ATTR_ADDR_REMOTE, &socket_attributes(remote)),
            ],
        )
    }

    fn request(&mut self, command: u8, attributes: &[DefaultNla]) -> io::Result<()> {
        let message = GenericMessage::new(self.family.id, command, attributes);
        self.netlink.request(message, 0)
    }
}

impl AsFd for PathManager {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}

/// As sockets of IPv6 have an IPv4 address (RFC 4291, section 2.5.5.2).
fn mapped(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().into(),
        six => six,
    };
    SocketAddr::new(ip, address.port())
}
