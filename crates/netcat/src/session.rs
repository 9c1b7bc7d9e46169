//! The loop that copies in both directions of one connection.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::Signal;

use crate::descriptor::Standard;
use crate::failure::Failure;
use crate::lane::{Fault, Lane, Turn};
use crate::signals::Signals;
use crate::steer::Handle;
use crate::stream::Stream;
use crate::waiting::{deadline, poll_until};

/// How the loop behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The connection was accepted: it ends with the peer.
    pub(crate) listen: bool,
    /// The end of input is told to the peer.
    pub(crate) half_close: bool,
    /// How long nothing may move.
    pub(crate) idle: Option<Duration>,
}

/// What went over a connection, and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Bytes handed to the kernel.
    pub(crate) sent: u64,
    /// Bytes written to standard output.
    pub(crate) received: u64,
    /// From the first to the last of it.
    pub(crate) lasted: Duration,
    /// Good, or why not.
    pub(crate) result: Result<(), Failure>,
}

/// Copies until both directions have ended, and the peer has acknowledged everything.
pub(crate) fn carry(
    stream: &Stream,
    standard: &Standard,
    terms: Terms,
    signals: &Signals,
    beside: Option<&Handle>,
) -> Ended {
    let began = Instant::now();
    let lanes = Lane::outbound(
        (standard.input.as_fd(), standard.input_kind),
        stream.as_fd(),
    )
    .and_then(|out| {
        let sink = (standard.output.as_fd(), standard.output_kind);
        Ok((out, Lane::inbound(stream.as_fd(), sink)?))
    });
    let (sent, received, result) = match lanes {
        Err(error) => (0, 0, Err(Failure::of("copy")(error))),
        Ok((outbound, inbound)) => {
            let mut session = Session {
                stream,
                standard,
                terms,
                signals,
                beside,
                outbound,
                inbound,
                last_move: began,
                interrupted: None,
                failure: None,
            };
            let result = session.run();
            (session.outbound.moved(), session.inbound.moved(), result)
        }
    };
    Ended {
        sent,
        received,
        lasted: began.elapsed(),
        result,
    }
}

struct Session<'a> {
    stream: &'a Stream,
    standard: &'a Standard,
    terms: Terms,
    signals: &'a Signals,
    beside: Option<&'a Handle>,
    outbound: Lane<'a>,
    inbound: Lane<'a>,
    last_move: Instant,
    interrupted: Option<Signal>,
    /// Why it will end, once what was received is written.
    failure: Option<Failure>,
}

