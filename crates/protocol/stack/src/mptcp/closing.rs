//! Closing subflows and connections (RFC 8684, sections 3.3.3 and 3.5).

use mptcplab_wire::Segment;
use mptcplab_wire::option::MptcpOption;

use super::connection::{Change, Connection};
use super::handshake::Mode;
use super::signals::{self, reason};
use super::subflow::Stage;
use crate::Nanos;
use crate::event::{Event, SubflowId};
use crate::tcp::{CloseReason, State};

impl Connection {
    /// Takes no more data from the application.
    pub(crate) fn shutdown(&mut self) {
        self.sender.shut();
        self.counters.established = 0;
        self.scheduling.request();
        for subflow in self.subflows.iter_mut() {
            subflow.pending = true;
        }
    }

    /// Sends DATA_FIN where all data was handed out: on all subflows, as one may not get through.
    pub(super) fn send_fin(&mut self, now: Nanos) -> bool {
        let due = self.sender.send_fin();
        if due {
            if !self.sender.fin_went_with_data() {
                self.signal_fin();
            }
            self.restart_data_timer(now, false);
        }
        due
    }

    /// Asks each subflow for an acknowledgement, which carries DATA_FIN.
    pub(super) fn signal_fin(&mut self) {
        for subflow in self.subflows.iter_mut() {
            if subflow.stage == Stage::Established && subflow.tcp.state().is_synchronised() {
                subflow.request_ack();
            }
        }
    }

    /// Closes the subflows where both directions are closed at the level of data.
    pub(super) fn finish_if_done(&mut self, now: Nanos) {
        if self.lifetime.has_ended() || !self.sender.is_finished() {
            return;
        }
        if self.receiver.is_finished() {
            self.lifetime.end(CloseReason::Finished);
            self.stop_timers();
            self.event(Event::Closed {
                id: self.id,
                reason: CloseReason::Finished,
            });
            for index in 0..self.subflows.len() {
                self.let_go(now, index);
            }
        } else if self.lifetime.is_released() {
            // The peer may never close: as TCP's FIN-WAIT-2 once the application has gone.
            self.lifetime.give_up_at(now + self.config.close_timeout_ns);
        }
    }

    /// Stops all timers: a connection that has ended waits for nothing but its subflows.
    fn stop_timers(&mut self) {
        self.fallback.end_failure();
        self.sender.forget_again();
    }

    /// Closes a subflow in order: FIN after what it was handed, and nothing more is expected.
    fn let_go(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        subflow.end.close();
        subflow.pending = true;
        let progress = subflow.tcp.orphan(now);
        if let Some(reason) = progress.closed {
            self.tell_subflow_closed(index, reason);
        }
    }

    /// Closes a subflow while the connection goes on: in order, where the peer cannot take that
    /// for the end of the data. What was sent on it may still arrive; what waits at it is left to
    /// the others, which send all again.
    fn close_in_order(&mut self, now: Nanos, index: usize) {
        if self.subflows[index].end.is_closing() {
            return;
        }
        if self.peer_may_speak_tcp(index) {
            self.reset_subflow(now, index, reason::UNSPECIFIED);
            return;
        }
        self.reinject();
        let subflow = &mut self.subflows[index];
        subflow.tcp.drop_unsent();
        subflow.end.close();
        subflow.pending = true;
        subflow.tcp.shutdown();
        self.addresses.want_paths();
    }

    /// Follows the peer's FIN on a subflow. After a fallback that is the end of its data; else the
    /// connection goes on without the subflow.
    pub(super) fn on_subflow_finished(&mut self, now: Nanos, index: usize) {
        if self.handshake.is_fallback() {
            if self.subflows[index].is_first() && self.receiver.take_end_news() {
                self.event(Event::Finished { id: self.id });
            }
            return;
        }
        // After a DATA_FIN the peer closes its subflows; what goes to it still may.
        if !self.receiver.is_finished() {
            self.close_in_order(now, index);
        }
    }

    /// Follows the end of a subflow's TCP, of which at most a RST to send, or TIME-WAIT, is left.
    pub(super) fn on_subflow_closed(&mut self, now: Nanos, index: usize, reason: CloseReason) {
        let first = self.subflows[index].is_first();
        // A subflow that was closed in order has left its data to the others then.
        let left_before = self.subflows[index].end.is_closing();
        self.subflows[index].end.close();
        self.tell_subflow_closed(index, reason);
        match self.handshake.mode() {
            Mode::Multipath => {}
            Mode::Opening | Mode::Fallback => {
                if first {
                    self.close(reason);
                }
                return;
            }
        }
        if !left_before {
            self.reinject();
        }
        if self.lifetime.has_ended() {
            return;
        }
        let subflow = &self.subflows[index];
        if subflow.initiated_here && reason != CloseReason::Finished {
            let path = subflow.tcp.tuple().path();
            // Linux joins by no path twice; where no route leads, another attempt is in vain.
            if subflow.end.path_is_unfit() || reason == CloseReason::Unreachable {
                self.addresses.attempts.give_up(path);
            } else {
                self.addresses.attempts.hold_off(now, path);
            }
        }
        let mut others = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let alive = others.clone().next().is_some();
        if others.any(|subflow| subflow.stage == Stage::Established) {
            self.addresses.want_paths();
        } else if alive {
            // Joins that may never succeed, one after the other, do not keep a connection.
            self.addresses.want_paths();
            self.lifetime.give_up_at(now + self.config.close_timeout_ns);
        } else if !self.handshake.is_confirmed()
            || (self.sender.is_finished() && self.lifetime.is_released())
        {
            self.close(reason);
        } else {
            // Break before make: another subflow may come (section 3.5 of the RFC leaves the time
            // open; Linux's is a minute).
            self.addresses.want_paths();
            self.lifetime.give_up_at(now + self.config.close_timeout_ns);
        }
    }

