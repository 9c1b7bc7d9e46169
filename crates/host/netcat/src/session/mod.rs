//! The loop that copies in both directions of one connection.

mod endings;

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use nix::sys::signal::Signal;

use crate::account::Transfer;
use crate::descriptor::Standard;
use crate::failure::Failure;
use crate::relay::{Fault, Relay, Turn};
use crate::signals::Signals;
use crate::stream::Stream;
use crate::subflows::Handle;
use crate::waiting::{Poll, deadline};

/// Options of the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionOptions {
    /// The connection was accepted: it ends with the peer.
    pub(crate) listen: bool,
    /// Standard input is read.
    pub(crate) reads_input: bool,
    /// The sending side is shut down at the end of input.
    pub(crate) half_close: bool,
    /// Time that the peer has after the end of input.
    pub(crate) quit_after: Option<Duration>,
    /// Timeout of a connection on which nothing moves.
    pub(crate) idle: Option<Duration>,
}

/// Copies until both directions have ended, and the peer has acknowledged everything.
pub(crate) fn carry(
    stream: &Stream,
    standard: &Standard,
    options: SessionOptions,
    signals: &Signals,
    beside: Option<&Handle>,
) -> Transfer {
    let began = Instant::now();
    let relays = Relay::outbound(
        (standard.input.as_fd(), standard.input_kind),
        stream.as_fd(),
    )
    .and_then(|out| {
        let sink = (standard.output.as_fd(), standard.output_kind);
        Ok((out, Relay::inbound(stream.as_fd(), sink)?))
    });
    let (sent, received, result) = match relays {
        Err(error) => (0, 0, Err(Failure::of("copy")(error))),
        Ok((outbound, inbound)) => {
            let mut session = Session {
                stream,
                standard,
                options,
                signals,
                beside,
                outbound,
                inbound,
                last_move: began,
                acknowledged: 0,
                quit_at: None,
                quitting: false,
                interrupted: None,
                failure: None,
            };
            let result = session.run();
            (session.outbound.moved(), session.inbound.moved(), result)
        }
    };
    Transfer {
        sent,
        received,
        lasted: began.elapsed(),
        result,
    }
}

struct Session<'a> {
    stream: &'a Stream,
    standard: &'a Standard,
    options: SessionOptions,
    signals: &'a Signals,
    beside: Option<&'a Handle>,
    outbound: Relay<'a>,
    inbound: Relay<'a>,
    /// Time of the last progress: in a direction, or from the kernel to the peer.
    last_move: Instant,
    /// Bytes that the peer had acknowledged then.
    acknowledged: u64,
    /// When it ends because the input has ended.
    quit_at: Option<Instant>,
    quitting: bool,
    interrupted: Option<Signal>,
    /// The failure with which it ends once all received bytes are written.
    failure: Option<Failure>,
}

impl Session<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        if !self.options.reads_input {
            self.outbound.give_up();
            self.tell_input_ended();
        }
        loop {
            let before = self.outbound.moved() + self.inbound.moved();
            let busy = self.turns()?;
            if self.outbound.moved() + self.inbound.moved() != before {
                self.note_move();
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

    /// Gives each direction a turn; true where one of them could go on at once.
    fn turns(&mut self) -> Result<bool, Failure> {
        let mut busy = false;
        if !self.outbound.ended() {
            match self.outbound.turn() {
                Ok(turn) => {
                    busy |= turn == Turn::Busy;
                    if turn == Turn::Ended {
                        self.input_ended()?;
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

    fn input_ended(&mut self) -> Result<(), Failure> {
        self.tell_input_ended();
        self.quit_at = deadline(self.options.quit_after);
        if self.options.half_close {
            let told = self.stream.end_sending();
            told.map_err(Failure::of("end of sending"))?;
        }
        Ok(())
    }

    fn tell_input_ended(&self) {
        if let Some(beside) = self.beside {
            beside.input_ended();
        }
    }

    /// Waits until a direction can go on.
    fn wait(&mut self, busy: bool) -> Result<(), Failure> {
        let (reads_input, sends) = self.outbound.waits_for();
        let (receives, writes_output) = self.inbound.waits_for();
        let mut events = PollFlags::empty();
        events.set(PollFlags::POLLOUT, sends);
        events.set(PollFlags::POLLIN, receives);
        // While only standard input is awaited, the end of the connection must still be noticed.
        let watched = !events.is_empty() || self.inbound.ended();
        // The peer has left: only input that can be read at once is still sent.
        let leaves = self.options.listen && !self.options.half_close && self.inbound.ended();
        let until = if busy || leaves && reads_input {
            Some(Instant::now())
        } else {
            let idle = self.options.idle;
            let idle = idle.and_then(|idle| self.last_move.checked_add(idle));
            idle.into_iter().chain(self.quit_at).min()
        };
        let (input, output) = (self.standard.input.as_fd(), self.standard.output.as_fd());
        let mut poll = Poll::default();
        poll.add(self.signals.as_fd(), PollFlags::POLLIN);
        let connection = poll.add_if(watched, self.stream.as_fd(), events);
        let input = poll.add_if(reads_input, input, PollFlags::POLLIN);
        let output = poll.add_if(writes_output, output, PollFlags::POLLOUT);
        let polled = poll.until(until).map_err(Failure::of("wait"))?;
        let flags = polled.flags(connection);
        let gone = flags.intersects(PollFlags::POLLERR | PollFlags::POLLHUP);
        let has = |flag| gone || flags.contains(flag);
        let (readable, writable) = (has(PollFlags::POLLIN), has(PollFlags::POLLOUT));
        let (input_ready, output_ready) = (polled.any(input), polled.any(output));
        self.outbound.woken(input_ready, writable);
        self.inbound.woken(readable, output_ready);
        if let Some(signal) = self.signals.take() {
            return self.interrupt(signal);
        }
        if events.is_empty() && polled.any(connection) {
            self.died();
        } else if leaves && reads_input && !input_ready && self.outbound.held() == 0 {
            self.outbound.give_up();
        }
        self.check_quit();
        self.check_idle()
    }
}
