//! Who carries out a program's orders: a broker, or the program itself.

use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::orders::Open;

use crate::client::Client;
use crate::direct::Direct;
use crate::own::connection;
use crate::protocol::{Answer, Order};
use crate::watch::Watch;
use crate::{Error, Interrupt, subflow_option};

/// Names the broker's socket.
const BROKER_VARIABLE: &str = "MPTCPLAB_BROKER";
/// Where a broker of the whole host listens.
const BROKER_PATH: &str = "/run/mptcplab/broker.sock";
/// How long the broker may take for what needs no answer from the peer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Carries out orders about the subflows of one's own connections.
pub struct Manager {
    way: Way,
    interrupt: Option<Interrupt>,
}

enum Way {
    Broker(Client, PathBuf),
    Direct(Box<Direct>),
}

/// The socket that the variable names: none where it is empty.
fn named(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|path| !path.is_empty()).map(PathBuf::from)
}

impl Manager {
    /// By the broker that the variable `MPTCPLAB_BROKER` names; without it by the host's broker, or,
    /// where there is none, by this process itself.
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

    /// By this process itself, which needs CAP_NET_ADMIN over the calling thread's namespace.
    ///
    /// # Errors
    /// [`Error::NotPrivileged`], [`Error::NoMptcp`].
    pub fn direct() -> Result<Self, Error> {
        Ok(Self {
            way: Way::Direct(Box::new(Direct::new()?)),
            interrupt: None,
        })
    }

    /// By the broker at this socket.
    ///
    /// # Errors
    /// [`Error::NoBroker`].
    pub fn broker(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            way: Way::Broker(Client::connect(path)?, path.to_owned()),
            interrupt: None,
        })
    }

    /// The broker's socket; `None` where orders are given to the kernel by this process.
    pub fn broker_path(&self) -> Option<&Path> {
        match &self.way {
            Way::Broker(_, path) => Some(path),
            Way::Direct(_) => None,
        }
    }

    /// From now on waiting ends when `interrupt` says so; a subflow that was being opened is given
    /// up. Watches that are made later take it over.
    pub fn interruptible(&mut self, interrupt: Option<Interrupt>) {
        if let Way::Broker(client, _) = &mut self.way {
            client.interrupt.clone_from(&interrupt);
        }
        self.interrupt = interrupt;
    }

    /// Opens a subflow, waits until the peer has let it join, and gives its id.
    ///
    /// # Errors
    /// As [`Orders::open_subflow`]; [`Error::Refused`], [`Error::TimedOut`], and from a broker
    /// [`Error::Forbidden`], [`Error::LimitReached`], [`Error::TooMany`]; [`Error::Interrupted`].
    pub fn open_subflow(&mut self, socket: impl AsFd, order: &Open) -> Result<u32, Error> {
        let socket = socket.as_fd();
        match &mut self.way {
            Way::Direct(direct) => direct.open_subflow(socket, order, self.interrupt.as_ref()),
            Way::Broker(client, _) => {
                let patience = order.timeout.saturating_add(PATIENCE);
                match client.ask(socket, Order::Open(order.clone()), patience)? {
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
    /// As [`Orders::close_subflow`], and from a broker [`Error::Forbidden`].
    pub fn close_subflow(&mut self, socket: impl AsFd, id: u32) -> Result<(), Error> {
        let socket = socket.as_fd();
        match &mut self.way {
            Way::Direct(direct) => direct.orders.close_subflow(socket, id),
            Way::Broker(client, _) => done(client, socket, Order::Close { subflow: id }),
        }
    }

    /// Makes a subflow a backup, or no longer, and tells the peer (MP_PRIO).
    ///
    /// # Errors
    /// As [`Self::close_subflow`].
    pub fn set_backup(&mut self, socket: impl AsFd, id: u32, backup: bool) -> Result<(), Error> {
        let socket = socket.as_fd();
        let subflow = id;
        match &mut self.way {
            Way::Direct(direct) => direct.orders.set_backup(socket, id, backup),
            Way::Broker(client, _) => done(client, socket, Order::SetBackup { subflow, backup }),
        }
    }

    /// Announces an address to the peer (ADD_ADDR), with a port or without (0); gives its id.
    ///
    /// # Errors
    /// As [`Orders::announce`], and from a broker [`Error::Forbidden`].
    pub fn announce(&mut self, socket: impl AsFd, address: SocketAddr) -> Result<u8, Error> {
        let socket = socket.as_fd();
        match &mut self.way {
            Way::Direct(direct) => direct.orders.announce(socket, address),
            Way::Broker(client, _) => {
                match client.ask(socket, Order::Announce { address }, PATIENCE)? {
                    Answer::Address(id) => Ok(id),
                    _ => Err(unexpected()),
                }
            }
        }
    }

    /// Withdraws an announced address (REMOVE_ADDR); its subflows close.
    ///
    /// # Errors
    /// As [`Orders::withdraw`], and from a broker [`Error::Forbidden`].
    pub fn withdraw(&mut self, socket: impl AsFd, id: u8) -> Result<(), Error> {
        let socket = socket.as_fd();
        match &mut self.way {
            Way::Direct(direct) => direct.orders.withdraw(socket, id),
            Way::Broker(client, _) => done(client, socket, Order::Withdraw { address_id: id }),
        }
    }

    /// The value of an option on one subflow; what anybody is told ([`subflow_option`]) needs no
    /// privilege. Others are read and set by BPF, which is loaded with the first of them: by the
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
        match &mut self.way {
            Way::Direct(direct) => direct.getsockopt(socket, id, level, option, length),
            Way::Broker(client, _) => {
                let order = Order::GetOption {
                    subflow: id,
                    level,
                    option,
                    length,
                };
                match client.ask(socket, order, PATIENCE)? {
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
        match &mut self.way {
            Way::Direct(direct) => direct.setsockopt(socket, id, level, option, value),
            Way::Broker(client, _) => {
                let order = Order::SetOption {
                    subflow: id,
                    level,
                    option,
                    value: value.to_vec(),
                };
                done(client, socket, order)
            }
        }
    }

    /// What happens to a connection from now on.
    ///
    /// # Errors
    /// As [`own::connection`](crate::connection); [`Error::NoBroker`], [`Error::TooMany`].
    pub fn events(&mut self, socket: impl AsFd) -> Result<Watch, Error> {
        let socket = socket.as_fd();
        let interrupt = self.interrupt.clone();
        match &mut self.way {
            Way::Direct(direct) => direct.events(socket, interrupt),
            Way::Broker(_, path) => {
                // A talk of its own: from now on events come over it.
                let mut client = Client::connect(path)?;
                client.interrupt.clone_from(&interrupt);
                done(&mut client, socket, Order::Watch {})?;
                Ok(Watch::by_broker(socket, &connection(socket)?, client))
            }
        }
    }
}

fn done(client: &mut Client, socket: BorrowedFd<'_>, order: Order) -> Result<(), Error> {
    match client.ask(socket, order, PATIENCE)? {
        Answer::Nothing {} => Ok(()),
        _ => Err(unexpected()),
    }
}

pub(crate) fn unexpected() -> Error {
    Error::Protocol {
        reason: "the broker's answer is to something else".to_owned(),
    }
}

/// How many bytes the kernel wants for an option of a subflow: just those of a number, but for the
/// one that is a name.
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
