//! One connection to a controller or a switch outside.

use std::io::{self, ErrorKind, Read};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use mptcplab_link::Nanos;
use mptcplab_openflow::Framer;
use mptcplab_segment::{Carried, Recipient};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::connections::is_passing;

/// Bytes taken from a connection before others and the links have their turn.
const READ_A_TURN: usize = 64 * 1024;

/// A connection of the channel of a switch.
pub(super) struct Connection {
    /// The switch.
    pub(super) node: usize,
    pub(super) far: Far,
    /// Both ends of the channel are outside, so that there is another connection of this node.
    pub(super) is_relayed: bool,
    /// Of a switch: `None` where it has not come.
    pub(super) socket: Option<Socket>,
    pub(super) state: State,
    framer: Framer,
    pub(super) unsent: Vec<u8>,
}

/// The end at the other side of a connection.
pub(super) enum Far {
    Controller { address: SockAddr },
    Switch { listener: Socket },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed {
        /// The time of the next attempt, if there is to be one.
        retry_ns: Option<Nanos>,
    },
    Connecting,
    /// Connected, and nothing has come yet.
    Silent,
    /// A message has come.
    Heard,
}

impl State {
    pub(super) const CLOSED: Self = Self::Closed { retry_ns: None };

    pub(super) fn retry_at(at_ns: Nanos) -> Self {
        let retry_ns = Some(at_ns);
        Self::Closed { retry_ns }
    }

    pub(super) fn retry(self) -> Option<Nanos> {
        match self {
            Self::Closed { retry_ns } => retry_ns,
            _ => None,
        }
    }

    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Silent | Self::Heard)
    }
}

impl Connection {
    pub(super) fn to_controller(node: usize, address: SocketAddr) -> io::Result<Self> {
        let far = Far::Controller {
            address: address.into(),
        };
        let socket = socket(address)?;
        socket.set_tcp_nodelay(true)?;
        Ok(Self::new(node, far, Some(socket), State::retry_at(0)))
    }

    pub(super) fn from_switch(node: usize, address: SocketAddr) -> io::Result<Self> {
        let listener = socket(address)?;
        listener.bind(&address.into())?;
        listener.listen(1)?;
        Ok(Self::new(
            node,
            Far::Switch { listener },
            None,
            State::CLOSED,
        ))
    }

    fn new(node: usize, far: Far, socket: Option<Socket>, state: State) -> Self {
        Self {
            node,
            far,
            is_relayed: false,
            socket,
            state,
            framer: Framer::new(u16::MAX),
            unsent: Vec::new(),
        }
    }

    /// Whether its far end is this one.
    pub(super) fn is_far(&self, end: Recipient) -> bool {
        match (&self.far, end) {
            (Far::Controller { .. }, Recipient::Controller(node))
            | (Far::Switch { .. }, Recipient::Switch(node)) => node == self.node,
            _ => false,
        }
    }

    /// The end for which its messages are.
    pub(super) fn near(&self) -> Recipient {
        match self.far {
            Far::Controller { .. } => Recipient::Switch(self.node),
            Far::Switch { .. } => Recipient::Controller(self.node),
        }
    }

    /// Begins to connect to the controller.
    pub(super) fn connect(&self) -> io::Result<()> {
        let (Far::Controller { address }, Some(socket)) = (&self.far, &self.socket) else {
            return Ok(());
        };
        match socket.connect(address) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the attempt to connect has failed.
    pub(super) fn is_refused(&self) -> bool {
        let socket = self.socket.as_ref();
        socket.is_some_and(|socket| !matches!(socket.take_error(), Ok(None)))
    }

    /// The connection of a switch that comes.
    pub(super) fn accept(&self) -> io::Result<Option<Socket>> {
        let Far::Switch { listener } = &self.far else {
            return Ok(None);
        };
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(true)?;
                socket.set_tcp_nodelay(true)?;
                Ok(Some(socket))
            }
            Err(error) if is_passing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes what has come; an error where the connection has ended or is to end.
    pub(super) fn read(&mut self, mut pass: impl FnMut(Carried)) -> io::Result<()> {
        let Some(socket) = &mut self.socket else {
            return Ok(());
        };
        let mut buffer = [0; READ_A_TURN];
        let length = match socket.read(&mut buffer) {
            Err(error) if is_passing(&error) => return Ok(()),
            other => other?,
        };
        if length == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.framer.feed(&buffer[..length]);
        let broken = |_| io::Error::from(ErrorKind::InvalidData);
        while let Some(frame) = self.framer.next_frame().map_err(broken)? {
            self.state = State::Heard;
            match frame.message {
                _ if self.is_relayed => pass(Carried::Bytes(frame.bytes)),
                Ok(message) => pass(Carried::Message(message)),
                Err(error) if matches!(self.far, Far::Controller { .. }) => {
                    // An answer is never too long.
                    error.answer(&frame.bytes).encode(&mut self.unsent).ok();
                }
                // A controller answers no errors of switches.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Queues a message for the far end. One of ours for an end that is not there is lost; of a
    /// channel that is relayed it waits, as the far end comes later.
    pub(super) fn say(&mut self, message: &Carried) {
        if !self.state.is_open() && !self.is_relayed {
            return;
        }
        match message {
            Carried::Message(message) => {
                // A message too long for its length field is not sent at all.
                message.encode(&mut self.unsent).ok();
            }
            Carried::Bytes(bytes) => self.unsent.extend(bytes),
        }
    }

    /// Sends as much as there is room for.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Some(socket) = self.socket.as_ref().filter(|_| self.state.is_open()) else {
            return Ok(());
        };
        while !self.unsent.is_empty() {
            match socket.send_with_flags(&self.unsent, libc::MSG_NOSIGNAL) {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) if is_passing(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Ends the connection; a socket to a controller can connect again.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.framer = Framer::new(u16::MAX);
        if self.state != State::Connecting {
            // A refused attempt is followed by another one.
            self.unsent.clear();
        }
        self.state = State::CLOSED;
        match (&self.far, &self.socket) {
            (Far::Controller { .. }, Some(socket)) => dissolve(socket),
            _ => {
                self.socket = None;
                Ok(())
            }
        }
    }
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))
}

/// Makes a socket of TCP one without a connection again: connect(2) to an address of the family
/// AF_UNSPEC.
fn dissolve(socket: &Socket) -> io::Result<()> {
    let nowhere = libc::sockaddr {
        sa_family: libc::AF_UNSPEC as libc::sa_family_t,
        sa_data: [0; 14],
    };
    let length = size_of_val(&nowhere) as libc::socklen_t;
    // SAFETY: plain system call on an open descriptor; the address outlives it.
    match unsafe { libc::connect(socket.as_raw_fd(), &nowhere, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
