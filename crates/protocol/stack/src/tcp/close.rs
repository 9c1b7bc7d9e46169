//! Closing a connection (RFC 9293, sections 3.6 and 3.10.4 to 3.10.5).

use mptcplab_wire::{Flags, Options, Segment};

use super::Tcp;
use super::extension::{Carrier, Extension};
use super::outgoing_segment::OutgoingSegment;
use super::progress::{CloseReason, Progress};
use super::state::State;
use super::timers::Timer;
use crate::Nanos;

impl Tcp {
    /// Sends FIN after the data that is queued.
    pub(crate) fn shutdown(&mut self) {
        self.snd.shut();
    }

    /// Ends the connection with a RST; what is queued is lost.
    pub(crate) fn abort(&mut self) -> Progress {
        let mut progress = Progress::default();
        self.abort_with(CloseReason::Aborted, &mut progress);
        progress
    }

    /// The application lets go: what is queued is still sent, and then FIN; data that arrives
    /// from now on, or was not read, is answered with a RST.
    pub(crate) fn orphan(&mut self, now: Nanos) -> Progress {
        let mut progress = Progress::default();
        self.orphaned = true;
        if self.receiver.ready_bytes() > 0 && self.state.may_receive() {
            self.counters.aborted_on_data += 1;
            self.abort_with(CloseReason::Aborted, &mut progress);
            return progress;
        }
        if self.state == State::SynSent {
            self.close(CloseReason::Aborted, &mut progress);
            return progress;
        }
        self.snd.shut();
        if self.state == State::FinWait2 {
            self.limit_fin_wait_2(now);
        }
        progress
    }

    pub(super) fn abort_with(&mut self, reason: CloseReason, progress: &mut Progress) {
        // The RST of an abort before may still have to leave.
        self.due.reset |= !matches!(self.state, State::Closed | State::SynSent | State::TimeWait);
        self.close(reason, progress);
    }

    /// Enters CLOSED. Data that was received in order can still be read, and what was not
    /// acknowledged can be looked at, to send it elsewhere.
    pub(super) fn close(&mut self, reason: CloseReason, progress: &mut Progress) {
        if self.state == State::Closed {
            return;
        }
        // TIME-WAIT was told as closed when it began.
        if self.state != State::TimeWait {
            progress.closed = Some(reason);
        }
        self.state = State::Closed;
        self.timers.clear_all();
        self.receiver.drop_early();
    }

    pub(super) fn reset_segment(&mut self) -> OutgoingSegment {
        self.due.reset = false;
        self.counters.segments_out += 1;
        self.counters.resets_out += 1;
        OutgoingSegment::bare(self.snd.next(), Carrier::Reset)
    }

    pub(super) fn write_reset(&mut self, now: Nanos, extension: &mut impl Extension) -> Segment {
        let mut options = Options {
            timestamps: self.options.timestamps(now),
            ..Options::default()
        };
        self.extend(Carrier::Reset, extension, &mut options);
        Segment {
            source: self.tuple.local,
            destination: self.tuple.remote,
            sequence: self.snd.wire(self.snd.next()),
            acknowledgement: self.receiver.wire(self.receiver.next()),
            flags: Flags {
                rst: true,
                ack: true,
                ..Flags::default()
            },
            window: 0,
            urgent: 0,
            options,
            ecn: Default::default(),
            payload: Default::default(),
        }
    }

    /// Changes the state, as the FIN leaves for the first time.
    pub(super) fn on_fin_sent(&mut self) {
        self.state = match self.state {
            State::CloseWait => State::LastAck,
            _ => State::FinWait1,
        };
    }

    /// Changes the state where SND.UNA has moved over the FIN.
    pub(super) fn after_acknowledgement(&mut self, now: Nanos, progress: &mut Progress) {
        let finished = self.snd.is_fin_acknowledged();
        if !finished {
            return;
        }
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                if self.orphaned {
                    self.limit_fin_wait_2(now);
                }
            }
            State::Closing => {
                self.enter_time_wait(now);
                progress.closed = Some(CloseReason::Finished);
            }
            State::LastAck => self.close(CloseReason::Finished, progress),
            _ => {}
        }
    }

    /// Changes the state, as the peer's FIN was reached.
    pub(super) fn on_peer_finished(&mut self, now: Nanos, progress: &mut Progress) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => {
                self.enter_time_wait(now);
                progress.closed = Some(CloseReason::Finished);
            }
            _ => {}
        }
    }

    pub(super) fn enter_time_wait(&mut self, now: Nanos) {
        if self.state != State::TimeWait {
            self.counters.time_waits += 1;
            self.state = State::TimeWait;
            self.timers.clear_all();
            self.scoreboard.clear();
            self.snd.drop_all();
        }
        self.timers
            .set(Timer::Close, now + self.config.time_wait_ns);
    }

    fn limit_fin_wait_2(&mut self, now: Nanos) {
        self.timers
            .set(Timer::Close, now + self.config.fin_wait_2_ns);
    }
}
