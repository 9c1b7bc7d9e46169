//! Orders about one connection, given to the kernel by somebody with CAP_NET_ADMIN.
//!
//! Nothing here waits: [`Orders::open_subflow`] sends a SYN, and what becomes of it is told by
//! [`Opening::decide`] from the events of the namespace, to which somebody must be subscribed all
//! the while.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use mptcplab_kernel::event::{self, Event};
use mptcplab_kernel::path_manager::{Endpoint, Local, PathManager};
use nix::sys::socket::{SockaddrStorage, getpeername, getsockname};
use serde::{Deserialize, Serialize};

use crate::event::reason;
use crate::own::{Connection, connection};
use crate::{Error, socket};

/// The most subflows of a connection: more are not told of.
const MOST_SUBFLOWS: u32 = 255;

/// How often an address id is chosen anew where others open subflows of the connection meanwhile.
const TRIES: u32 = 20;

/// A subflow that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Its address; port 0 takes any.
    pub local: SocketAddr,
    /// The peer's address, where it is not that to which the connection was opened; port 0 is the
    /// port of that.
    pub remote: Option<SocketAddr>,
    /// It is a backup: carries data only while no other subflow can.
    pub backup: bool,
    /// The interface that it is bound to, by its name.
    pub interface: Option<String>,
    /// How long to wait for the peer.
    pub timeout: Duration,
}

impl Open {
    /// From this address to where the connection was opened to; waits five seconds.
    pub fn from(local: SocketAddr) -> Self {
        Self {
            local,
            remote: None,
            backup: false,
            interface: None,
            timeout: Duration::from_secs(5),
        }
    }
}

/// Gives orders in the network namespace in which it was made.
pub struct Orders {
    path_manager: PathManager,
    namespace: Option<u64>,
}

/// A subflow whose SYN has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Token of its connection.
    pub token: u32,
    /// Its id.
    pub id: u32,
    /// Its address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

impl Opening {
    /// What an event says of it: `None` while it is under way.
    pub fn decide(&self, event: &Event) -> Option<Result<u32, Error>> {
        if event.token != self.token {
            return None;
        }
        let closed = || Error::Refused {
            reason: reason(event).unwrap_or_else(|| "no reason given".to_owned()),
        };
        if event.kind == event::EventKind::Closed {
            return Some(Err(Error::NotConnected));
        }
        if (event.local, event.remote) != (Some(self.local), Some(self.remote)) {
            return None;
        }
        match event.kind {
            event::EventKind::SubflowEstablished => Some(Ok(self.id)),
            event::EventKind::SubflowClosed => Some(Err(closed())),
            _ => None,
        }
    }

    /// What the socket itself says of it: for those who have lost events.
    pub fn look(&self, socket: BorrowedFd<'_>) -> Option<Result<u32, Error>> {
        let found = match connection(socket) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        match found.subflow(self.id) {
            Ok(subflow) => subflow.is_open().then_some(Ok(self.id)),
            Err(_) => Some(Err(Error::Refused {
                reason: "no reason given".to_owned(),
            })),
        }
    }
}