impl Session<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        loop {
            let before = self.outbound.moved() + self.inbound.moved();
            let busy = self.turns()?;
            if self.outbound.moved() + self.inbound.moved() != before {
                self.last_move = Instant::now();
            }
            if self.outbound.ended() && self.inbound.ended() {
                return match (self.failure.take(), self.interrupted) {
                    (Some(failure), _) => Err(failure),
                    (None, Some(signal)) => Err(Failure::Signal(signal)),
                    (None, None) => self.delivered(),
                };
            }
            self.wait(busy)?;
        }
    }

    /// A turn of each direction; whether one of them could go on at once.
    fn turns(&mut self) -> Result<bool, Failure> {
        let mut busy = false;
        if !self.outbound.ended() {
            match self.outbound.turn() {
                Ok(turn) => {
                    busy |= turn == Turn::Busy;
                    if let (Turn::Ended, Some(beside)) = (turn, self.beside) {
                        beside.input_ended();
                    }
                    if turn == Turn::Ended && self.terms.half_close {
                        let told = self.stream.end_sending();
                        told.map_err(Failure::of("end of sending"))?;
                    }
                }
                Err(Fault::Source(error)) => self.end_by(Failure::Io {
                    what: "standard input".to_owned(),
                    error,
                }),
                Err(Fault::Sink(error)) => self.end_by(self.lost(error)),
            }
        }
        if !self.inbound.ended() {
            match self.inbound.turn() {
                Ok(turn) => busy |= turn == Turn::Busy,
                Err(Fault::Source(error)) => {
                    self.end_by(self.lost(error));
                    self.inbound.give_up();
                }
                Err(Fault::Sink(error)) => return Err(Failure::Output(error)),
            }
            if self.ending() && self.inbound.held() == 0 && self.stream.unread() == 0 {
                self.inbound.give_up();
            }
        }
        Ok(busy)
    }

    /// Waits until something can be moved.
    fn wait(&mut self, busy: bool) -> Result<(), Failure> {
        let (input, output_room) = (self.outbound.waits_for().0, self.inbound.waits_for().1);
        let mut events = PollFlags::empty();
        events.set(PollFlags::POLLOUT, self.outbound.waits_for().1);
        events.set(PollFlags::POLLIN, self.inbound.waits_for().0);
        // Where only standard input is waited for, a connection that dies must still be noticed.
        let watched = !events.is_empty() || self.inbound.ended();
        let leaves = self.terms.listen && !self.terms.half_close && self.inbound.ended();
        let until = if busy || leaves && input {
            Some(Instant::now())
        } else {
            self.terms
                .idle
                .and_then(|idle| self.last_move.checked_add(idle))
        };
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        let mut add = |wanted: bool, fd, events| {
            wanted.then(|| {
                fds.push(PollFd::new(fd, events));
                fds.len() - 1
            })
        };
        let connection = add(watched, self.stream.as_fd(), events);
        let input_at = add(input, self.standard.input.as_fd(), PollFlags::POLLIN);
        let output_at = add(
            output_room,
            self.standard.output.as_fd(),
            PollFlags::POLLOUT,
        );
        let flags = poll_until(&mut fds, until).map_err(Failure::of("wait"))?;
        let any = |at: Option<usize>| at.is_some_and(|at| !flags[at].is_empty());
        let input_ready = any(input_at);
        let (readable, writable) = connection.map_or((false, false), |at| {
            let gone = flags[at].intersects(PollFlags::POLLERR | PollFlags::POLLHUP);
            let has = |flag| gone || flags[at].contains(flag);
            (has(PollFlags::POLLIN), has(PollFlags::POLLOUT))
        });
        let output_ready = any(output_at);
        self.outbound.woken(input_ready, writable);
        self.inbound.woken(readable, output_ready);
        if let Some(signal) = self.signals.take() {
            return self.interrupt(signal);
        }
        if events.is_empty() && any(connection) {
            self.died();
        } else if leaves && input && !input_ready && self.outbound.held() == 0 {
            // The peer has left, and there is nothing for it just now.
            self.outbound.give_up();
        }
        self.check_idle()
    }

    /// Whether only what was received is still written out.
    fn ending(&self) -> bool {
        self.interrupted.is_some() || self.failure.is_some()
    }

    /// Ends the session once what has been received is written.
    fn end_by(&mut self, failure: Failure) {
        self.outbound.give_up();
        self.inbound.finish_with(self.stream.unread());
        self.failure.get_or_insert(failure);
    }

    /// The first signal ends the copying, the second one everything.
    fn interrupt(&mut self, signal: Signal) -> Result<(), Failure> {
        if self.interrupted.replace(signal).is_some() {
            return Err(Failure::Signal(signal));
        }
        self.outbound.give_up();
        self.inbound.finish_with(self.stream.unread());
        Ok(())
    }

    /// The peer had ended its direction, and the connection is no more.
    fn died(&mut self) {
        match self.stream.socket.take_error() {
            Ok(Some(error)) | Err(error) => self.end_by(self.lost(error)),
            // All that was sent had arrived: as good as an end of input.
            Ok(None) => self.outbound.give_up(),
        }
    }

    fn check_idle(&mut self) -> Result<(), Failure> {
        let Some(idle) = self.terms.idle else {
            return Ok(());
        };
        if self.last_move.elapsed() < idle {
            return Ok(());
        }
        let stuck = self.stream.unacknowledged().unwrap_or(0) + self.outbound.held() as u64;
        let unwritten = self.stream.unread() + self.inbound.held() as u64;
        if stuck + unwritten == 0 {
            self.outbound.give_up();
            self.inbound.give_up();
            return Ok(());
        }
        Err(Failure::Sentence(format!(
            "{}: nothing moved for {} s: {stuck} bytes are not acknowledged, {unwritten} not written out",
            self.stream.peer,
            idle.as_secs_f64()
        )))
    }

    /// The connection has failed.
    fn lost(&self, error: std::io::Error) -> Failure {
        Failure::Io {
            what: format!(
                "{} ({} bytes handed over, {} received)",
                self.stream.peer,
                self.outbound.moved(),
                self.inbound.moved()
            ),
            error,
        }
    }

    /// Waits until the peer has acknowledged all that was sent: what the kernel still holds when
    /// the program ends can be lost without a word.
    fn delivered(&mut self) -> Result<(), Failure> {
        let until = deadline(self.terms.idle);
        let mut pause = Duration::from_millis(1);
        loop {
            let left = self.stream.unacknowledged().unwrap_or(0);
            if let Ok(Some(error)) = self.stream.socket.take_error() {
                return Err(self.lost(error));
            }
            if left == 0 {
                return Ok(());
            }
            if until.is_some_and(|at| at <= Instant::now()) {
                return Err(Failure::Sentence(format!(
                    "{}: the last {left} bytes are not acknowledged",
                    self.stream.peer
                )));
            }
            let mut fds = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
            poll_until(&mut fds, deadline(Some(pause))).map_err(Failure::of("wait"))?;
            if let Some(signal) = self.signals.take() {
                return Err(Failure::Signal(signal));
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}
