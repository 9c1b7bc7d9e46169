//! Commands about one connection, given to the kernel, which wants CAP_NET_ADMIN.
//!
//! Nothing here waits: [`PathManagerClient::open_subflow`] sends a SYN, and [`Opening::decide`] takes
//! the result from the events of the namespace, which must have a subscriber all the while.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use mptcplab_linux::path_manager::{Local, PathManager};

pub use crate::opening::{Open, Opening};

use crate::error::NO_REASON;
use crate::opening::of_one_host;
use crate::own::{Connection, connection};
use crate::socket::{own_address, peer_address};
use crate::{Error, socket};

/// The most subflows of a connection: the kernel lists no more.
const MOST_SUBFLOWS: u32 = 255;

/// Names the question for the addresses of a connection in errors.
const ASK_ADDRESSES: &str = "ask for the addresses of a connection";

/// How often an address id is chosen anew where other processes take it first.
const TRIES: u32 = 20;

/// Gives commands in the network namespace in which it was made.
pub struct PathManagerClient {
    path_manager: PathManager,
    namespace: Option<u64>,
}

impl PathManagerClient {
    /// Opens a client in the calling thread's network namespace.
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

    /// Finds the connection below a socket, which commands act on: one of this namespace.
    ///
    /// # Errors
    /// As [`connection`]; [`Error::ForeignNamespace`].
    pub fn connection(&self, socket: BorrowedFd<'_>) -> Result<Connection, Error> {
        let connection = connection(socket)?;
        // A kernel that does not tell the namespace tells neither; then commands fail by token.
        if socket::namespace(socket) != self.namespace {
            return Err(Error::ForeignNamespace);
        }
        Ok(connection)
    }

    /// Tells whether there is a connection with this token.
    pub fn has_connection(&mut self, token: u32) -> bool {
        self.path_manager.local_addresses(token).is_ok()
    }

    /// Sends the SYN of a new subflow. Two that are opened from one address of a connection at the
    /// same time, by different `PathManagerClient`, cannot be told apart.
    ///
    /// # Errors
    /// As [`Self::connection`]; [`Error::FamiliesDiffer`], [`Error::NoInterface`],
    /// [`Error::LimitReached`], [`Error::KernelPathManager`], [`Error::NotEstablished`],
    /// [`Error::Closing`], [`Error::NotLocal`],
    /// [`Error::NoRoute`], [`Error::NoIdLeft`], [`Error::NotPrivileged`], [`Error::Kernel`].
    pub fn open_subflow(&mut self, socket: BorrowedFd<'_>, open: &Open) -> Result<Opening, Error> {
        let interface = match &open.interface {
            None => 0,
            Some(name) => self
                .path_manager
                .interface_index(name)
                .map_err(|_| Error::NoInterface { name: name.clone() })?,
        };
        self.open_subflow_over(socket, open, interface)
    }

    /// As [`Self::open_subflow`], over the interface with this index, or any (0): an index stays, a
    /// name may change.
    ///
    /// # Errors
    /// As [`Self::open_subflow`], but for [`Error::NoInterface`].
    pub fn open_subflow_over(
        &mut self,
        socket: BorrowedFd<'_>,
        open: &Open,
        interface: u32,
    ) -> Result<Opening, Error> {
        let before = self.connection(socket)?;
        if before.subflows.len() >= MOST_SUBFLOWS as usize {
            return Err(Error::LimitReached {
                limit: MOST_SUBFLOWS,
            });
        }
        let (from, remote) = open.ends(peer_address(socket).ok_or(Error::NotConnected)?)?;
        let mut tries = 0;
        loop {
            let local = Local {
                address: from,
                id: self.address_id(socket, &before, from)?,
                backup: open.backup,
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
                Err(error) => return Err(self.why_not_opened(&error, from, remote)),
            }
        }
        self.opening(socket, &before, from, remote)
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
        // It can have ended in between: a peer on the same host refuses at once.
        let subflow = new.next().ok_or_else(|| Error::Refused {
            reason: NO_REASON.to_owned(),
        })?;
        Ok(Opening {
            token: after.token,
            id: subflow.id,
            local: subflow.local,
            remote: subflow.remote,
        })
    }

    /// Gives up a subflow that is being opened: its SYN is no longer repeated.
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
        done.map_err(|error| match self.why("change a priority", &error) {
            // It has gone, or the peer has not let it join yet.
            Error::Kernel { .. } if error.raw_os_error() == Some(libc::EINVAL) => {
                Error::NoSuchSubflow { id }
            }
            why => why,
        })
    }

    /// Announces an address, with a port or without (0); gives its id.
    ///
    /// # Errors
    /// As [`Self::connection`]; [`Error::AlreadyKnown`], [`Error::KernelPathManager`],
    /// [`Error::NoIdLeft`], [`Error::NotLocal`] for what is no host's address,
    /// [`Error::NotPrivileged`].
    pub fn announce(&mut self, socket: BorrowedFd<'_>, address: SocketAddr) -> Result<u8, Error> {
        let address = of_one_host(address)?;
        let connection = self.connection(socket)?;
        let token = connection.token;
        let in_use = || connection.local_ids();
        let id = self
            .path_manager
            .announced_address_id(token, address, in_use);
        let id = match id.map_err(|error| self.why(ASK_ADDRESSES, &error))? {
            None => return Err(Error::NoIdLeft),
            Some(0) => return Err(Error::AlreadyKnown { address }),
            Some(id) => id,
        };
        let local = Local {
            address,
            id,
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
        let known = self.path_manager.local_addresses(token);
        let known = known.map_err(|error| self.why(ASK_ADDRESSES, &error))?;
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
        let id = self
            .path_manager
            .subflow_address_id(connection.token, initial, address, in_use);
        let id = id.map_err(|error| self.why(ASK_ADDRESSES, &error))?;
        id.ok_or(Error::NoIdLeft)
    }

    fn why(&self, doing: &str, error: &io::Error) -> Error {
        let words = self.path_manager.words();
        match error.raw_os_error() {
            Some(libc::EPERM) => Error::NotPrivileged,
            _ if words.is_some_and(|words| words.contains("userspace PM not selected")) => {
                Error::KernelPathManager
            }
            // The connection has ended since the socket was asked for it.
            _ if words.is_some_and(|words| words.contains("invalid token")) => Error::NotConnected,
            _ => Error::Kernel {
                doing: doing.to_owned(),
                reason: words.map_or(error.to_string(), |words| format!("{error}: {words}")),
            },
        }
    }

    /// Tells whether the id was given to another address in between.
    fn is_id_taken(&self, error: &io::Error) -> bool {
        let is_invalid = error.raw_os_error() == Some(libc::EINVAL);
        is_invalid && !self.is_from_connect() && matches!(self.why("", error), Error::Kernel { .. })
    }

    fn is_from_connect(&self) -> bool {
        let words = self.path_manager.words();
        words.is_some_and(|words| words.contains("connect error"))
    }

    fn why_not_opened(&self, error: &io::Error, local: SocketAddr, remote: SocketAddr) -> Error {
        match error.raw_os_error() {
            Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE) => Error::NotLocal { address: local },
            Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::ENETDOWN) => {
                Error::NoRoute { local, remote }
            }
            Some(libc::ESRCH) => Error::NotConnected,
            // From the loopback to another host, say.
            Some(libc::EINVAL) if self.is_from_connect() => Error::NoRoute { local, remote },
            _ => self.why("open a subflow", error),
        }
    }
}
