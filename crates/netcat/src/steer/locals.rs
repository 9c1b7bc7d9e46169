//! The addresses of this host, and which of them have a way of their own to the peer.

use std::io;
use std::net::IpAddr;

use mptcplab_kernel::netlink::Netlink;
use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};

/// An address that can be used now: its interface is up and has a carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) address: IpAddr,
    pub(super) interface: String,
}

/// All of them, without those of the loopback and of one link only.
///
/// # Errors
/// What getifaddrs(3) gives.
pub(super) fn locals() -> io::Result<Vec<Local>> {
    let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
    let rows = getifaddrs()?.filter(|row| row.flags.contains(wanted));
    let local = |row: nix::ifaddrs::InterfaceAddress| {
        let address = row.address?;
        let address = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
            (Some(v4), _) => IpAddr::from(v4.ip()),
            (_, Some(v6)) => v6.ip().into(),
            _ => return None,
        };
        is_far_reaching(address).then_some(Local {
            address,
            interface: row.interface_name,
        })
    };
    Ok(rows.filter_map(local).collect())
}

fn is_far_reaching(address: IpAddr) -> bool {
    let on_link = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    !address.is_loopback() && !on_link
}

/// Whether packets from the address to `peer` leave by the interface that has it.
pub(super) fn has_own_route(local: &Local, peer: IpAddr) -> bool {
    let Ok(index) = if_nametoindex(local.interface.as_str()) else {
        return false;
    };
    route_interface(local.address, peer).is_ok_and(|found| found == Some(index))
}

/// Index of the interface by which packets from `source` to `peer` leave.
fn route_interface(source: IpAddr, peer: IpAddr) -> io::Result<Option<u32>> {
    let mut question = RouteMessage::default();
    let (family, bits) = match peer {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    };
    question.header.address_family = family;
    question.header.destination_prefix_length = bits;
    question.header.source_prefix_length = bits;
    question.attributes = vec![
        RouteAttribute::Destination(route_address(peer)),
        RouteAttribute::Source(route_address(source)),
    ];
    let mut found = None;
    let mut netlink = Netlink::open(NETLINK_ROUTE)?;
    let question = RouteNetlinkMessage::GetRoute(question);
    netlink.exchange(question, NLM_F_ACK, |answer| {
        if let RouteNetlinkMessage::NewRoute(route) = answer {
            found = route
                .attributes
                .iter()
                .find_map(|attribute| match attribute {
                    RouteAttribute::Oif(index) => Some(*index),
                    _ => None,
                });
        }
    })?;
    Ok(found)
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(v4) => RouteAddress::Inet(v4),
        IpAddr::V6(v6) => RouteAddress::Inet6(v6),
    }
}
