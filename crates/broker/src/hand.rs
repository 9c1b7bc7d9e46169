//! What carries out orders, once they are allowed.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use mptcplab_kernel::interfaces::{Interface, Interfaces};
use mptcplab_subflow::Error;
use mptcplab_subflow::orders::{Open, Opening, Orders};

use crate::StartError;
use crate::options::{Done, Job, Wanted};

/// Carries out orders about the connections of sockets. None of its calls waits for the peer.
pub trait Hand {
    /// A client's socket, held.
    type Socket;

    /// Token and number of subflows of the connection that orders may be given about.
    ///
    /// # Errors
    /// Why none may be.
    fn connection(&self, socket: &Self::Socket) -> Result<(u32, usize), Error>;

    /// Names of the interfaces that have an address.
    ///
    /// # Errors
    /// [`Error::Kernel`].
    fn interfaces(&mut self, address: IpAddr) -> Result<Vec<String>, Error>;

    /// Index and own name of the interface that has this or another name; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Kernel`].
    fn interface(&mut self, name: &str) -> Result<Option<(u32, String)>, Error>;

    /// Sends the SYN of a new subflow, over the interface with this index where it is not 0.
    ///
    /// # Errors
    /// As [`Orders::open_subflow`].
    fn open(
        &mut self,
        socket: &Self::Socket,
        order: &Open,
        interface: u32,
    ) -> Result<Opening, Error>;

    /// What became of a subflow, asked for when events were lost.
    fn look(&self, opening: &Opening, socket: &Self::Socket) -> Option<Result<u32, Error>>;

    /// Ends the waiting for a subflow.
    fn abandon(&mut self, opening: &Opening);

    /// Closes a subflow.
    ///
    /// # Errors
    /// As [`Orders::close_subflow`].
    fn close(&mut self, socket: &Self::Socket, id: u32) -> Result<(), Error>;

    /// Changes a subflow's priority.
    ///
    /// # Errors
    /// As [`Orders::set_backup`].
    fn set_backup(&mut self, socket: &Self::Socket, id: u32, backup: bool) -> Result<(), Error>;

    /// Announces an address.
    ///
    /// # Errors
    /// As [`Orders::announce`].
    fn announce(&mut self, socket: &Self::Socket, address: SocketAddr) -> Result<u8, Error>;

    /// Withdraws an address.
    ///
    /// # Errors
    /// As [`Orders::withdraw`].
    fn withdraw(&mut self, socket: &Self::Socket, id: u8) -> Result<(), Error>;

    /// Begins to read or set an option of a subflow. What came of it is told to
    /// [`Desk::option_done`](crate::desk::Desk::option_done) with this ticket.
    ///
    /// # Errors
    /// [`Error::NeedsBpf`].
    fn begin_option(
        &mut self,
        ticket: u64,
        socket: Self::Socket,
        wanted: Wanted,
    ) -> Result<(), Error>;

    /// Whether there is a connection with this token.
    fn has_connection(&mut self, token: u32) -> bool;
}

/// The running kernel, in the namespace of the thread that made it.
pub(crate) struct Kernel {
    orders: Orders,
    interfaces: Interfaces,
    options: Options,
    /// Where what was done with options goes, and what rings then.
    done: Sender<Done>,
    bell: Arc<OwnedFd>,
}

/// Where options of single subflows are set, or why nowhere.
pub(crate) type Options = Result<Sender<Job>, Error>;

impl Kernel {
    pub(crate) fn new(
        options: Options,
        done: Sender<Done>,
        bell: Arc<OwnedFd>,
    ) -> Result<Self, StartError> {
        let orders = Orders::new().map_err(|error| match error {
            Error::NoMptcp => StartError::NoMptcp,
            error => StartError::system("generic netlink", std::io::Error::other(error)),
        })?;
        let interfaces =
            Interfaces::open().map_err(|error| StartError::system("rtnetlink", error))?;
        Ok(Self {
            orders,
            interfaces,
            options,
            done,
            bell,
        })
    }

    fn every_interface(&mut self) -> Result<Vec<Interface>, Error> {
        let found = self.interfaces.interfaces();
        found.map_err(|error| Error::kernel("ask for interfaces", &error))
    }
}

impl Hand for Kernel {
    type Socket = OwnedFd;

    fn connection(&self, socket: &OwnedFd) -> Result<(u32, usize), Error> {
        let connection = self.orders.connection(socket.as_fd())?;
        Ok((connection.token, connection.subflows.len()))
    }

    fn interfaces(&mut self, address: IpAddr) -> Result<Vec<String>, Error> {
        let every = self.interfaces.addresses();
        let every = every.map_err(|error| Error::kernel("ask for addresses", &error))?;
        let with: Vec<u32> = every
            .iter()
            .filter(|one| one.ip == address)
            .map(|one| one.interface)
            .collect();
        if with.is_empty() {
            return Ok(Vec::new());
        }
        let named = self.every_interface()?.into_iter();
        let named = named.filter(|one| with.contains(&one.index));
        Ok(named.map(|one| one.name).collect())
    }

    fn interface(&mut self, name: &str) -> Result<Option<(u32, String)>, Error> {
        let mut every = self.every_interface()?.into_iter();
        let found = every.find(|one| one.is_called(name));
        Ok(found.map(|one| (one.index, one.name)))
    }

    fn open(&mut self, socket: &OwnedFd, order: &Open, interface: u32) -> Result<Opening, Error> {
        self.orders
            .open_subflow_over(socket.as_fd(), order, interface)
    }

    fn look(&self, opening: &Opening, socket: &OwnedFd) -> Option<Result<u32, Error>> {
        opening.look(socket.as_fd())
    }

    fn abandon(&mut self, opening: &Opening) {
        self.orders.abandon(opening);
    }

    fn close(&mut self, socket: &OwnedFd, id: u32) -> Result<(), Error> {
        self.orders.close_subflow(socket.as_fd(), id)
    }

    fn set_backup(&mut self, socket: &OwnedFd, id: u32, backup: bool) -> Result<(), Error> {
        self.orders.set_backup(socket.as_fd(), id, backup)
    }

    fn announce(&mut self, socket: &OwnedFd, address: SocketAddr) -> Result<u8, Error> {
        self.orders.announce(socket.as_fd(), address)
    }

    fn withdraw(&mut self, socket: &OwnedFd, id: u8) -> Result<(), Error> {
        self.orders.withdraw(socket.as_fd(), id)
    }

    fn begin_option(&mut self, ticket: u64, socket: OwnedFd, wanted: Wanted) -> Result<(), Error> {
        let options = self.options.as_ref().map_err(Error::clone)?;
        let job = Job {
            ticket,
            socket,
            wanted,
            done: self.done.clone(),
            bell: self.bell.clone(),
        };
        let sent = options.send(job);
        sent.map_err(|_| Error::NeedsBpf {
            reason: "the thread that sets options has ended".to_owned(),
        })
    }

    fn has_connection(&mut self, token: u32) -> bool {
        self.orders.has_connection(token)
    }
}
