//! The addresses of the host.

use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

use crate::situation::HostAddress;

/// Addresses of the calling thread's namespace that subflows can have.
///
/// # Errors
/// What getifaddrs(3) gives.
pub(crate) fn addresses() -> nix::Result<Vec<HostAddress>> {
    let every = getifaddrs()?.filter(|one| {
        let running = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
        one.flags.contains(running) && !one.flags.contains(InterfaceFlags::IFF_LOOPBACK)
    });
    let usable = every.filter_map(|one| {
        let address = one.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
        let v6 = address.as_sockaddr_in6().map(|v6| IpAddr::from(v6.ip()));
        Some(HostAddress {
            ip: v4.or(v6).filter(is_usable)?,
            interface: one.interface_name,
        })
    });
    Ok(usable.collect())
}

fn is_usable(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_unicast_link_local(),
    }
}
