//! The subflows of one's own socket, which the kernel tells without privilege.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};

use mptcplab_linux::dump::Dumper;
use mptcplab_linux::sock_diag::{self, SubflowIdentity};
use mptcplab_linux::socket::{Subflow, connection as ask};
use mptcplab_linux::{MptcpInfo, TcpInfo, state_number};
use nix::net::if_::if_nameindex;
use nix::sys::socket::{SockaddrStorage, getpeername};
use serde::Serialize;

use crate::Error;
use crate::fallback;
use crate::socket::protocol;

/// A connection and its subflows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Connection {
    /// The connection's counters.
    pub info: MptcpInfo,
    /// Its token on this host, by which commands name it.
    pub token: u32,
    /// Its current subflows in the order of their ids; those that are being opened, too.
    pub subflows: Vec<OwnSubflow>,
}

/// A subflow of one's own connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnSubflow {
    /// Its id, never given again in the connection.
    pub id: u32,
    /// Its address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Its state and counters.
    pub info: TcpInfo,
    /// The same as the kernel gave it: `struct tcp_info`.
    #[serde(skip)]
    pub tcp_info: Vec<u8>,
}

/// A subflow's addresses, ids, state and priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tuple {
    /// Its address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Id of the local address, where the kernel tells.
    pub local_id: Option<u8>,
    /// Id of the remote address.
    pub remote_id: Option<u8>,
    /// State of TCP by its name in RFC 9293.
    pub state: Option<&'static str>,
    /// It is a backup, for one of the two ends.
    pub backup: Option<bool>,
}

impl Tuple {
    /// The state's number in `<netinet/tcp.h>`.
    pub fn state_number(&self) -> Option<u8> {
        self.state.and_then(state_number)
    }
}

impl OwnSubflow {
    /// Data can be sent on it: it is established, and not being closed from here. (The kernel keeps
    /// an initial subflow that was closed until the last acknowledgement.)
    pub fn is_open(&self) -> bool {
        matches!(self.info.state, Some("ESTABLISHED" | "CLOSE-WAIT"))
    }
}

impl Connection {
    /// The subflow with this id.
    ///
    /// # Errors
    /// [`Error::NoSuchSubflow`].
    pub fn subflow(&self, id: u32) -> Result<&OwnSubflow, Error> {
        let mut subflows = self.subflows.iter();
        let found = subflows.find(|subflow| subflow.id == id);
        found.ok_or(Error::NoSuchSubflow { id })
    }

    /// Gives why the kernel opens no subflow of it yet: where data was acknowledged or came in, the handshake
    /// was confirmed, and one of the ends has closed.
    pub(crate) fn why_not_yet(&self) -> Error {
        let carried = [self.info.bytes_acked, self.info.bytes_received];
        match carried.iter().flatten().any(|bytes| *bytes > 0) {
            true => Error::Closing,
            false => Error::NotEstablished,
        }
    }

    /// Local addresses of its subflows with their ids, where the kernel tells.
    pub(crate) fn local_ids(&self) -> Vec<(IpAddr, u8)> {
        let known = self.subflows.iter().filter_map(|subflow| {
            let identity = identity(subflow.local, subflow.remote)?;
            Some((subflow.local.ip(), identity.local_id?))
        });
        known.collect()
    }
}

