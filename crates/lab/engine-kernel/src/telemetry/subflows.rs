//! A summary of the MPTCP connections of a namespace.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;

use mptcplab_linux::dump::Dumper;
use mptcplab_linux::sock_diag;

/// The MPTCP connections of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InUse {
    /// Number of connections.
    pub(crate) connections: usize,
    /// Local addresses of their subflows, those that are closing left out.
    pub(crate) local_addresses: BTreeSet<IpAddr>,
}

/// Looks at the connections of the calling thread's namespace.
pub(crate) fn in_use() -> io::Result<InUse> {
    let mut sockets = Dumper::open(libc::NETLINK_SOCK_DIAG)?;
    let mut found = InUse::default();
    sock_diag::mptcp_sockets(&mut sockets, |_| found.connections += 1)?;
    sock_diag::tcp_sockets(&mut sockets, |socket| {
        if socket.mptcp.is_some() && socket.info.state == Some("ESTABLISHED") {
            found.local_addresses.insert(socket.local.ip());
        }
    })?;
    Ok(found)
}
