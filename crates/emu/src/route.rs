//! Links, addresses, rules and routes (rtnetlink).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::netns::NetNs;
use crate::plan::Prefix;
use mptcplab_kernel::netlink::Netlink;

/// The main routing table.
pub const TABLE_MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;

/// Requests about links, addresses, rules and routes of one namespace.
pub struct Route(Netlink);

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
}

/// An interface as the kernel tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The kernel's index.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Up, and its peer too: it can carry packets.
    pub running: bool,
}

impl Route {
    /// Opens a socket in the calling thread's namespace.
    ///
    /// # Errors
    /// What socket(2) and bind(2) give.
    pub fn open() -> io::Result<Self> {
        Netlink::open(NETLINK_ROUTE).map(Self)
    }

    /// Makes a pair of interfaces, each in its namespace, both down.
    ///
    /// They carry packets between two nodes only, so neither asks for its neighbour's hardware
    /// address (IFF_NOARP): a question could be lost on its way, and the kernel repeats it only
    /// after a second.
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

    /// All interfaces of the namespace.
    ///
    /// # Errors
    /// The kernel's.
    pub fn interfaces(&mut self) -> io::Result<Vec<Interface>> {
        let mut interfaces = Vec::new();
        self.0.dump(
            RouteNetlinkMessage::GetLink(LinkMessage::default()),
            |row| {
                if let RouteNetlinkMessage::NewLink(link) = row {
                    interfaces.extend(interface(&link));
                }
            },
        )?;
        Ok(interfaces)
    }

    /// All addresses of the namespace, each with the index of its interface.
    ///
    /// # Errors
    /// The kernel's.
    pub fn addresses(&mut self) -> io::Result<Vec<(u32, IpAddr)>> {
        let mut addresses = Vec::new();
        self.0.dump(
            RouteNetlinkMessage::GetAddress(AddressMessage::default()),
            |row| {
                if let RouteNetlinkMessage::NewAddress(message) = row {
                    let local = message
                        .attributes
                        .iter()
                        .find_map(|attribute| match attribute {
                            AddressAttribute::Local(address) => Some(*address),
                            _ => None,
                        });
                    // IPv6 tells a plain address only as the prefix's.
                    let address = local.or_else(|| {
                        message
                            .attributes
                            .iter()
                            .find_map(|attribute| match attribute {
                                AddressAttribute::Address(address) => Some(*address),
                                _ => None,
                            })
                    });
                    addresses.extend(address.map(|address| (message.header.index, address)));
                }
            },
        )?;
        Ok(addresses)
    }

