//! The retransmission timer of data, and the acknowledgements that move it.

use alloc::vec::Vec;

use super::connection::Connection;
use super::subflow::Subflow;
use crate::Nanos;
use crate::tcp::CloseReason;

/// Interval of the retransmission timer of data before any round trip is known.
const FIRST_INTERVAL_NS: Nanos = 1_000_000_000;

impl Connection {
    /// Follows an acknowledgement at the level of data.
    pub(super) fn on_data_acknowledged(&mut self, now: Nanos, bytes: u64) {
        self.restart_data_timer(now, true);
        if bytes > 0 {
            self.offer_room();
        }
    }

    /// Follows an acknowledgement at the level of a subflow.
    pub(super) fn on_subflow_acknowledged(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        subflow.acknowledged = true;
        if core::mem::take(&mut subflow.stalled) {
            self.counters.recovered += 1;
        }
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
            self.sender.stop_timer();
        } else if progress || self.sender.deadline().is_none() {
            self.sender.start_timer(now, self.data_interval());
        }
    }

    /// Interval of the retransmission timer of data: the longest of the subflows that work.
    fn data_interval(&self) -> Nanos {
        let measured = |subflow: &&Subflow| subflow.may_send() && subflow.tcp.smoothed_rtt_ns() > 0;
        let measured = self.subflows.iter().filter(measured);
        // One that has failed tells nothing of how long the others take.
        let working = measured
            .clone()
            .filter(|subflow| !subflow.tcp.is_timed_out());
        let longest = working.map(|subflow| subflow.tcp.rto_ns()).max();
        longest
            .or_else(|| measured.map(|subflow| subflow.tcp.rto_ns()).max())
            .unwrap_or(FIRST_INTERVAL_NS)
    }

    /// Sends again, probes or gives up, as nothing was acknowledged at the level of data for long.
    pub(super) fn on_data_timeout(&mut self, now: Nanos) {
        self.sender.back_off(now);
        self.scheduling.request();
        if self.sender.is_blocked() {
            self.probe_window();
            return;
        }
        if self.sender.is_hopeless() {
            self.close(CloseReason::TimedOut);
            return;
        }
        if self.sender.fin_to_signal().is_some() {
            self.signal_fin();
        }
        // What waits to become plain TCP must not be sent twice.
        if self.fallback.awaits_infinite_mapping() {
            return;
        }
        let (from, next) = (self.sender.acknowledged(), self.sender.next());
        if from == next {
            return;
        }
        // A subflow that still works on its data may be about to deliver it; one that is idle has
        // delivered all it had, and something was lost behind TCP.
        let idle = |subflow: &Subflow| subflow.tcp.outstanding_bytes() == 0;
        let mut usable = self.subflows.iter().filter(|subflow| subflow.may_send());
        let all_idle = usable.clone().all(idle);
        let some_idle = usable.any(idle);
        if all_idle {
            self.sender.ask_again(from, next);
        } else if some_idle {
            let (_, bytes) = self.carriers_of(from);
            let head = bytes.max(u64::from(self.tcp.mss));
            self.sender.ask_again(from, from + head);
        }
        if some_idle {
            self.counters.retransmitted += 1;
        }
    }

    /// Probes the peer's window, which is closed: nothing is on its way that would tell of its
    /// opening.
    fn probe_window(&mut self) {
        let open = |subflow: &&mut Subflow| subflow.is_open();
        let mut open: Vec<_> = self.subflows.iter_mut().filter(open).collect();
        open.sort_by_key(|subflow| (subflow.stalled, subflow.tcp.smoothed_rtt_ns()));
        if let Some(subflow) = open.first_mut() {
            subflow.tcp.request_probe();
            subflow.pending = true;
        }
    }
}
