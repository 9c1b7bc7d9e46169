//! A meeting point of the server's ends of connections with the threads that speak on them.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use socket2::Socket;

use super::failure::failed_to;
use super::stop::{Stop, Wake, wait_on};
use crate::run_clock::RunClock;
use crate::telemetry::told_by_socket;
use mptcplab_traffic::Failure;

/// Longest sleep of a thread before it checks whether it should end.
const LOOK: Duration = Duration::from_millis(20);

/// The connections of a listener. The threads that wait for theirs accept them, one thread at a
/// time: a server that waits for one connection alone is woken up by it, and by nothing else.
pub(super) struct Rendezvous<'a> {
    clock: &'a RunClock,
    listener: &'a Socket,
    lobby: Mutex<Lobby>,
    change: Condvar,
}

#[derive(Default)]
struct Lobby {
    /// Accepted connections by the address of their client, as the server knows it.
    arrived: HashMap<SocketAddr, Socket>,
    /// A thread waits for the listener.
    is_accepting: bool,
}

/// The address of a client, as the server knows it, once it has connected.
#[derive(Default)]
pub(super) struct Peer(OnceLock<SocketAddr>);

impl<'a> Rendezvous<'a> {
    /// That of a listener, which does not block, in a run with this clock.
    pub(super) fn new(listener: &'a Socket, clock: &'a RunClock) -> Self {
        Self {
            clock,
            listener,
            lobby: Mutex::default(),
            change: Condvar::new(),
        }
    }

    /// Tells the thread that waits for `peer` its address.
    pub(super) fn tell(&self, peer: &Peer, address: SocketAddr) {
        let lobby = self.lobby();
        // It is told once.
        let _ = peer.0.set(address);
        if !lobby.arrived.is_empty() {
            self.change.notify_all();
        }
    }

    /// Waits for the server's end of the connection of `peer`.
    pub(super) fn take(
        &self,
        peer: &Peer,
        stops: &[&Stop],
        deadline: Option<Instant>,
        given_up: impl Fn() -> Option<Failure>,
    ) -> Result<Socket, Failure> {
        let mut lobby = self.lobby();
        loop {
            let address = peer.0.get();
            if let Some(socket) = address.and_then(|address| lobby.arrived.remove(address)) {
                return Ok(socket);
            }
            if let Some(failure) = given_up() {
                return Err(failure);
            }
            if deadline.is_some_and(|time| time <= self.clock.instant()) {
                return Err(Failure::Deadline);
            }
            // Of those that have arrived one may be its own, until it knows the address.
            let is_told = address.is_some() || lobby.arrived.is_empty();
            if is_told && !lobby.is_accepting {
                lobby.is_accepting = true;
                drop(lobby);
                let accepted = self.accept(stops, deadline);
                lobby = self.lobby();
                lobby.is_accepting = false;
                self.change.notify_all();
                if let Some((address, socket)) = accepted.map_err(failed_to("accept"))? {
                    lobby.arrived.insert(address, socket);
                }
                continue;
            }
            (lobby, _) = self
                .change
                .wait_timeout(lobby, LOOK)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next connection, unless there is none until then.
    fn accept(
        &self,
        stops: &[&Stop],
        deadline: Option<Instant>,
    ) -> io::Result<Option<(SocketAddr, Socket)>> {
        let readable = Some((self.listener.as_fd(), PollFlags::POLLIN));
        if wait_on(self.clock, readable, stops, deadline)? != Wake::Ready {
            return Ok(None);
        }
        match self.listener.accept() {
            Ok((socket, address)) => {
                socket.set_nonblocking(true)?;
                let address = told_by_socket(&address).ok_or(io::ErrorKind::InvalidData)?;
                Ok(Some((address, socket)))
            }
            // A connection that was reset before it was accepted is its client's to tell.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn lobby(&self) -> MutexGuard<'_, Lobby> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