impl Orders {
    /// Gives orders in the calling thread's network namespace.
    ///
    /// # Errors
    /// [`Error::NoMptcp`].
    pub fn new() -> Result<Self, Error> {
        let path_manager = PathManager::open().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoMptcp,
            _ => Error::kernel("generic netlink", &error),
        })?;
        let namespace = socket::namespace(&path_manager);
        Ok(Self {
            path_manager,
            namespace,
        })
    }

    /// The connection below a socket that orders may be given about: one of this namespace.
    ///
    /// # Errors
    /// As [`connection`]; [`Error::ForeignNamespace`].
    pub fn connection(&self, socket: BorrowedFd<'_>) -> Result<Connection, Error> {
        let connection = connection(socket)?;
        // Who cannot tell the namespace is older than both questions: then orders fail by token.
        if socket::namespace(socket) != self.namespace {
            return Err(Error::ForeignNamespace);
        }
        Ok(connection)
    }

    /// Whether there is a connection with this token.
    pub fn has_connection(&mut self, token: u32) -> bool {
        self.path_manager.local_addresses(token).is_ok()
    }

    /// Sends the SYN of a new subflow. Two that are opened from one address of a connection at the
    /// same time, by different `Orders`, cannot be told apart.
    ///
    /// # Errors
    /// As [`Self::connection`]; [`Error::FamiliesDiffer`], [`Error::NoInterface`],
    /// [`Error::LimitReached`], [`Error::KernelPathManager`], [`Error::NotEstablished`],
    /// [`Error::Closing`], [`Error::NotLocal`],
    /// [`Error::NoRoute`], [`Error::NoIdLeft`], [`Error::NotPrivileged`], [`Error::Kernel`].
    pub fn open_subflow(&mut self, socket: BorrowedFd<'_>, order: &Open) -> Result<Opening, Error> {
        let interface = match &order.interface {
            None => 0,
            Some(name) => self
                .path_manager
                .interface_index(name)
                .map_err(|_| Error::NoInterface { name: name.clone() })?,
        };
        self.open_subflow_over(socket, order, interface)
    }

    /// As [`Self::open_subflow`], over the interface with this index, or any (0), for those who have
    /// looked for it: what it is called may change.
    ///
    /// # Errors
    /// As [`Self::open_subflow`], but for [`Error::NoInterface`].
    pub fn open_subflow_over(
        &mut self,
        socket: BorrowedFd<'_>,
        order: &Open,
        interface: u32,
    ) -> Result<Opening, Error> {
        let before = self.connection(socket)?;
        if before.subflows.len() >= MOST_SUBFLOWS as usize {
            return Err(Error::LimitReached {
                limit: MOST_SUBFLOWS,
            });
        }
        let remote = remote_of(socket, order)?;
        let mut tries = 0;
        loop {
            let local = Local {
                address: order.local,
                id: self.address_id(socket, &before, order.local)?,
                backup: order.backup,
                interface,
            };
            let sent = self
                .path_manager
                .create_subflow(before.token, &local, remote);
            tries += 1;
            match sent {
                Ok(()) => break,
                Err(error) if self.is_id_taken(&error) && tries < TRIES => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => {
                    return Err(before.why_not_yet());
                }
                Err(error) => return Err(self.why_not_opened(&error, order.local, remote)),
            }
        }
        self.opening(socket, &before, order.local, remote)
    }

    /// The subflow that was not there before.
    fn opening(
        &self,
        socket: BorrowedFd<'_>,
        before: &Connection,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Result<Opening, Error> {
        let after = self.connection(socket)?;
        let newest = before.subflows.iter().map(|subflow| subflow.id).max();
        let mut new = after.subflows.iter().rev().filter(|subflow| {
            Some(subflow.id) > newest
                && subflow.local.ip() == local.ip()
                && subflow.remote == remote
        });
        // It can have ended in between: a peer on this very machine refuses at once.
        let subflow = new.next().ok_or_else(|| Error::Refused {
            reason: "no reason given".to_owned(),
        })?;
        Ok(Opening {
            token: after.token,
            id: subflow.id,
            local: subflow.local,
            remote: subflow.remote,
        })
    }

    /// Ends the waiting for a subflow: its SYN is no longer repeated.
    pub fn abandon(&mut self, opening: &Opening) {
        // It may have ended by itself.
        let _ = self
            .path_manager
            .destroy_subflow(opening.token, opening.local, opening.remote);
    }

    /// Closes a subflow. What was sent on it and not acknowledged goes out on others.
    ///
    /// # Errors
    /// As [`Self::connection`]; [`Error::NoSuchSubflow`], [`Error::KernelPathManager`],
    /// [`Error::NotPrivileged`].
    pub fn close_subflow(&mut self, socket: BorrowedFd<'_>, id: u32) -> Result<(), Error> {
        let connection = self.connection(socket)?;
        let subflow = connection.subflow(id)?;
        let (local, remote) = (subflow.local, subflow.remote);
        let done = self
            .path_manager
            .destroy_subflow(connection.token, local, remote);
        done.map_err(|error| match error.raw_os_error() {
            Some(libc::ESRCH) => Error::NoSuchSubflow { id },
            _ => self.why("close a subflow", &error),
        })
    }

    /// Makes a subflow a backup, or no longer, and tells the peer (MP_PRIO).
    ///
    /// # Errors
    /// As [`Self::close_subflow`].
    pub fn set_backup(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
        backup: bool,
    ) -> Result<(), Error> {
        let connection = self.connection(socket)?;
        let subflow = connection.subflow(id)?;
        let (local, remote) = (subflow.local, subflow.remote);
        let done = self
            .path_manager
            .set_backup(connection.token, local, remote, backup);
        done.map_err(|error| self.why("change a priority", &error))
    }

    /// Announces an address, with a port or without (0); gives its id.
    ///
    /// # Errors
    /// As [`Self::connection`]; [`Error::KernelPathManager`], [`Error::NoIdLeft`],
    /// [`Error::NotPrivileged`].
    pub fn announce(&mut self, socket: BorrowedFd<'_>, address: SocketAddr) -> Result<u8, Error> {
        let connection = self.connection(socket)?;
        let token = connection.token;
        let local = Local {
            address,
            id: match self.address_id(socket, &connection, address)? {
                // The initial subflow's address is known to the peer; another id may stand for it.
                0 => free_id(&self.local_addresses(token)?, &connection.local_ids())?,
                id => id,
            },
            backup: false,
            interface: 0,
        };
        let done = self.path_manager.announce(token, &local);
        done.map_err(|error| self.why("announce an address", &error))?;
        Ok(local.id)
    }

    /// Withdraws an address; its subflows close.
    ///
    /// # Errors
    /// As [`Self::connection`]; [`Error::NoSuchAddress`], [`Error::KernelPathManager`],
    /// [`Error::NotPrivileged`].
    pub fn withdraw(&mut self, socket: BorrowedFd<'_>, id: u8) -> Result<(), Error> {
        let token = self.connection(socket)?.token;
        let known = self.local_addresses(token)?;
        if !known.iter().any(|address| address.id == id) {
            return Err(Error::NoSuchAddress { id });
        }
        let done = self.path_manager.remove(token, id);
        done.map_err(|error| self.why("withdraw an address", &error))
    }

    fn address_id(
        &mut self,
        socket: BorrowedFd<'_>,
        connection: &Connection,
        address: SocketAddr,
    ) -> Result<u8, Error> {
        let initial = own_address(socket).map(|initial| initial.ip());
        let in_use = || connection.local_ids();
        let found = self
            .path_manager
            .address_id(connection.token, initial, address, in_use);
        let id =
            found.map_err(|error| self.why("ask for the addresses of a connection", &error))?;
        id.ok_or(Error::NoIdLeft)
    }

    fn local_addresses(&mut self, token: u32) -> Result<Vec<Endpoint>, Error> {
        let known = self.path_manager.local_addresses(token);
        known.map_err(|error| self.why("ask for the addresses of a connection", &error))
    }

    fn why(&self, doing: &str, error: &io::Error) -> Error {
        let words = self.path_manager.words();
        match error.raw_os_error() {
            Some(libc::EPERM) => Error::NotPrivileged,
            _ if words.is_some_and(|words| words.contains("userspace PM not selected")) => {
                Error::KernelPathManager
            }
            _ => Error::Kernel {
                doing: doing.to_owned(),
                reason: words.map_or(error.to_string(), |words| format!("{error}: {words}")),
            },
        }
    }

    /// Somebody else gave the id to another address in between.
    fn is_id_taken(&self, error: &io::Error) -> bool {
        let is_invalid = error.raw_os_error() == Some(libc::EINVAL);
        is_invalid && self.why("", error) != Error::KernelPathManager
    }

    fn why_not_opened(&self, error: &io::Error, local: SocketAddr, remote: SocketAddr) -> Error {
        match error.raw_os_error() {
            Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE) => Error::NotLocal { address: local },
            Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::ENETDOWN) => {
                Error::NoRoute { local, remote }
            }
            Some(libc::ESRCH) => Error::NotConnected,
            _ => self.why("open a subflow", error),
        }
    }
}

