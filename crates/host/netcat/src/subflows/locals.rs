//! The addresses of this host, and their routes to the peer.

use std::io;
use std::net::IpAddr;

use mptcplab_linux::interfaces::Interfaces;
pub(super) use mptcplab_linux::interfaces::LocalAddress as Local;
use mptcplab_linux::netlink::Netlink;
use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::net::if_::if_nametoindex;

/// The addresses from which other hosts can be reached.
///
/// # Errors
/// Those of netlink.
pub(super) fn locals() -> io::Result<Vec<Local>> {
    Interfaces::open()?.local_addresses()
}

/// Tells whether packets from the address to `peer` leave by the interface that has it.
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
