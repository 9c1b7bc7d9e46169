//! Deadlines.

use super::Tcp;
use super::progress::{CloseReason, Progress};
use super::timers::Timer;
use crate::Nanos;
use crate::congestion::PathView;

impl Tcp {
    /// When [`Tcp::on_deadline`] is to be called at the latest. It may turn out that nothing is due
    /// then.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.timers.next()
    }

    /// Whether [`Tcp::on_deadline`] has something to do.
    pub fn is_due(&mut self, now: Nanos) -> bool {
        self.timers.are_due(now)
    }

    /// Does what is due. `paths` as for [`Tcp::receive`].
    pub fn on_deadline(&mut self, now: Nanos, paths: &[PathView]) -> Progress {
        let mut progress = Progress::default();
        while let Some(timer) = self.timers.take_due(now) {
            match timer {
                Timer::Retransmission => self.on_retransmission_timer(now, paths, &mut progress),
                Timer::Reordering => self.on_reordering_timer(now, paths),
                Timer::LossProbe => self.on_loss_probe_timer(),
                Timer::Persist => self.on_persist_timer(now, &mut progress),
                Timer::DelayedAck => {
                    self.counters.delayed_acks += 1;
                    self.acks.on_timer();
                    self.due.ack = true;
                }
                Timer::Keepalive => self.on_keepalive_timer(now, &mut progress),
                // Transmitting goes on when the caller asks for it.
                Timer::Pacing => {}
                Timer::Close => self.close(CloseReason::Finished, &mut progress),
            }
        }
        progress
    }

    /// The peer's window is closed: asks whether it still is, ever more rarely. One that is only
    /// small is used after this time (the override of RFC 9293, section 3.8.6.2.1), as it may
    /// never grow.
    fn on_persist_timer(&mut self, now: Nanos, progress: &mut Progress) {
        if self.queue.is_empty() || !self.records.is_empty() {
            return;
        }
        if self.may_send_new() && !self.queue.next_is_mapped() {
            self.due.silly = true;
            return;
        }
        let limit = if self.orphaned {
            self.config.orphan_retries
        } else {
            self.config.data_retries
        };
        if self.probes >= limit {
            self.give_up(progress);
            return;
        }
        self.probes += 1;
        self.counters.window_probes += 1;
        self.due.probe = true;
        self.persist_backoff += 1;
        let timeout = self.rtt.rto_ns() << self.persist_backoff.min(16);
        self.timers
            .set(Timer::Persist, now + timeout.min(self.config.max_rto_ns));
    }

    pub(super) fn start_keepalive(&mut self, now: Nanos) {
        if let Some(keepalive) = self.config.keepalive {
            self.timers.set(Timer::Keepalive, now + keepalive.idle_ns);
        }
    }

    /// Nothing was heard for long: asks whether the peer is still there.
    fn on_keepalive_timer(&mut self, now: Nanos, progress: &mut Progress) {
        let Some(keepalive) = self.config.keepalive else {
            return;
        };
        if !self.records.is_empty() || !self.queue.is_empty() {
            // Retransmissions and window probes ask already.
            self.timers.set(Timer::Keepalive, now + keepalive.idle_ns);
            return;
        }
        let idle_until = self.heard_at + keepalive.idle_ns;
        if now < idle_until {
            self.timers.set(Timer::Keepalive, idle_until);
            return;
        }
        if self.probes >= keepalive.probes {
            self.counters.aborted_on_timeout += 1;
            self.abort_with(CloseReason::TimedOut, progress);
            return;
        }
        self.probes += 1;
        self.counters.keepalives += 1;
        self.due.probe = true;
        self.timers
            .set(Timer::Keepalive, now + keepalive.interval_ns);
    }
}
