//! One connection of which both ends are ours: the client's end on the calling thread, the
//! server's on one of its own.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use mptcplab_record::Transfer;
use nix::poll::PollFlags;
use socket2::Socket;

use super::failure::failed_to;
use super::flow::Flow;
use super::rendezvous::{Peer, Rendezvous};
use super::socket;
use super::stop::{Stop, Wake, wait_on};
use crate::run_clock::RunClock;
use crate::telemetry::told_by_socket;
use mptcplab_linux::describe;
use mptcplab_traffic::{Failure, connecting};

/// One end of a connection, while it is spoken on.
pub(super) struct End<'a> {
    socket: &'a Socket,
    flow: &'a Flow,
    cancel: &'a Stop,
    deadline: Option<Instant>,
}

impl End<'_> {
    /// Reads what there is, waiting for at least one byte; 0 at the end of the stream.
    pub(super) fn read(&self, buffer: &mut [u8]) -> Result<usize, Failure> {
        self.retry("receive", PollFlags::POLLIN, |mut socket| {
            socket.read(buffer)
        })
    }

    /// Writes some of `bytes`, waiting until at least one can be.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<usize, Failure> {
        self.retry("send", PollFlags::POLLOUT, |socket| {
            socket.send_with_flags(bytes, libc::MSG_NOSIGNAL)
        })
    }

    /// Writes all of `bytes`.
    pub(super) fn write_all(&self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            bytes = &bytes[self.write(bytes)?..];
        }
        Ok(())
    }

    /// Time since the begin of the run.
    pub(super) fn now_ns(&self) -> Nanos {
        self.flow.recorder.now()
    }

    /// Waits until this moment of the run, unless the conversation ends before.
    pub(super) fn sleep_until(&self, t_ns: Nanos) -> Result<(), Failure> {
        let time = self.flow.instant(t_ns);
        let until = self.deadline.map_or(time, |deadline| deadline.min(time));
        let stops = [&self.flow.stop, self.cancel];
        wait_on(self.clock(), None, &stops, Some(until)).map_err(failed_to("wait"))?;
        self.ended().map_or(Ok(()), Err)
    }

    /// Closes the sending direction.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.socket
            .shutdown(std::net::Shutdown::Write)
            .map_err(failed_to("shut down"))
    }

    /// Ends the other end too: there is nothing more to wait for.
    pub(super) fn cancel_other(&self) {
        self.cancel.request("the other end had ended");
    }

    /// The socket, for its options.
    pub(super) fn socket(&self) -> &Socket {
        self.socket
    }

    fn retry(
        &self,
        what: &str,
        events: PollFlags,
        mut operation: impl FnMut(&Socket) -> io::Result<usize>,
    ) -> Result<usize, Failure> {
        loop {
            if let Some(failure) = self.ended() {
                return Err(failure);
            }
            if self.clock().stands() {
                self.clock().rest();
                continue;
            }
            match operation(self.socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => return result.map_err(failed_to(what)),
            }
            let stops = [&self.flow.stop, self.cancel];
            let ready = Some((self.socket.as_fd(), events));
            wait_on(self.clock(), ready, &stops, self.deadline).map_err(failed_to(what))?;
        }
    }

    /// Looked at before each operation, so that a busy connection ends in time too.
    fn ended(&self) -> Option<Failure> {
        let over = self
            .deadline
            .is_some_and(|time| time <= self.clock().instant());
        given_up(self.flow, self.cancel).or_else(|| over.then_some(Failure::Deadline))
    }

    fn clock(&self) -> &RunClock {
        self.flow.recorder.clock()
    }
}

fn given_up(flow: &Flow, cancel: &Stop) -> Option<Failure> {
    let stopped = flow.stop.reason().map(Failure::Stopped);
    stopped.or_else(|| cancel.reason().map(|_| Failure::Cancelled))
}

