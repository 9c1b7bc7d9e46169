//! The connections of switches to a controller outside, over TCP, served by the emulator's thread
//! without waiting.

use std::io::{self, ErrorKind, Read};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use mptcplab_link::Nanos;
use mptcplab_openflow::{Framer, Message};
use mptcplab_segment::{Leaving, Sent, Switching};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Time from the end of a connection, or from a refused attempt, to the next attempt.
const RETRY_NS: Nanos = 100_000_000;
/// Bytes taken from a connection before others and the links have their turn.
const READ_A_TURN: usize = 64 * 1024;
/// Bytes that wait for a controller that does not read; where there are more, its connection ends.
const MOST_UNSENT: usize = 16 * 1024 * 1024;
/// Connections served before the links have their turn.
const EVENTS_A_TURN: usize = 64;

/// The connections of all switches. Made once and for all, as no other thread may enter a namespace
/// for them later: a socket whose connection has ended makes the next one.
pub struct Connections {
    each: Vec<Connection>,
    epoll: Epoll,
}

struct Connection {
    /// The switch.
    node: usize,
    socket: Socket,
    address: SockAddr,
    state: State,
    framer: Framer,
    unsent: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed {
        /// The time of the next attempt.
        retry_ns: Nanos,
    },
    Connecting,
    /// Connected, and nothing has come yet.
    Silent,
    /// A message has come.
    Heard,
}

