//! A meeting point of the server's ends of connections with the threads that have the client's ends.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use socket2::Socket;

use super::flow::Flow;
use super::stop::{Stop, Wake, wait};
use crate::telemetry::told_by_socket;
use mptcplab_traffic::Failure;

/// Longest sleep of a thread before it checks whether it should end.
const LOOK: Duration = Duration::from_millis(20);

/// Accepted connections by the address of their client, as the server knows it.
#[derive(Default)]
pub(super) struct Rendezvous {
    arrived: Mutex<HashMap<SocketAddr, Socket>>,
    arrival: Condvar,
}

impl Rendezvous {
    /// Accepts connections while `clients` runs.
    pub(super) fn accept_during(&self, flow: &Flow, listener: &Socket, clients: impl FnOnce()) {
        let Ok(ended) = Stop::new() else {
            return flow.warn("no file descriptors are left: nothing was sent");
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                if let Err(error) = self.accept(listener, &ended) {
                    flow.warn(&format!(
                        "the server stopped accepting connections: {error}"
                    ));
                }
            });
            clients();
            ended.request("the clients have ended");
        });
    }

    fn accept(&self, listener: &Socket, ended: &Stop) -> io::Result<()> {
        let readable = Some((listener.as_fd(), PollFlags::POLLIN));
        while wait(readable, &[ended], None)? == Wake::Ready {
            match listener.accept() {
                Ok((socket, peer)) => {
                    socket.set_nonblocking(true)?;
                    let peer = told_by_socket(&peer).ok_or(io::ErrorKind::InvalidData)?;
                    let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
                    arrived.insert(peer, socket);
                    self.arrival.notify_all();
                }
                // A connection that was reset before it was accepted is its client's to tell.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for the server's end of the connection whose client has the address `peer`.
    pub(super) fn take(
        &self,
        peer: SocketAddr,
        deadline: Option<Instant>,
        given_up: impl Fn() -> Option<Failure>,
    ) -> Result<Socket, Failure> {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(socket) = arrived.remove(&peer) {
                return Ok(socket);
            }
            if let Some(failure) = given_up() {
                return Err(failure);
            }
            if deadline.is_some_and(|time| time <= Instant::now()) {
                return Err(Failure::Deadline);
            }
            (arrived, _) = self
                .arrival
                .wait_timeout(arrived, LOOK)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
