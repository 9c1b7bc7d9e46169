//! Closing subflows and connections (RFC 8684, sections 3.3.3 and 3.5).

use mptcplab_wire::option::MptcpOption;

use super::connection::{Change, Connection, Mode};
use super::signals::{self, reason};
use super::subflow::Stage;
use crate::Nanos;
use crate::endpoint::{Event, SubflowId};
use crate::tcp::{CloseReason, State};

impl Connection {
    /// Both directions are closed at the level of data: the subflows follow.
    pub(super) fn finish_if_done(&mut self, now: Nanos) {
        if self.closed.is_some() || !self.sender.is_finished() {
            return;
        }
        if self.receiver.is_finished() {
            self.closed = Some(CloseReason::Finished);
            self.stop_timers();
            self.event(Event::Closed {
                id: self.id,
                reason: CloseReason::Finished,
            });
            for index in 0..self.subflows.len() {
                self.let_go(now, index);
            }
        } else if self.released && self.given_up_at.is_none() {
            // The peer may never close: as TCP's FIN-WAIT-2 once the application has gone.
            self.given_up_at = Some(now + self.config.close_timeout_ns);
        }
    }

    /// A connection that has ended waits for nothing but its subflows.
    fn stop_timers(&mut self) {
        self.given_up_at = None;
        self.failed = None;
        self.sender.forget_again();
    }

    /// Closes a subflow in order: FIN after what it was handed, and nothing more is expected.
    fn let_go(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        subflow.closing = true;
        subflow.pending = true;
        let progress = subflow.tcp.orphan(now);
        if let Some(reason) = progress.closed {
            self.tell_subflow_closed(index, reason);
        }
    }

    /// Closes a subflow while the connection goes on: in order, where the peer cannot take that
    /// for the end of the data. What was sent on it may still arrive; what waits at it is left to
    /// others.
    fn close_in_order(&mut self, now: Nanos, index: usize) {
        if self.subflows[index].closing {
            return;
        }
        if self.peer_may_speak_tcp(index) {
            self.reset_subflow(now, index, reason::UNSPECIFIED);
            return;
        }
        self.take_unsent(index);
        let subflow = &mut self.subflows[index];
        subflow.closing = true;
        subflow.pending = true;
        subflow.tcp.shutdown();
        self.want_paths = true;
    }

    /// The peer closed a subflow. After a fallback that is the end of its data; else the
    /// connection goes on without the subflow.
    pub(super) fn on_subflow_finished(&mut self, now: Nanos, index: usize) {
        if self.mode == Mode::Fallback {
            if self.subflows[index].is_first() && !self.receiver.told_end {
                self.receiver.told_end = true;
                self.event(Event::Finished { id: self.id });
            }
            return;
        }
        // After a DATA_FIN the peer closes its subflows; what goes to it still may.
        if !self.receiver.is_finished() {
            self.close_in_order(now, index);
        }
    }

    /// A subflow's TCP has ended; what is left of it is at most a RST to send, or TIME-WAIT.
    pub(super) fn on_subflow_closed(&mut self, now: Nanos, index: usize, reason: CloseReason) {
        let first = self.subflows[index].is_first();
        self.subflows[index].closing = true;
        self.tell_subflow_closed(index, reason);
        match self.mode {
            Mode::Multipath => {}
            Mode::Opening | Mode::Fallback => {
                if first {
                    self.close(reason);
                }
                return;
            }
        }
        self.reinject(index);
        if self.subflows[index].path_is_unfit {
            self.reinject_all(index);
        }
        if self.closed.is_some() {
            return;
        }
        let subflow = &self.subflows[index];
        if subflow.initiated_here && reason != CloseReason::Finished {
            let tuple = subflow.tcp.tuple();
            if subflow.path_is_unfit {
                self.addresses.give_up(&tuple);
            } else {
                self.addresses.hold_off(now, &tuple);
            }
        }
        let mut others = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let alive = others.clone().next().is_some();
        if others.any(|subflow| subflow.stage == Stage::Established) {
            self.want_paths = true;
        } else if alive {
            // Joins that may never succeed, one after the other, do not keep a connection.
            self.want_paths = true;
            let given_up_at = now + self.config.close_timeout_ns;
            self.given_up_at.get_or_insert(given_up_at);
        } else if !self.confirmed || (self.sender.is_finished() && self.released) {
            self.close(reason);
        } else {
            // Break before make: another subflow may come (section 3.5 of the RFC leaves the time
            // open; Linux's is a minute).
            self.want_paths = true;
            let given_up_at = now + self.config.close_timeout_ns;
            self.given_up_at.get_or_insert(given_up_at);
        }
    }

