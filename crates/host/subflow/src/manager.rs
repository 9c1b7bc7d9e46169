//! Carries out a program's commands: through a broker, or directly.

use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::path_manager::Open;

use crate::client::Client;
use crate::direct::Direct;
use crate::own::connection;
use crate::protocol::{Answer, Command, unexpected};
use crate::watch::Watch;
use crate::{Error, Interrupt, subflow_option};

/// The variable that names the broker's socket.
const BROKER_VARIABLE: &str = "MPTCPLAB_BROKER";
/// Socket of the host's broker.
const BROKER_PATH: &str = "/run/mptcplab/broker.sock";
/// Timeout of the broker for commands that need no answer from the peer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Carries out commands about the subflows of one's own connections.
pub struct Manager {
    backend: Backend,
    interrupt: Option<Interrupt>,
}

enum Backend {
    Broker(Client, PathBuf),
    Direct(Box<Direct>),
}

/// Path of the socket that the variable names; `None` where it is empty.
fn named(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|path| !path.is_empty()).map(PathBuf::from)
}

impl Manager {
    /// Uses the broker that the variable `MPTCPLAB_BROKER` names; without it the host's broker, or,
    /// where there is none, this process itself.
    ///
    /// # Errors
    /// [`Error::NoBroker`] where the variable names none that answers, [`Error::NotPrivileged`]
    /// where there is neither a broker nor CAP_NET_ADMIN, [`Error::NoMptcp`].
    pub fn open() -> Result<Self, Error> {
        if let Some(path) = named(env::var_os(BROKER_VARIABLE)) {
            return Self::broker(&path);
        }
        Self::broker(Path::new(BROKER_PATH)).or_else(|_| Self::direct())
    }

    /// Uses this process itself, which needs CAP_NET_ADMIN over the calling thread's namespace.
    ///
    /// # Errors
    /// [`Error::NotPrivileged`], [`Error::NoMptcp`].
    pub fn direct() -> Result<Self, Error> {
        Ok(Self {
            backend: Backend::Direct(Box::new(Direct::new()?)),
            interrupt: None,
        })
    }