/// The connection below an MPTCP socket, with those of its subflows that are not closed.
///
/// # Errors
/// [`Error::NotMptcp`], [`Error::NotConnected`], [`Error::FellBack`]; [`Error::Kernel`] for what is
/// no socket at all.
pub fn connection(socket: impl AsFd) -> Result<Connection, Error> {
    let fd = socket.as_fd();
    match protocol(fd) {
        Ok(libc::IPPROTO_MPTCP) => {}
        Ok(_) => return Err(Error::NotMptcp),
        Err(error) if error.raw_os_error() == Some(libc::ENOTSOCK) => return Err(Error::NotMptcp),
        Err(error) => return Err(Error::kernel("ask the socket for its protocol", &error)),
    }
    if getpeername::<SockaddrStorage>(fd.as_raw_fd()).is_err() {
        return Err(Error::NotConnected);
    }
    // After a fallback the kernel tells nothing of MPTCP any more.
    let found = ask(&fd).filter(|found| found.info.fallback != Some(true));
    let found = found.ok_or_else(|| Error::FellBack {
        reason: fallback::reason(),
    })?;
    let token = found.info.token.filter(|&token| token != 0);
    Ok(Connection {
        token: token.ok_or(Error::NotConnected)?,
        subflows: current(found.subflows),
        info: found.info,
    })
}

/// Ids of the current subflows.
///
/// # Errors
/// As [`connection`].
pub fn subflow_ids(socket: impl AsFd) -> Result<Vec<u32>, Error> {
    let subflows = connection(socket)?.subflows;
    let open = subflows.iter().filter(|subflow| subflow.is_open());
    Ok(open.map(|subflow| subflow.id).collect())
}

/// Addresses, address ids, state and priority of a subflow. The socket must be of the calling
/// thread's network namespace.
///
/// # Errors
/// As [`connection`]; [`Error::NoSuchSubflow`].
pub fn subflow_tuple(socket: impl AsFd, id: u32) -> Result<Tuple, Error> {
    let connection = connection(socket)?;
    let subflow = connection.subflow(id)?;
    let identity = identity(subflow.local, subflow.remote).unwrap_or_default();
    Ok(Tuple {
        local: subflow.local,
        remote: subflow.remote,
        local_id: identity.local_id,
        remote_id: identity.remote_id,
        state: subflow.info.state,
        backup: identity.backup,
    })
}

/// TCP_INFO of a subflow.
///
/// # Errors
/// As [`connection`]; [`Error::NoSuchSubflow`].
pub fn subflow_info(socket: impl AsFd, id: u32) -> Result<TcpInfo, Error> {
    let connection = connection(socket)?;
    Ok(connection.subflow(id)?.info.clone())
}

/// The value of an option on one subflow, where the kernel tells it without privilege: `TCP_INFO`, as its own
/// structure. `None` for the others.
///
/// # Errors
/// As [`connection`]; [`Error::NoSuchSubflow`].
pub fn subflow_option(
    socket: impl AsFd,
    id: u32,
    level: i32,
    option: i32,
) -> Result<Option<Vec<u8>>, Error> {
    if (level, option) != (libc::IPPROTO_TCP, libc::TCP_INFO) {
        return Ok(None);
    }
    let connection = connection(socket)?;
    Ok(Some(connection.subflow(id)?.tcp_info.clone()))
}

fn identity(local: SocketAddr, remote: SocketAddr) -> Option<SubflowIdentity> {
    let mut sockets = Dumper::open(libc::NETLINK_SOCK_DIAG).ok()?;
    let mut find = |interface| sock_diag::tcp_socket(&mut sockets, local, remote, interface).ok();
    let found = find(0).or_else(|| {
        // Nothing tells to which interface a subflow is bound.
        let interfaces = if_nameindex().ok()?;
        interfaces.iter().find_map(|one| find(one.index()))
    });
    found?.mptcp
}

/// Without those that are closed: a closed initial subflow stays in the kernel's list.
fn current(subflows: Vec<Subflow>) -> Vec<OwnSubflow> {
    let numbered = (0..).zip(subflows);
    let mut current: Vec<_> = numbered
        .map(|(place, subflow)| OwnSubflow {
            // Kernels before 6.5 tell no ids; the place is the best that is known there.
            id: subflow.id.unwrap_or(place),
            local: subflow.local,
            remote: subflow.remote,
            info: subflow.info,
            tcp_info: subflow.tcp_info,
        })
        .filter(|subflow| subflow.info.state != Some("CLOSED"))
        .collect();
    current.sort_by_key(|subflow| subflow.id);
    current
}
