//! How a session ends otherwise than by the end of both directions, and its last acknowledgement.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use nix::sys::signal::Signal;

use super::Session;
use crate::failure::Failure;
use crate::waiting::{deadline, ready};

impl Session<'_> {
    /// Tells whether only received bytes are still written out.
    pub(super) fn ending(&self) -> bool {
        self.quitting || self.interrupted.is_some() || self.failure.is_some()
    }

    /// Ends the session once what has been received is written.
    pub(super) fn end_by(&mut self, failure: Failure) {
        self.outbound.give_up();
        self.inbound.finish_with(self.stream.unread());
        self.failure.get_or_insert(failure);
    }

    /// The time that the peer had after the end of input is over.
    pub(super) fn check_quit(&mut self) {
        if self.quit_at.is_some_and(|at| at <= Instant::now()) {
            self.quit_at = None;
            self.quitting = true;
            self.inbound.finish_with(self.stream.unread());
        }
    }

    /// The first signal ends the copying, the second one everything.
    pub(super) fn interrupt(&mut self, signal: Signal) -> Result<(), Failure> {
        if self.interrupted.replace(signal).is_some() {
            return Err(Failure::Signal(signal));
        }
        self.outbound.give_up();
        self.inbound.finish_with(self.stream.unread());
        Ok(())
    }

    /// The peer had ended its direction, and the connection is no more.
    pub(super) fn died(&mut self) {
        match self.stream.socket.take_error() {
            Ok(Some(error)) | Err(error) => self.end_by(self.lost(error)),
            // All that was sent had arrived: as good as an end of input.
            Ok(None) => self.outbound.give_up(),
        }
    }

    /// Something has moved just now.
    pub(super) fn note_move(&mut self) {
        self.last_move = Instant::now();
        if self.options.idle.is_some() {
            self.acknowledged = self.outbound.moved() - self.unacknowledged();
        }
    }

    pub(super) fn check_idle(&mut self) -> Result<(), Failure> {
        let Some(idle) = self.options.idle else {
            return Ok(());
        };
        if self.last_move.elapsed() < idle {
            return Ok(());
        }
        // A slow path may carry for long what the kernel took in an instant.
        if self.outbound.moved() - self.unacknowledged() > self.acknowledged {
            self.note_move();
            return Ok(());
        }
        let stuck = self.unacknowledged() + self.outbound.held() as u64;
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
    pub(super) fn lost(&self, error: std::io::Error) -> Failure {
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
    pub(super) fn delivered(&mut self) -> Result<(), Failure> {
        let (mut until, mut least) = (None, u64::MAX);
        let mut pause = Duration::from_millis(1);
        loop {
            let left = self.unacknowledged();
            if left < least {
                (until, least) = (deadline(self.options.idle), left);
            }
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
            ready(
                self.signals.as_fd(),
                PollFlags::POLLIN,
                deadline(Some(pause)),
                self.signals,
            )?;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Bytes that the peer has not acknowledged, of those that were handed over: the kernel counts
    /// one too many on a connection that fell back to TCP and over which nothing has gone yet.
    fn unacknowledged(&self) -> u64 {
        let told = self.stream.unacknowledged().unwrap_or(0);
        told.min(self.outbound.moved())
    }
}
