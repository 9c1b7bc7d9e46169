//! Which local addresses the subflows of a namespace use.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;

use super::dump::Dumper;
use super::sock_diag;

/// Local addresses of the connected MPTCP subflows of the calling thread's namespace.
pub(crate) fn local_addresses() -> io::Result<BTreeSet<IpAddr>> {
    let mut addresses = BTreeSet::new();
    let mut sockets = Dumper::open(libc::NETLINK_SOCK_DIAG)?;
    sock_diag::tcp_sockets(&mut sockets, |socket| {
        if socket.mptcp.is_some() {
            addresses.insert(socket.local.ip());
        }
    })?;
    Ok(addresses)
}