    /// Gives an interface an address, without the wait for duplicate detection and without a
    /// route of its own for IPv6 beyond the kernel's prefix route.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_address(&mut self, index: u32, prefix: Prefix) -> io::Result<()> {
        let mut message = address_message(index, prefix);
        if prefix.address.is_ipv6() {
            message
                .attributes
                .push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
        self.0.request(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Takes an address from an interface; none there is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn delete_address(&mut self, index: u32, prefix: Prefix) -> io::Result<()> {
        let message = address_message(index, prefix);
        match self.0.request(RouteNetlinkMessage::DelAddress(message), 0) {
            Err(error) if is_absent(&error) => Ok(()),
            other => other,
        }
    }

    /// Adds or replaces a route in `table`. Routes through different interfaces to the same
    /// destination live beside each other by their `metric`.
    ///
    /// # Errors
    /// The kernel's, e.g. when the next hop cannot be reached.
    pub fn add_route(
        &mut self,
        table: u32,
        to: Prefix,
        via: Option<IpAddr>,
        interface: Option<u32>,
        metric: u32,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(to.address);
        message.header.destination_prefix_length = to.length;
        message.header.protocol = RouteProtocol::Static;
        message.header.kind = RouteType::Unicast;
        message.header.scope = if via.is_some() {
            RouteScope::Universe
        } else {
            RouteScope::Link
        };
        message.attributes.push(RouteAttribute::Table(table));
        if to.length > 0 {
            message
                .attributes
                .push(RouteAttribute::Destination(route_address(to.address)));
        }
        if let Some(via) = via {
            message
                .attributes
                .push(RouteAttribute::Gateway(route_address(via)));
        }
        if let Some(index) = interface {
            message.attributes.push(RouteAttribute::Oif(index));
        }
        message.attributes.push(RouteAttribute::Priority(metric));
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

    /// Sends what comes from `source` to `table`; a rule that is there already is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_source_rule(&mut self, source: IpAddr, table: u32) -> io::Result<()> {
        let message = rule_message(source, table);
        match self.0.request(
            RouteNetlinkMessage::NewRule(message),
            NLM_F_CREATE | NLM_F_EXCL,
        ) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Takes the rule of [`Route::add_source_rule`] away; none there is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn delete_source_rule(&mut self, source: IpAddr, table: u32) -> io::Result<()> {
        match self
            .0
            .request(RouteNetlinkMessage::DelRule(rule_message(source, table)), 0)
        {
            Err(error) if is_absent(&error) => Ok(()),
            other => other,
        }
    }
}

/// What a link message says of an interface; `None` without a name.
pub fn interface(link: &LinkMessage) -> Option<Interface> {
    let name = link
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            LinkAttribute::IfName(name) => Some(name.clone()),
            _ => None,
        })?;
    let running = link
        .header
        .flags
        .contains(LinkFlags::Up | LinkFlags::LowerUp);
    Some(Interface {
        index: link.header.index,
        name,
        running,
    })
}

/// The prefix of the default route of the same family as `address`.
pub fn default_prefix(address: IpAddr) -> Prefix {
    let any = match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    Prefix {
        address: any,
        length: 0,
    }
}

/// The network of an address: the bits beyond the prefix are zero.
pub fn network(prefix: Prefix) -> Prefix {
    let address = match prefix.address {
        IpAddr::V4(address) => {
            let mask = u32::MAX
                .checked_shl(32 - u32::from(prefix.length))
                .unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX
                .checked_shl(128 - u32::from(prefix.length))
                .unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    };
    Prefix {
        address,
        length: prefix.length,
    }
}

fn veth_message(end: &VethEnd<'_>) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.flags = LinkFlags::Noarp;
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

fn address_message(index: u32, prefix: Prefix) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(prefix.address);
    message.header.prefix_len = prefix.length;
    message.header.scope = AddressScope::Universe;
    message.header.index = index;
    message
        .attributes
        .push(AddressAttribute::Local(prefix.address));
    message
        .attributes
        .push(AddressAttribute::Address(prefix.address));
    message
}

fn rule_message(source: IpAddr, table: u32) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family(source);
    message.header.src_len = if source.is_ipv4() { 32 } else { 128 };
    message.header.action = RuleAction::ToTable;
    message.attributes.push(RuleAttribute::Source(source));
    message.attributes.push(RuleAttribute::Table(table));
    // Source rules of one namespace share a priority; the kernel tells them apart by source.
    message.attributes.push(RuleAttribute::Priority(100));
    message
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::Inet
    } else {
        AddressFamily::Inet6
    }
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

/// What is to be taken away was not there: address, rule, interface.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOENT | libc::EADDRNOTAVAIL | libc::ENODEV | libc::ESRCH)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_an_address_has_no_bits_beyond_its_prefix() {
        let prefix = |text: &str, length| Prefix {
            address: text.parse().unwrap(),
            length,
        };
        assert_eq!(network(prefix("10.1.2.3", 24)), prefix("10.1.2.0", 24));
        assert_eq!(network(prefix("10.1.2.3", 32)), prefix("10.1.2.3", 32));
        assert_eq!(network(prefix("10.1.2.3", 0)), prefix("0.0.0.0", 0));
        assert_eq!(network(prefix("fd00:1::2:3", 64)), prefix("fd00:1::", 64));
        assert_eq!(network(prefix("fd00:1::2:3", 0)), prefix("::", 0));
    }
}
