//! The addresses of this host, and their routes to the peer.

use std::io;
use std::net::IpAddr;

use mptcplab_linux::interfaces::Interfaces;
pub(super) use mptcplab_linux::interfaces::LocalAddress as Local;
use mptcplab_linux::rtnetlink::Rtnetlink;
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
    let route =
        Rtnetlink::open().and_then(|mut kernel| kernel.outgoing_interface(local.address, peer));
    route.is_ok_and(|interface| interface == Some(index))
}