/// Connects, lets both ends speak, writes the final states and closes both.
///
/// The calling thread is in the client's namespace. The failure is the one that came first in
/// cause: an end that was only cancelled has none of its own.
pub(super) fn converse(
    flow: &Flow,
    rendezvous: &Rendezvous<'_>,
    transfer: &mut Transfer<'_>,
    deadline: Option<Instant>,
    client: impl FnOnce(&End<'_>) -> Result<(), Failure>,
    server: impl FnOnce(&End<'_>) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let cancel = Stop::new().map_err(failed_to("open a pipe"))?;
    let traffic = &flow.traffic;
    let own = socket::open_for(traffic, &traffic.congestion_control)
        .map_err(failed_to("open a socket"))?;
    let ends = Ends {
        flow,
        cancel: &cancel,
        deadline,
    };
    let peer = Peer::default();
    let serve = || {
        let stops = [&flow.stop, &cancel];
        match rendezvous.take(&peer, &stops, deadline, || given_up(flow, &cancel)) {
            Ok(socket) => {
                let result = ends.speak(&socket, server);
                (Some(socket), result)
            }
            Err(failure) => {
                cancel.request("the connection was not accepted");
                (None, Err(failure))
            }
        }
    };
    // The server's thread is there before the client connects, as a server is: the client, once
    // connected, has nothing to do but to speak.
    let (own_result, served) = thread::scope(|scope| {
        let served = scope.spawn(serve);
        if deadline.is_none() {
            transfer.start_ns = flow.recorder.now();
        }
        let connected = connect(flow, &own, deadline).map(|local| {
            transfer.connected_ns = Some(flow.recorder.now());
            transfer.source = Some(local);
            // Every middlebox has seen the client's SYN.
            rendezvous.tell(&peer, flow.translations.outermost(local));
            let registered = flow.applications.take_over(flow, &own);
            (ends.speak(&own, client), registered)
        });
        if connected.is_err() {
            cancel.request("the client has not connected");
        }
        let served = served.join();
        (connected.map(|(result, _)| result), served)
    });
    let own_result = own_result?;
    let (accepted, other_result) = served.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    flow.write_final_states(transfer, &own, accepted.as_ref());
    let result = first_cause(own_result, other_result);
    if deadline.is_some() || result.is_err() {
        // Data that is still under way would only disturb the flows that come after.
        for socket in [Some(&own), accepted.as_ref()].into_iter().flatten() {
            // Without it the kernel only takes longer.
            let _ = socket.set_linger(Some(Duration::ZERO));
        }
    }
    result
}

/// State that both ends share.
struct Ends<'a> {
    flow: &'a Flow,
    cancel: &'a Stop,
    deadline: Option<Instant>,
}

impl Ends<'_> {
    /// Plays one end's role; where it fails, the other end has nothing more to wait for.
    fn speak(
        &self,
        socket: &Socket,
        role: impl FnOnce(&End<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let &Self {
            flow,
            cancel,
            deadline,
        } = self;
        role(&End {
            socket,
            flow,
            cancel,
            deadline,
        })
        .inspect_err(|_| cancel.request("the other end has failed"))
    }
}

fn first_cause(one: Result<(), Failure>, other: Result<(), Failure>) -> Result<(), Failure> {
    match (one, other) {
        (Err(Failure::Cancelled), Ok(())) | (Ok(()), Err(Failure::Cancelled)) => Ok(()),
        (Err(Failure::Cancelled), other) => other,
        (one, Err(Failure::Cancelled)) => one,
        (one, other) => one.and(other),
    }
}

/// Connects as an application does: one attempt, with the kernel's own retries.
fn connect(flow: &Flow, socket: &Socket, deadline: Option<Instant>) -> Result<SocketAddr, Failure> {
    let (source, target) = (flow.traffic.source, flow.target());
    let operation = connecting(target, source);
    let clock = flow.recorder.clock();
    let begin = clock.instant();
    let elapsed = || (clock.instant() - begin).as_secs_f64();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::TimedOut => Failure::timed_out(&operation, &describe(&error), elapsed()),
        _ => Failure::Io(operation.clone(), describe(&error)),
    };
    if let Some(source) = source {
        socket
            .bind(&socket::for_socket(
                &flow.traffic,
                SocketAddr::new(source, 0),
            ))
            .map_err(failed)?;
    }
    socket.set_nonblocking(true).map_err(failed)?;
    match socket.connect(&socket::for_socket(&flow.traffic, target)) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
            let writable = Some((socket.as_fd(), PollFlags::POLLOUT));
            match wait_on(clock, writable, &[&flow.stop], deadline).map_err(failed)? {
                Wake::Ready => socket
                    .take_error()
                    .and_then(|error| error.map_or(Ok(()), Err)),
                Wake::Stopped(reason) => return Err(Failure::Stopped(reason)),
                Wake::Deadline => {
                    return Err(Failure::no_answer(&operation, elapsed()));
                }
            }
        }
        result => result,
    }
    .map_err(failed)?;
    let local = socket.local_addr().map_err(failed)?;
    told_by_socket(&local).ok_or_else(|| Failure::Other(format!("{operation}: no local address")))
}