    pub(super) fn tell_subflow_closed(&mut self, index: usize, reason: CloseReason) {
        let subflow = &mut self.subflows[index];
        if !subflow.end.tell() {
            return;
        }
        let id = SubflowId(subflow.id);
        self.event(Event::SubflowClosed {
            id: self.id,
            subflow: id,
            reason,
        });
    }

    /// Ends the connection other than in order, and with it its subflows.
    pub(super) fn close(&mut self, reason: CloseReason) {
        if self.lifetime.has_ended() {
            return;
        }
        self.lifetime.end(reason);
        self.counters.established = 0;
        self.stop_timers();
        self.event(Event::Closed {
            id: self.id,
            reason,
        });
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            if subflow.tcp.state() != State::TimeWait {
                subflow.end.close();
                subflow.pending = true;
                subflow.tcp.abort();
                self.tell_subflow_closed(index, reason);
            }
        }
    }

    /// Ends the connection at once: MP_FASTCLOSE in a RST on each subflow, or a plain RST.
    pub(crate) fn abort(&mut self) {
        if let (Mode::Multipath, Some(remote)) =
            (self.handshake.mode(), self.handshake.remote_key())
        {
            for subflow in self.subflows.iter_mut() {
                if !subflow.is_over() {
                    subflow.signals.reset = Some(MptcpOption::FastClose {
                        receiver_key: remote.0,
                    });
                }
            }
        }
        self.close(CloseReason::Aborted);
    }

    /// Takes MP_FASTCLOSE, which counts where it has this end's key.
    pub(super) fn on_fast_close(&mut self, receiver_key: u64) {
        if receiver_key == self.handshake.local_key().0 {
            self.counters.fast_close_received += 1;
            for subflow in self.subflows.iter_mut() {
                subflow.signals.reset = Some(signals::reset(reason::UNSPECIFIED, false));
            }
            self.close(CloseReason::Reset);
        }
    }

    /// Releases the connection for the application: what that wrote is still sent. Data that it did
    /// not read is lost, which the peer is told by MP_FASTCLOSE.
    pub(crate) fn release(&mut self, now: Nanos) {
        if self.lifetime.release() {
            return;
        }
        if self.receiver.ready_bytes() > 0 {
            self.abort();
            return;
        }
        self.shutdown();
        match self.handshake.mode() {
            Mode::Multipath => self.finish_if_done(now),
            Mode::Opening if self.initiated_here => self.close(CloseReason::Aborted),
            Mode::Opening => {}
            Mode::Fallback => self.release_plain(now),
        }
    }

    /// Leaves the end to TCP after a fallback, once it was handed everything.
    pub(super) fn release_plain(&mut self, now: Nanos) {
        let all_handed = self.sender.next() == self.sender.end();
        if !self.lifetime.is_released() || !all_handed {
            return;
        }
        for index in 0..self.subflows.len() {
            let subflow = &mut self.subflows[index];
            if subflow.is_first() && subflow.end.orphan() {
                let progress = subflow.tcp.orphan(now);
                if let Some(reason) = progress.closed {
                    self.on_subflow_closed(now, index, reason);
                }
            }
        }
    }

    /// Closes a subflow by the wish of the application or of the path manager. False where there is
    /// none.
    pub(crate) fn close_subflow(&mut self, now: Nanos, subflow: SubflowId) -> bool {
        let Some(index) = self.subflows.index_of(subflow.0) else {
            return false;
        };
        let open = self.handshake.is_multipath() && !self.subflows[index].end.is_closing();
        if open {
            self.close_in_order(now, index);
        }
        open
    }

    /// Whether a new SYN may take the place of a subflow.
    pub(crate) fn gives_way_to(&self, subflow: SubflowId, segment: &Segment) -> bool {
        let index = self.subflows.index_of(subflow.0);
        index.is_some_and(|index| self.subflows[index].tcp.gives_way_to(segment))
    }

    /// Forgets a subflow in TIME-WAIT.
    pub(crate) fn give_way(&mut self, subflow: SubflowId) {
        if let Some(index) = self.subflows.index_of(subflow.0) {
            self.subflows[index].pending = false;
            self.subflows[index].tcp.abort();
            self.forget_gone();
        }
    }

    /// Forgets subflows that are gone: seldom, and not where segments pass.
    #[cold]
    pub(super) fn forget_gone(&mut self) {
        self.changes
            .extend(self.subflows.remove_gone().map(Change::Gone));
    }
}
