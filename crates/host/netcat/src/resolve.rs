//! Addresses of a host: as the C library finds them, or, in a static program, which has none of its
//! modules, by `/etc/hosts` and DNS.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

#[cfg(any(test, target_feature = "crt-static"))]
mod dns;
#[cfg(any(test, target_feature = "crt-static"))]
mod preference;
#[cfg(any(test, target_feature = "crt-static"))]
mod stub;

/// The addresses of a host, in the order in which they are tried.
///
/// # Errors
/// Where there is none, or nobody tells.
pub(crate) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    #[cfg(target_feature = "crt-static")]
    if let Some(found) = stub::resolve(host) {
        let with_port = |address| SocketAddr::new(address, port);
        return Ok(found?.into_iter().map(with_port).collect());
    }
    Ok((host, port).to_socket_addrs()?.collect())
}
