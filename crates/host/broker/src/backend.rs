//! The interface to the path manager, and the running kernel behind it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use mptcplab_linux::interfaces::{Interface, Interfaces};
use mptcplab_subflow::Error;
use mptcplab_subflow::path_manager::{Open, Opening, PathManagerClient};

use crate::StartError;
use crate::options::{Done, Job, OptionRequest};
use crate::wake::WakeFd;

/// Carries out allowed commands about the connections of sockets. No call waits for the peer.
pub trait PathManagerBackend {
    /// A client's socket, held.
    type Socket;

    /// Token and number of subflows of the connection that commands on this socket act on.
    ///
    /// # Errors
    /// As [`PathManagerClient::connection`].
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
    /// As [`PathManagerClient::open_subflow`].
    fn open(
        &mut self,
        socket: &Self::Socket,
        open: &Open,
        interface: u32,
    ) -> Result<Opening, Error>;

    /// Asks the socket for the result of an opening, where events were lost; `None` while it is
    /// under way.
    fn result(&self, opening: &Opening, socket: &Self::Socket) -> Option<Result<u32, Error>>;

    /// Gives up a subflow that is being opened.
    fn abandon(&mut self, opening: &Opening);

    /// Closes a subflow.
    ///
    /// # Errors
    /// As [`PathManagerClient::close_subflow`].
    fn close(&mut self, socket: &Self::Socket, id: u32) -> Result<(), Error>;

    /// Changes a subflow's priority.
    ///
    /// # Errors
    /// As [`PathManagerClient::set_backup`].
    fn set_backup(&mut self, socket: &Self::Socket, id: u32, backup: bool) -> Result<(), Error>;

    /// Announces an address.
    ///
    /// # Errors
    /// As [`PathManagerClient::announce`].
    fn announce(&mut self, socket: &Self::Socket, address: SocketAddr) -> Result<u8, Error>;

    /// Withdraws an address.
    ///
    /// # Errors
    /// As [`PathManagerClient::withdraw`].
    fn withdraw(&mut self, socket: &Self::Socket, id: u8) -> Result<(), Error>;

    /// Begins to read or set an option of a subflow. The result goes to
    /// [`UserState::on_option_done`](crate::user_state::UserState::on_option_done) with this ticket.
    ///
    /// # Errors
    /// [`Error::NeedsBpf`].
    fn begin_option(
        &mut self,
        ticket: u64,
        socket: Self::Socket,
        request: OptionRequest,
    ) -> Result<(), Error>;

    /// Whether there is a connection with this token.
    fn has_connection(&mut self, token: u32) -> bool;
}

/// The running kernel, in the network namespace of the thread that made this.
pub(crate) struct Kernel {
    path_manager: PathManagerClient,
    interfaces: Interfaces,
    options: Options,
    /// Channel for the results of options, and the thread to wake then.
    done: Sender<Done>,
    wake: Arc<WakeFd>,
}

/// The thread that reads and sets options of single subflows, or why there is none.
pub(crate) type Options = Result<Sender<Job>, Error>;

impl Kernel {
    pub(crate) fn new(
        options: Options,
        done: Sender<Done>,
        wake: Arc<WakeFd>,
    ) -> Result<Self, StartError> {
        let path_manager = PathManagerClient::new().map_err(|error| match error {
            Error::NoMptcp => StartError::NoMptcp,
            error => StartError::system("generic netlink", std::io::Error::other(error)),
        })?;
        let interfaces =
            Interfaces::open().map_err(|error| StartError::system("rtnetlink", error))?;
        Ok(Self {
            path_manager,
            interfaces,
            options,
            done,
            wake,
        })
    }

    fn every_interface(&mut self) -> Result<Vec<Interface>, Error> {
        let found = self.interfaces.interfaces();
        found.map_err(|error| Error::kernel("ask for interfaces", &error))
    }
}

impl PathManagerBackend for Kernel {
    type Socket = OwnedFd;

    fn connection(&self, socket: &OwnedFd) -> Result<(u32, usize), Error> {
        let connection = self.path_manager.connection(socket.as_fd())?;
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

    fn open(&mut self, socket: &OwnedFd, open: &Open, interface: u32) -> Result<Opening, Error> {
        self.path_manager
            .open_subflow_over(socket.as_fd(), open, interface)
    }

    fn result(&self, opening: &Opening, socket: &OwnedFd) -> Option<Result<u32, Error>> {
        opening.result(socket.as_fd())
    }

    fn abandon(&mut self, opening: &Opening) {
        self.path_manager.abandon(opening);
    }

    fn close(&mut self, socket: &OwnedFd, id: u32) -> Result<(), Error> {
        self.path_manager.close_subflow(socket.as_fd(), id)
    }

    fn set_backup(&mut self, socket: &OwnedFd, id: u32, backup: bool) -> Result<(), Error> {
        self.path_manager.set_backup(socket.as_fd(), id, backup)
    }

    fn announce(&mut self, socket: &OwnedFd, address: SocketAddr) -> Result<u8, Error> {
        self.path_manager.announce(socket.as_fd(), address)
    }

    fn withdraw(&mut self, socket: &OwnedFd, id: u8) -> Result<(), Error> {
        self.path_manager.withdraw(socket.as_fd(), id)
    }

    fn begin_option(
        &mut self,
        ticket: u64,
        socket: OwnedFd,
        request: OptionRequest,
    ) -> Result<(), Error> {
        let options = self.options.as_ref().map_err(Error::clone)?;
        let job = Job {
            ticket,
            socket,
            request,
            done: self.done.clone(),
            wake: self.wake.clone(),
        };
        let sent = options.send(job);
        sent.map_err(|_| Error::NeedsBpf {
            reason: "the thread that sets options has ended".to_owned(),
        })
    }

    fn has_connection(&mut self, token: u32) -> bool {
        self.path_manager.has_connection(token)
    }
}
