//! Changes of links, addresses, rules and routes, and the way of a packet (rtnetlink).
//! [`crate::interfaces`] lists links and addresses.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};

use ipnet::IpNet;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteNextHop, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::netlink::Netlink;
use crate::netns::NetNs;

mod rules;

pub use rules::Unreachable;

/// The main routing table.
pub const TABLE_MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;

/// A socket for changes and questions in one namespace.
pub struct Rtnetlink(Netlink);

/// One end of a pair of virtual Ethernet interfaces.
pub struct VethEnd<'a> {
    /// Name of the interface.
    pub name: &'a str,
    /// Namespace that it is made in.
    pub netns: &'a NetNs,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Hardware address.
    pub mac: [u8; 6],
    /// Let the network stack hand over segments larger than the MTU.
    pub offload: bool,
    /// It has neighbours, by hardware addresses of their own ([`Rtnetlink::add_neighbour`]).
    pub neighbours: bool,
}

impl Rtnetlink {
    /// Opens a socket in the calling thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn open() -> io::Result<Self> {
        Netlink::open(NETLINK_ROUTE).map(Self)
    }

    /// Creates a pair of virtual interfaces, each in its namespace, both down.
    ///
    /// An end without neighbours carries packets between two nodes only, and does not ask for the
    /// other's hardware address (IFF_NOARP): a question could be lost on its way, and the kernel
    /// repeats it only after a second.
    ///
    /// # Errors
    /// The kernel's, e.g. when a name is taken.
    pub fn add_veth(&mut self, near: &VethEnd<'_>, far: &VethEnd<'_>) -> io::Result<()> {
        let peer = veth_message(far);
        let mut message = veth_message(near);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.0.request(
            RouteNetlinkMessage::NewLink(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Sets an interface up or down.
    ///
    /// # Errors
    /// The kernel's, e.g. when there is no such interface.
    pub fn set_up(&mut self, index: u32, up: bool) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.change_mask = LinkFlags::Up;
        if up {
            message.header.flags = LinkFlags::Up;
        }
        self.0.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives an interface an address, without the wait for duplicate detection and without a
    /// route of its own for IPv6 beyond the kernel's prefix route.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_address(&mut self, index: u32, address: IpAddr, length: u8) -> io::Result<()> {
        let mut message = address_message(index, address, length);
        if address.is_ipv6() {
            message
                .attributes
                .push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
        self.0.request(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Says which hardware address a neighbour at an interface has, for good: the kernel does not
    /// ask for it. Setting the interface down forgets it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_neighbour(
        &mut self,
        index: u32,
        address: IpAddr,
        hardware: [u8; 6],
    ) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(address);
        message.header.ifindex = index;
        message.header.state = NeighbourState::Permanent;
        message.attributes = vec![
            NeighbourAttribute::Destination(match address {
                IpAddr::V4(address) => NeighbourAddress::Inet(address),
                IpAddr::V6(address) => NeighbourAddress::Inet6(address),
            }),
            NeighbourAttribute::LinkLayerAddress(hardware.to_vec()),
        ];
        self.0.request(
            RouteNetlinkMessage::NewNeighbour(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Removes an address from an interface; none there is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn delete_address(&mut self, index: u32, address: IpAddr, length: u8) -> io::Result<()> {
        let message = address_message(index, address, length);
        match self.0.request(RouteNetlinkMessage::DelAddress(message), 0) {
            Err(error) if is_absent(&error) => Ok(()),
            other => other,
        }
    }

    /// Adds or replaces a route of the main table over several next hops, each an interface and the
    /// address behind it: the kernel divides what it forwards among them by a hash of each flow
    /// (`net.ipv4.fib_multipath_hash_policy`, and that of `net.ipv6`).
    ///
    /// # Errors
    /// The kernel's, e.g. when a next hop cannot be reached.
    pub fn add_multipath_route(
        &mut self,
        to: IpNet,
        next_hops: &[(u32, IpAddr)],
        metric: u32,
    ) -> io::Result<()> {
        let mut message = route_message(TABLE_MAIN, to, metric);
        let next_hop = |&(interface, via): &(u32, IpAddr)| {
            let mut hop = RouteNextHop::default();
            hop.interface_index = interface;
            hop.attributes = vec![RouteAttribute::Gateway(route_address(via))];
            hop
        };
        let next_hops = next_hops.iter().map(next_hop).collect();
        message
            .attributes
            .push(RouteAttribute::MultiPath(next_hops));
        self.0.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Adds or replaces a route in `table`. Routes through different interfaces to the same
    /// destination live beside each other by their `metric`.
    ///
    /// # Errors
    /// The kernel's, e.g. when the next hop cannot be reached.
    pub fn add_route(
        &mut self,
        table: u32,
        to: IpNet,
        via: Option<IpAddr>,
        interface: Option<u32>,
        metric: u32,
    ) -> io::Result<()> {
        let mut message = route_message(table, to, metric);
        match via {
            Some(via) => {
                let gateway = RouteAttribute::Gateway(route_address(via));
                message.attributes.push(gateway);
            }
            None => message.header.scope = RouteScope::Link,
        }
        if let Some(index) = interface {
            message.attributes.push(RouteAttribute::Oif(index));
        }
        self.0.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Refuses, in `table`, every destination of the family of `address` that no other route of the
    /// table reaches, instead of asking the next table.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_unreachable(&mut self, table: u32, address: IpAddr) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(address);
        message.header.protocol = RouteProtocol::Static;
        message.header.kind = RouteType::Unreachable;
        message.attributes.push(RouteAttribute::Table(table));
        message.attributes.push(RouteAttribute::Priority(u32::MAX));
        self.0.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Index of the interface by which packets from `source` to `destination` leave.
    ///
    /// # Errors
    /// The kernel's, e.g. where no route leads there.
    pub fn outgoing_interface(
        &mut self,
        source: IpAddr,
        destination: IpAddr,
    ) -> io::Result<Option<u32>> {
        let mut question = RouteMessage::default();
        question.header.address_family = family(destination);
        question.header.destination_prefix_length = host_bits(destination);
        question.header.source_prefix_length = host_bits(source);
        question.attributes = vec![
            RouteAttribute::Destination(route_address(destination)),
            RouteAttribute::Source(route_address(source)),
        ];
        let mut interface = None;
        let question = RouteNetlinkMessage::GetRoute(question);
        self.0.exchange(question, NLM_F_ACK, |answer| {
            if let RouteNetlinkMessage::NewRoute(route) = answer {
                let mut attributes = route.attributes.iter();
                interface = attributes.find_map(|attribute| match attribute {
                    RouteAttribute::Oif(index) => Some(*index),
                    _ => None,
                });
            }
        })?;
        Ok(interface)
    }
}

fn veth_message(end: &VethEnd<'_>) -> LinkMessage {
    let mut message = LinkMessage::default();
    if !end.neighbours {
        message.header.flags = LinkFlags::Noarp;
    }
    message.header.change_mask = LinkFlags::Noarp;
    message.attributes = vec![
        LinkAttribute::IfName(end.name.to_owned()),
        LinkAttribute::NetNsFd(end.netns.as_fd().as_raw_fd()),
        LinkAttribute::Mtu(end.mtu),
        LinkAttribute::Address(end.mac.to_vec()),
    ];
    if !end.offload {
        message.attributes.push(LinkAttribute::GsoMaxSegs(1));
    }
    message
}

fn address_message(index: u32, address: IpAddr, length: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address);
    message.header.prefix_len = length;
    message.header.scope = AddressScope::Universe;
    message.header.index = index;
    message.attributes.push(AddressAttribute::Local(address));
    message.attributes.push(AddressAttribute::Address(address));
    message
}

/// A unicast route that is still without a way.
fn route_message(table: u32, to: IpNet, metric: u32) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(to.addr());
    message.header.destination_prefix_length = to.prefix_len();
    message.header.protocol = RouteProtocol::Static;
    message.header.kind = RouteType::Unicast;
    message.header.scope = RouteScope::Universe;
    message.attributes.push(RouteAttribute::Table(table));
    if to.prefix_len() > 0 {
        message
            .attributes
            .push(RouteAttribute::Destination(route_address(to.addr())));
    }
    message.attributes.push(RouteAttribute::Priority(metric));
    message
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::Inet
    } else {
        AddressFamily::Inet6
    }
}

/// Length of the prefix that is one address.
fn host_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

/// Whether an address, rule or interface to be removed was not there.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOENT | libc::EADDRNOTAVAIL | libc::ENODEV | libc::ESRCH)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interfaces::Interfaces;

    #[test]
    fn what_a_host_sends_to_itself_leaves_by_the_loopback() {
        let mut kernel = Rtnetlink::open().unwrap();
        let every = Interfaces::open().unwrap().interfaces().unwrap();
        let loopback = every.iter().find(|one| one.is_loopback).unwrap();
        let own = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(
            kernel.outgoing_interface(own, own).unwrap(),
            Some(loopback.index)
        );
    }
}