impl Connections {
    /// Sockets in the calling thread's namespace, one for each node that is a switch.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn open(switches: impl Iterator<Item = usize>, address: SocketAddr) -> io::Result<Self> {
        let open = |node| {
            let kind = Type::STREAM.nonblocking().cloexec();
            let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))?;
            socket.set_tcp_nodelay(true)?;
            Ok(Connection {
                node,
                socket,
                address: address.into(),
                state: State::Closed { retry_ns: 0 },
                framer: Framer::new(u16::MAX),
                unsent: Vec::new(),
            })
        };
        Ok(Self {
            each: switches.map(open).collect::<io::Result<_>>()?,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
        })
    }

    /// Whether the controller has said something on every connection.
    pub(super) fn are_heard(&self) -> bool {
        self.each.iter().all(|one| one.state == State::Heard)
    }

    /// The time of the next attempt to connect.
    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        let each = self.each.iter().filter_map(|one| match one.state {
            State::Closed { retry_ns } => Some(retry_ns),
            _ => None,
        });
        each.min()
    }

    /// Goes on with a clock that shows so much less.
    pub(super) fn set_back(&mut self, by_ns: Nanos) {
        for one in &mut self.each {
            if let State::Closed { retry_ns } = &mut one.state {
                *retry_ns = retry_ns.saturating_sub(by_ns);
            }
        }
    }

    /// Passes on what has come, and sends what leaves.
    pub(super) fn advance(
        &mut self,
        now: Nanos,
        switching: &mut Switching,
        sent: &mut Vec<Sent>,
    ) -> io::Result<()> {
        for index in 0..self.each.len() {
            if let State::Closed { retry_ns } = self.each[index].state
                && retry_ns <= now
            {
                self.connect(now, index)?;
            }
        }
        let mut events = [EpollEvent::empty(); EVENTS_A_TURN];
        let ready = self.epoll.wait(&mut events, EpollTimeout::ZERO)?;
        for event in &events[..ready] {
            self.serve(now, event.data() as usize, switching, sent)?;
        }
        for leaving in switching.take_leaving() {
            match leaving {
                Leaving::Message { node, message } => self.say(node, &message),
                Leaving::Close { node } => {
                    if let Some(index) = self.index_of(node) {
                        // Its last words say why.
                        self.each[index].flush().ok();
                        self.close(now, index)?;
                    }
                }
            }
        }
        for index in 0..self.each.len() {
            if !self.each[index].unsent.is_empty() {
                self.flush(now, index, switching)?;
            }
        }
        Ok(())
    }

    fn index_of(&self, node: usize) -> Option<usize> {
        self.each.iter().position(|one| one.node == node)
    }

    fn connect(&mut self, now: Nanos, index: usize) -> io::Result<()> {
        let one = &mut self.each[index];
        one.state = match one.socket.connect(&one.address) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => State::Closed {
                retry_ns: now.saturating_add(RETRY_NS),
            },
            _ => State::Connecting,
        };
        if one.state == State::Connecting {
            let event = EpollEvent::new(EpollFlags::EPOLLOUT, index as u64);
            self.epoll.add(&one.socket, event)?;
        }
        Ok(())
    }

    /// Serves a connection that is ready.
    fn serve(
        &mut self,
        now: Nanos,
        index: usize,
        switching: &mut Switching,
        sent: &mut Vec<Sent>,
    ) -> io::Result<()> {
        let one = &mut self.each[index];
        match one.state {
            State::Closed { .. } => Ok(()),
            State::Connecting => {
                if one.socket.take_error()?.is_some() {
                    return self.close(now, index);
                }
                one.state = State::Silent;
                switching.connect(now, one.node, sent);
                self.watch(index)
            }
            State::Silent | State::Heard => {
                if one.read(now, switching).is_err() {
                    return self.end(now, index, switching);
                }
                Ok(())
            }
        }
    }

    fn say(&mut self, node: usize, message: &Message) {
        if let Some(index) = self.index_of(node) {
            // A message too long for its length field is not sent at all.
            message.encode(&mut self.each[index].unsent).ok();
        }
    }

    fn flush(&mut self, now: Nanos, index: usize, switching: &mut Switching) -> io::Result<()> {
        let one = &mut self.each[index];
        if !matches!(one.state, State::Silent | State::Heard) {
            one.unsent.clear();
            return Ok(());
        }
        if one.flush().is_err() || one.unsent.len() > MOST_UNSENT {
            return self.end(now, index, switching);
        }
        self.watch(index)
    }

    /// Watches for what comes, and for room where something waits to be sent.
    fn watch(&self, index: usize) -> io::Result<()> {
        let one = &self.each[index];
        let mut flags = EpollFlags::EPOLLIN;
        flags.set(EpollFlags::EPOLLOUT, !one.unsent.is_empty());
        let mut event = EpollEvent::new(flags, index as u64);
        Ok(self.epoll.modify(&one.socket, &mut event)?)
    }

    /// Ends a connection whose controller has gone.
    fn end(&mut self, now: Nanos, index: usize, switching: &mut Switching) -> io::Result<()> {
        switching.disconnect(now, self.each[index].node);
        self.close(now, index)
    }

    fn close(&mut self, now: Nanos, index: usize) -> io::Result<()> {
        let one = &mut self.each[index];
        self.epoll.delete(&one.socket)?;
        dissolve(&one.socket)?;
        one.framer = Framer::new(u16::MAX);
        one.unsent.clear();
        one.state = State::Closed {
            retry_ns: now.saturating_add(RETRY_NS),
        };
        Ok(())
    }
}

impl AsFd for Connections {
    /// Readable when a connection is to be served.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}

impl Connection {
    /// Takes what has come; an error where the connection has ended or is to end.
    fn read(&mut self, now: Nanos, switching: &mut Switching) -> io::Result<()> {
        let mut buffer = [0; READ_A_TURN];
        let length = match self.socket.read(&mut buffer) {
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
                Ok(message) => switching.receive_message(now, self.node, message),
                // As above: an answer is never too long.
                Err(error) => drop(error.answer(&frame.bytes).encode(&mut self.unsent)),
            }
        }
        Ok(())
    }

    /// Sends as much as there is room for.
    fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self
                .socket
                .send_with_flags(&self.unsent, libc::MSG_NOSIGNAL)
            {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) if is_passing(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
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
