//! The retransmission timer of data, and the acknowledgements that move it.
//!
//! Source: `mptcp_set_timeout`, `__mptcp_retrans`, `mptcp_subflow_get_retrans` in Linux 6.18,
//! net/mptcp/protocol.c.

use alloc::vec::Vec;

use super::connection::Connection;
use super::subflow::Subflow;
use crate::Nanos;
use crate::tcp::CloseReason;

impl Connection {
    /// Follows an acknowledgement at the level of data.
    pub(super) fn on_data_acknowledged(&mut self, now: Nanos, bytes: u64) {
        if self.sender.may_send_new() {
            self.measure_data_interval(now);
        }
        self.restart_data_timer(now, true);
        if bytes > 0 {
            self.offer_room();
        }
    }

    /// Follows an acknowledgement at the level of a subflow.
    pub(super) fn on_subflow_acknowledged(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        subflow.acknowledged = true;
        if self.handshake.is_fallback() && subflow.is_first() {
            let acknowledged = subflow.tcp.acknowledged().saturating_sub(1);
            self.sender.release(acknowledged);
            self.offer_room();
        }
        self.restart_data_timer(now, false);
    }

    /// Starts the timer where it does not run, restarts it after progress, stops it where there is
    /// nothing to wait for.
    pub(super) fn restart_data_timer(&mut self, now: Nanos, progress: bool) {
        if !self.handshake.is_multipath() || self.lifetime.has_ended() {
            return;
        }
        if !self.sender.awaits_peer() {
            self.sender.timer.stop();
        } else if progress || self.sender.timer.deadline().is_none() {
            self.sender.timer.start(now);
        }
    }

    /// Sets the interval of the timer to the longest time that a timer of a subflow has to go, but
    /// for those of which nothing was heard since the last timeout. The timer that runs is left.
    pub(super) fn measure_data_interval(&mut self, now: Nanos) {
        let heard = |subflow: &&Subflow| subflow.may_send() && !subflow.staleness.is_suspect();
        let left = self.subflows.iter().filter(heard);
        let left = left.filter_map(|subflow| subflow.tcp.timer_left_ns(now));
        self.sender.timer.set_interval(left.max());
    }

    /// Sends again, probes or gives up, as nothing was acknowledged at the level of data for long.
    pub(super) fn on_data_timeout(&mut self, now: Nanos) {
        self.sender.timer.repeat(now);
        self.scheduling.request();
        if self.sender.is_blocked() {
            let subflows = self.subflows.iter();
            let heard_at = subflows.map(|subflow| subflow.tcp.heard_at()).max();
            if self
                .sender
                .timer
                .has_timed_out_since(now, heard_at.unwrap_or(0))
            {
                self.close(CloseReason::TimedOut);
                return;
            }
            self.sender.timer.back_off(now);
            self.probe_window();
            return;
        }
        if self.sender.timer.has_timed_out(now) {
            self.close(CloseReason::TimedOut);
            return;
        }
        let (from, next) = (self.sender.acknowledged(), self.sender.next());
        if from == next && self.sender.fin_to_signal().is_some() {
            self.signal_fin();
            self.sender.timer.repeat_fin(now);
        }
        // Data that waits to become plain TCP must not be sent twice.
        if self.fallback.awaits_infinite_mapping() {
            return;
        }
        let idle = self.idle_subflow();
        let fragment_end = self.sender.fragment_end(from + 1);
        let waiting = self.sender.again().map_or(u64::MAX, |(start, _)| start);
        let end = fragment_end.min(next).min(waiting);
        if let Some(index) = idle
            && from < end
        {
            self.counters.retransmitted += self.hand_to(now, index, from, end);
            self.subflows[index].tcp.mark_push();
        }
    }

    /// The subflow that sends the first fragment again: the first that has nothing on its way, a
    /// backup where nothing was heard of any other. One that still works on its data may be about
    /// to deliver it; one that does not, for several timeouts, is stale.
    fn idle_subflow(&mut self) -> Option<usize> {
        let mut idle = None;
        let mut backup = None;
        let mut busy = Vec::new();
        for (index, subflow) in self.subflows.iter().enumerate() {
            if !subflow.may_send() {
                continue;
            }
            if subflow.tcp.outstanding_bytes() > 0 {
                busy.push(index);
            } else if subflow.is_backup() {
                backup = backup.or(Some(index));
            } else {
                idle = idle.or(Some(index));
            }
        }
        let mut all_silent = true;
        for index in busy {
            self.check_stale(index);
            all_silent &= self.subflows[index].staleness.is_silent();
        }
        idle.or(backup.filter(|_| all_silent))
    }

    /// Probes the peer's window, which is closed: nothing is on its way that would tell of its
    /// opening.
    fn probe_window(&mut self) {
        let open = |subflow: &&mut Subflow| subflow.is_open();
        let mut open: Vec<_> = self.subflows.iter_mut().filter(open).collect();
        open.sort_by_key(|subflow| (subflow.tcp.is_timed_out(), subflow.tcp.smoothed_rtt_ns()));
        if let Some(subflow) = open.first_mut() {
            subflow.tcp.request_probe();
            subflow.pending = true;
        }
    }
}