    pub(super) fn tell_subflow_closed(&mut self, index: usize, reason: CloseReason) {
        let subflow = &mut self.subflows[index];
        if core::mem::replace(&mut subflow.told_closed, true) {
            return;
        }
        let id = SubflowId(subflow.id);
        self.event(Event::SubflowClosed {
            id: self.id,
            subflow: id,
            reason,
        });
    }

    /// The connection has ended other than in order: so do its subflows.
    pub(super) fn close(&mut self, reason: CloseReason) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some(reason);
        self.counters.established = 0;
        self.stop_timers();
        self.event(Event::Closed {
            id: self.id,
            reason,
        });
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            if subflow.tcp.state() != State::TimeWait {
                subflow.closing = true;
                subflow.pending = true;
                subflow.tcp.abort();
                self.tell_subflow_closed(index, reason);
            }
        }
    }

    /// Ends the connection at once: MP_FASTCLOSE in a RST on each subflow, or a plain RST.
    pub fn abort(&mut self) {
        if let (Mode::Multipath, Some(remote)) = (self.mode, self.remote_key) {
            for subflow in &mut self.subflows {
                if !subflow.is_over() {
                    subflow.signals.reset = Some(MptcpOption::FastClose {
                        receiver_key: remote.0,
                    });
                }
            }
        }
        self.close(CloseReason::Aborted);
    }

    /// MP_FASTCLOSE: counts where it has this end's key.
    pub(super) fn on_fast_close(&mut self, receiver_key: u64) {
        if receiver_key == self.local_key.0 {
            self.counters.fast_close_received += 1;
            for subflow in &mut self.subflows {
                subflow.signals.reset = Some(signals::reset(reason::UNSPECIFIED, false));
            }
            self.close(CloseReason::Reset);
        }
    }

    /// The application lets go: what it wrote is still sent. Data that it did not read is lost,
    /// which the peer is told by MP_FASTCLOSE.
    pub fn release(&mut self, now: Nanos) {
        if core::mem::replace(&mut self.released, true) {
            return;
        }
        if self.receiver.ready_bytes() > 0 {
            self.abort();
            return;
        }
        self.shutdown();
        match self.mode {
            Mode::Multipath => self.finish_if_done(now),
            Mode::Opening if self.initiated_here => self.close(CloseReason::Aborted),
            Mode::Opening => {}
            Mode::Fallback => self.release_plain(now),
        }
    }

    /// After a fallback TCP waits for its end itself, once it was handed everything.
    pub(super) fn release_plain(&mut self, now: Nanos) {
        let all_handed = self.sender.next() == self.sender.end();
        if !self.released || !all_handed {
            return;
        }
        for index in 0..self.subflows.len() {
            if self.subflows[index].is_first() && !self.subflows[index].orphaned {
                self.subflows[index].orphaned = true;
                let progress = self.subflows[index].tcp.orphan(now);
                if let Some(reason) = progress.closed {
                    self.on_subflow_closed(now, index, reason);
                }
            }
        }
    }

    /// Closes a subflow by the wish of the application or of the path manager. False where there is
    /// none.
    pub fn close_subflow(&mut self, now: Nanos, subflow: SubflowId) -> bool {
        let Some(index) = self.index_of(subflow.0) else {
            return false;
        };
        let open = self.mode == Mode::Multipath && !self.subflows[index].closing;
        if open {
            self.close_in_order(now, index);
        }
        open
    }

    /// Forgets subflows that are gone: seldom, and not where segments pass.
    #[cold]
    pub(super) fn forget_gone(&mut self) {
        for subflow in self.subflows.extract_if(.., |subflow| subflow.is_gone()) {
            self.tcp_counters.add(subflow.tcp.counters());
            self.changes.push_back(Change::Gone(subflow.tcp.tuple()));
        }
        self.last_receiver = 0;
    }
}
