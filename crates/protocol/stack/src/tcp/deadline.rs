//! Deadlines.

use super::Tcp;
use super::progress::{CloseReason, Progress};
use super::timers::Timer;
use crate::Nanos;
use crate::congestion::PathView;

impl Tcp {
    /// When [`Tcp::on_deadline`] is to be called at the latest. It may turn out that nothing is due
    /// then.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.timers.next()
    }

    /// Whether [`Tcp::on_deadline`] has something to do.
    pub(crate) fn is_due(&mut self, now: Nanos) -> bool {
        self.timers.are_due(now)
    }

    /// Does what is due. `paths` as for [`Tcp::receive`].
    pub(crate) fn on_deadline(&mut self, now: Nanos, paths: &[PathView]) -> Progress {
        let mut progress = Progress::default();
        while let Some(timer) = self.timers.take_due(now) {
            match timer {
                Timer::Retransmission => self.on_retransmission_timer(now, paths, &mut progress),
                Timer::Reordering => self.on_reordering_timer(now, paths),
                Timer::LossProbe => self.on_loss_probe_timer(now),
                Timer::Persist => self.on_persist_timer(now, &mut progress),
                Timer::DelayedAck => {
                    self.counters.delayed_acks += 1;
                    self.receiver.on_ack_timer();
                    self.due.ack = true;
                }
                Timer::CompressedAck => self.due.ack = true,
                Timer::Keepalive => self.on_keepalive_timer(now, &mut progress),
                // Transmitting goes on when the caller asks for it.
                Timer::Pacing => {}
                Timer::Close => self.close(CloseReason::Finished, &mut progress),
            }
        }
        progress
    }

    /// Asks whether the peer's window still is closed, ever more rarely. One that is only
    /// small is used after this time (the override of RFC 9293, section 3.8.6.2.1), as it may
    /// never grow.
    fn on_persist_timer(&mut self, now: Nanos, progress: &mut Progress) {
        if !self.snd.has_queued() || !self.scoreboard.is_empty() {
            return;
        }
        if self.snd.may_send_new() && !self.snd.next_is_mapped() {
            self.due.silly = true;
            return;
        }
        let limit = if self.orphaned {
            self.config.orphan_retries
        } else {
            self.config.data_retries
        };
        if self.liveness.probes() >= limit {
            self.give_up(progress);
            return;
        }
        self.liveness.count_probe();
        self.counters.window_probes += 1;
        self.due.probe = true;
        let doublings = self.liveness.back_off_persist().min(16);
        let timeout = self.rtt.rto_ns() << doublings;
        self.timers
            .set(Timer::Persist, now + timeout.min(self.config.max_rto_ns));
    }

    pub(super) fn start_keepalive(&mut self, now: Nanos) {
        if let Some(keepalive) = self.config.keepalive {
            self.timers.set(Timer::Keepalive, now + keepalive.idle_ns);
        }
    }

    /// Asks whether the peer is still there, as nothing was heard for long.
    fn on_keepalive_timer(&mut self, now: Nanos, progress: &mut Progress) {
        let Some(keepalive) = self.config.keepalive else {
            return;
        };
        if !self.scoreboard.is_empty() || self.snd.has_queued() {
            // Retransmissions and window probes ask already.
            self.timers.set(Timer::Keepalive, now + keepalive.idle_ns);
            return;
        }
        let idle_until = self.liveness.heard_at() + keepalive.idle_ns;
        if now < idle_until {
            self.timers.set(Timer::Keepalive, idle_until);
            return;
        }
        if self.liveness.probes() >= keepalive.probes {
            self.counters.aborted_on_timeout += 1;
            self.abort_with(CloseReason::TimedOut, progress);
            return;
        }
        self.liveness.count_probe();
        self.counters.keepalives += 1;
        self.due.probe = true;
        self.timers
            .set(Timer::Keepalive, now + keepalive.interval_ns);
    }
}
