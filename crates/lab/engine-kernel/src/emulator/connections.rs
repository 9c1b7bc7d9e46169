//! The connections to a controller and to switches outside, over TCP, served by the emulator's thread
//! without waiting. Where both ends of a channel are outside, bytes are passed on as they came.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use mptcplab_link::Nanos;
use mptcplab_segment::{Carried, Leaving, Recipient, Sent, Switching};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::connection::{Connection, Far, State};

/// Time from the end of a connection, or from a refused attempt, to the next attempt.
const RETRY_NS: Nanos = 100_000_000;
/// Bytes that wait for an end that does not read, or for the rate of a channel; where there are
/// more, the channel ends.
const MOST_UNSENT: usize = 16 * 1024 * 1024;
/// Connections served before the links have their turn.
const EVENTS_A_TURN: usize = 64;

/// The connections of all channels with an end outside. Their sockets are made once and for all, as
/// the emulator's thread enters no namespace: one whose connection has ended makes the next one.
pub struct Connections {
    each: Vec<Connection>,
    epoll: Epoll,
}

impl Connections {
    /// None yet.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            each: Vec::new(),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
        })
    }

    /// Adds a connection of the channel of a node to a controller, from the calling thread's
    /// namespace.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn add_controller(&mut self, node: usize, address: SocketAddr) -> io::Result<()> {
        self.each.push(Connection::to_controller(node, address)?);
        Ok(())
    }

    /// Listens in the calling thread's namespace for the switch of a node. Connections to controllers
    /// have been added before.
    ///
    /// # Errors
    /// When there are no file descriptors left, or something listens there already.
    pub fn add_switch(&mut self, node: usize, address: SocketAddr) -> io::Result<()> {
        let mut switch = Connection::from_switch(node, address)?;
        if let Some(controller) = self.each.iter_mut().find(|one| one.node == node) {
            // It begins when the switch has come.
            controller.state = State::CLOSED;
            controller.is_relayed = true;
            switch.is_relayed = true;
        }
        if let Far::Switch { listener } = &switch.far {
            let key = 2 * self.each.len() as u64 + 1;
            let event = EpollEvent::new(EpollFlags::EPOLLIN, key);
            self.epoll.add(listener, event)?;
        }
        self.each.push(switch);
        Ok(())
    }

    /// Whether something has come on every connection.
    pub(super) fn are_heard(&self) -> bool {
        self.each.iter().all(|one| one.state == State::Heard)
    }

    /// The time of the next attempt to connect.
    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        self.each.iter().filter_map(|one| one.state.retry()).min()
    }

    /// Goes on with a clock that shows so much less.
    pub(super) fn set_back(&mut self, by_ns: Nanos) {
        for one in &mut self.each {
            if let Some(at_ns) = one.state.retry() {
                one.state = State::retry_at(at_ns.saturating_sub(by_ns));
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
            if self.each[index].state.retry().is_some_and(|at| at <= now) {
                self.connect(now, index)?;
            }
        }
        let mut events = [EpollEvent::empty(); EVENTS_A_TURN];
        let ready = self.epoll.wait(&mut events, EpollTimeout::ZERO)?;
        for event in &events[..ready] {
            let index = (event.data() / 2) as usize;
            match event.data() % 2 {
                0 => self.serve(now, index, switching, sent)?,
                _ => self.accept(now, index, switching, sent)?,
            }
        }
        for leaving in switching.take_leaving() {
            match leaving {
                Leaving::Message(to, message) => {
                    let found = self.each.iter_mut().find(|one| one.is_far(to));
                    found.into_iter().for_each(|one| one.say(&message));
                }
                Leaving::Close(node) => self.close_channel(now, node)?,
            }
        }
        for index in 0..self.each.len() {
            let one = &mut self.each[index];
            if one.unsent.is_empty() {
                continue;
            }
            if one.flush().is_err() || one.unsent.len() > MOST_UNSENT {
                self.end(now, index, switching)?;
            } else if one.state.is_open() {
                self.watch(index)?;
            }
        }
        Ok(())
    }

    fn connect(&mut self, now: Nanos, index: usize) -> io::Result<()> {
        let one = &mut self.each[index];
        one.state = match one.connect() {
            Ok(()) => State::Connecting,
            Err(_) => State::retry_at(now.saturating_add(RETRY_NS)),
        };
        match &one.socket {
            Some(socket) if one.state == State::Connecting => {
                let event = EpollEvent::new(EpollFlags::EPOLLOUT, 2 * index as u64);
                Ok(self.epoll.add(socket, event)?)
            }
            _ => Ok(()),
        }
    }

    /// Takes the connection of a switch. A switch that comes again has lost the one before.
    fn accept(
        &mut self,
        now: Nanos,
        index: usize,
        switching: &mut Switching,
        sent: &mut Vec<Sent>,
    ) -> io::Result<()> {
        let Some(socket) = self.each[index].accept()? else {
            return Ok(());
        };
        self.end(now, index, switching)?;
        let node = self.each[index].node;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, 2 * index as u64);
        self.epoll.add(&socket, event)?;
        let one = &mut self.each[index];
        one.socket = Some(socket);
        one.state = State::Silent;
        if !one.is_relayed {
            switching.connect(now, node, sent);
            return Ok(());
        }
        let controller = Recipient::Controller(node);
        if let Some(partner) = self.each.iter_mut().find(|one| one.is_far(controller)) {
            partner.state = State::retry_at(now);
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
            State::Connecting if one.is_refused() => {
                self.close(index)?;
                self.each[index].state = State::retry_at(now.saturating_add(RETRY_NS));
                Ok(())
            }
            State::Connecting => {
                one.state = State::Silent;
                switching.connect(now, one.node, sent);
                self.watch(index)
            }
            State::Silent | State::Heard => {
                let to = one.near();
                let pass = |message: Carried| switching.receive_message(now, to, message);
                let is_over = one.read(pass).is_err();
                if is_over || switching.queued_bytes(now, to) > MOST_UNSENT as u64 {
                    return self.end(now, index, switching);
                }
                Ok(())
            }
        }
    }

    /// Watches for what comes, and for room where something waits to be sent.
    fn watch(&self, index: usize) -> io::Result<()> {
        let one = &self.each[index];
        let mut flags = EpollFlags::EPOLLIN;
        flags.set(EpollFlags::EPOLLOUT, !one.unsent.is_empty());
        let mut event = EpollEvent::new(flags, 2 * index as u64);
        match &one.socket {
            Some(socket) => Ok(self.epoll.modify(socket, &mut event)?),
            None => Ok(()),
        }
    }

    /// Ends the channel of a connection whose far end has gone.
    fn end(&mut self, now: Nanos, index: usize, switching: &mut Switching) -> io::Result<()> {
        if !self.each[index].state.is_open() {
            return Ok(());
        }
        let node = self.each[index].node;
        switching.disconnect(now, node);
        self.close_channel(now, node)
    }

    /// Closes the connections of the channel of a node, after their last words.
    fn close_channel(&mut self, now: Nanos, node: usize) -> io::Result<()> {
        for index in 0..self.each.len() {
            if self.each[index].node == node {
                self.each[index].flush().ok();
                self.close(index)?;
                let one = &mut self.each[index];
                if !one.is_relayed && matches!(one.far, Far::Controller { .. }) {
                    one.state = State::retry_at(now.saturating_add(RETRY_NS));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, index: usize) -> io::Result<()> {
        let one = &mut self.each[index];
        if let (Some(socket), false) = (&one.socket, matches!(one.state, State::Closed { .. })) {
            self.epoll.delete(socket)?;
        }
        one.close()
    }
}

impl AsFd for Connections {
    /// Readable when a connection is to be served.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}

/// Whether an error says only that nothing can be done now.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