fn free_id(known: &[Endpoint], in_use: &[(IpAddr, u8)]) -> Result<u8, Error> {
    let taken = |id: &u8| {
        known.iter().any(|address| address.id == *id) || in_use.iter().any(|(_, used)| used == id)
    };
    (1..=u8::MAX).find(|id| !taken(id)).ok_or(Error::NoIdLeft)
}

fn remote_of(socket: BorrowedFd<'_>, order: &Open) -> Result<SocketAddr, Error> {
    let peer = getpeername::<SockaddrStorage>(socket.as_raw_fd())
        .ok()
        .and_then(|address| socket_address(&address))
        .ok_or(Error::NotConnected)?;
    let remote = match order.remote {
        None => peer,
        Some(remote) if remote.port() == 0 => SocketAddr::new(remote.ip(), peer.port()),
        Some(remote) => remote,
    };
    if remote.is_ipv4() != order.local.is_ipv4() {
        return Err(Error::FamiliesDiffer {
            local: order.local,
            remote,
        });
    }
    Ok(remote)
}

fn own_address(socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    socket_address(&getsockname::<SockaddrStorage>(socket.as_raw_fd()).ok()?)
}

/// An IPv4 address mapped into IPv6 comes out as IPv4.
fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let (ip, port) = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
        (Some(v4), _) => (v4.ip().into(), v4.port()),
        (_, Some(v6)) => (v6.ip().to_canonical(), v6.port()),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}