    /// Uses the broker at this socket.
    ///
    /// # Errors
    /// [`Error::NoBroker`].
    pub fn broker(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            backend: Backend::Broker(Client::connect(path)?, path.to_owned()),
            interrupt: None,
        })
    }

    /// The broker's socket; `None` where this process itself gives commands to the kernel.
    pub fn broker_path(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Broker(_, path) => Some(path),
            Backend::Direct(_) => None,
        }
    }

    /// Sets the interrupt that ends waiting from now on; a subflow that was being opened is given up.
    /// Watches that are made later take it over.
    pub fn interruptible(&mut self, interrupt: Option<Interrupt>) {
        if let Backend::Broker(client, _) = &mut self.backend {
            client.interrupt.clone_from(&interrupt);
        }
        self.interrupt = interrupt;
    }

    /// Opens a subflow, waits until the peer has let it join, and gives its id.
    ///
    /// # Errors
    /// As [`PathManagerClient::open_subflow`]; [`Error::Refused`], [`Error::TimedOut`], and from a broker
    /// [`Error::Forbidden`], [`Error::LimitReached`], [`Error::TooMany`]; [`Error::Interrupted`].
    pub fn open_subflow(&mut self, socket: impl AsFd, open: &Open) -> Result<u32, Error> {
        let socket = socket.as_fd();
        match &mut self.backend {
            Backend::Direct(direct) => direct.open_subflow(socket, open, self.interrupt.as_ref()),
            Backend::Broker(client, _) => {
                let timeout = open.timeout.saturating_add(TIMEOUT);
                match client.ask(socket, Command::Open(open.clone()), timeout)? {
                    Answer::Subflow(id) => Ok(id),
                    _ => Err(unexpected()),
                }
            }
        }
    }

    /// Closes a subflow, the initial one or another. What was sent on it and not acknowledged goes
    /// out on others.
    ///
    /// # Errors
    /// As [`PathManagerClient::close_subflow`], and from a broker [`Error::Forbidden`].
    pub fn close_subflow(&mut self, socket: impl AsFd, id: u32) -> Result<(), Error> {
        let socket = socket.as_fd();
        match &mut self.backend {
            Backend::Direct(direct) => direct.path_manager.close_subflow(socket, id),
            Backend::Broker(client, _) => done(client, socket, Command::Close { subflow: id }),
        }
    }

    /// Makes a subflow a backup, or no longer, and tells the peer (MP_PRIO).
    ///
    /// # Errors
    /// As [`Self::close_subflow`].
    pub fn set_backup(&mut self, socket: impl AsFd, id: u32, backup: bool) -> Result<(), Error> {
        let socket = socket.as_fd();
        let subflow = id;
        match &mut self.backend {
            Backend::Direct(direct) => direct.path_manager.set_backup(socket, id, backup),
            Backend::Broker(client, _) => {
                done(client, socket, Command::SetBackup { subflow, backup })
            }
        }
    }

    /// Announces an address to the peer (ADD_ADDR), with a port or without (0); gives its id.
    ///
    /// # Errors
    /// As [`PathManagerClient::announce`], and from a broker [`Error::Forbidden`].
    pub fn announce(&mut self, socket: impl AsFd, address: SocketAddr) -> Result<u8, Error> {
        let socket = socket.as_fd();
        match &mut self.backend {
            Backend::Direct(direct) => direct.path_manager.announce(socket, address),
            Backend::Broker(client, _) => {
                match client.ask(socket, Command::Announce { address }, TIMEOUT)? {
                    Answer::Address(id) => Ok(id),
                    _ => Err(unexpected()),
                }
            }
        }
    }

    /// Withdraws an announced address (REMOVE_ADDR); its subflows close.
    ///
    /// # Errors
    /// As [`PathManagerClient::withdraw`], and from a broker [`Error::Forbidden`].
    pub fn withdraw(&mut self, socket: impl AsFd, id: u8) -> Result<(), Error> {
        let socket = socket.as_fd();
        match &mut self.backend {
            Backend::Direct(direct) => direct.path_manager.withdraw(socket, id),
            Backend::Broker(client, _) => {
                done(client, socket, Command::Withdraw { address_id: id })
            }
        }
    }

    /// Reads an option on one subflow; those that [`subflow_option`] gives need no privilege. Others are
    /// read and set by BPF, which is loaded with the first of them: by the
    /// broker, or by this process, which needs the privileges of [`Options`](crate::options::Options).
    ///
    /// # Errors
    /// [`Error::NeedsBpf`], [`Error::OptionRefused`], [`Error::NoSuchSubflow`], as
    /// [`own::connection`](crate::connection), and from a broker [`Error::Forbidden`].
    pub fn getsockopt(
        &mut self,
        socket: impl AsFd,
        id: u32,
        level: i32,
        option: i32,
    ) -> Result<Vec<u8>, Error> {
        if let Some(value) = subflow_option(&socket, id, level, option)? {
            return Ok(value);
        }
        let socket = socket.as_fd();
        let length = option_bytes(level, option);
        match &mut self.backend {
            Backend::Direct(direct) => direct.getsockopt(socket, id, level, option, length),
            Backend::Broker(client, _) => {
                let command = Command::GetOption {
                    subflow: id,
                    level,
                    option,
                    length,
                };
                match client.ask(socket, command, TIMEOUT)? {
                    Answer::Value(value) => Ok(value),
                    _ => Err(unexpected()),
                }
            }
        }
    }

    /// Sets an option on one subflow only.
    ///
    /// # Errors
    /// As [`Self::getsockopt`].
    pub fn setsockopt(
        &mut self,
        socket: impl AsFd,
        id: u32,
        level: i32,
        option: i32,
        value: &[u8],
    ) -> Result<(), Error> {
        let socket = socket.as_fd();
        match &mut self.backend {
            Backend::Direct(direct) => direct.setsockopt(socket, id, level, option, value),
            Backend::Broker(client, _) => {
                let command = Command::SetOption {
                    subflow: id,
                    level,
                    option,
                    value: value.to_vec(),
                };
                done(client, socket, command)
            }
        }
    }

    /// Watches a connection from now on.
    ///
    /// # Errors
    /// As [`own::connection`](crate::connection); [`Error::NoBroker`], [`Error::TooMany`].
    pub fn events(&mut self, socket: impl AsFd) -> Result<Watch, Error> {
        let socket = socket.as_fd();
        let interrupt = self.interrupt.clone();
        match &mut self.backend {
            Backend::Direct(direct) => direct.events(socket, interrupt),
            Backend::Broker(_, path) => {
                // A session of its own: from now on events come over it.
                let mut client = Client::connect(path)?;
                client.interrupt.clone_from(&interrupt);
                done(&mut client, socket, Command::Watch {})?;
                Ok(Watch::by_broker(socket, &connection(socket)?, client))
            }
        }
    }
}

fn done(client: &mut Client, socket: BorrowedFd<'_>, command: Command) -> Result<(), Error> {
    match client.ask(socket, command, TIMEOUT)? {
        Answer::Nothing {} => Ok(()),
        _ => Err(unexpected()),
    }
}

/// Size of an option's value in the kernel: that of a number, but for the one that is a name.
fn option_bytes(level: i32, option: i32) -> usize {
    const TCP_CA_NAME_MAX: usize = 16;
    match (level, option) {
        (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => TCP_CA_NAME_MAX,
        _ => size_of::<libc::c_int>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_names_no_broker() {
        assert_eq!(named(None), None);
        assert_eq!(named(Some(OsString::new())), None);
        assert_eq!(named(Some("b.sock".into())), Some("b.sock".into()));
    }
}
