//! When what is not acknowledged is probed for or sent again. One of the two timers runs at a time:
//! that of the tail loss probe where there may be one, which then fires no later than the other
//! would.
//!
//! Source: `tcp_schedule_loss_probe`, `tcp_rearm_rto`, `tcp_set_xmit_timer` in Linux 6.18,
//! net/ipv4.

use super::Tcp;
use super::recovery::Phase;
use super::timers::Timer;
use crate::Nanos;
use crate::congestion::Cause;

/// Least time beyond two round trips before a probe (`TCP_TIMEOUT_MIN_US`).
const PROBE_MARGIN_NS: Nanos = 2_000_000;

impl Tcp {
    /// Starts the timers anew, as something was acknowledged cumulatively.
    pub(super) fn restart_timers(&mut self, now: Nanos) {
        if self.scoreboard.is_empty() {
            self.timers.clear(Timer::Retransmission);
            self.timers.clear(Timer::LossProbe);
            return;
        }
        let reordering = self.timers.get(Timer::Reordering).is_some();
        if reordering || !self.schedule_loss_probe(now, now + self.rtt.rto_ns()) {
            self.start_retransmission(now);
        }
    }

    /// Follows selective acknowledgements, which may rule a probe out.
    pub(super) fn review_timers(&mut self, now: Nanos) {
        if !self.schedule_loss_probe(now, self.oldest_times_out_at())
            && self.timers.get(Timer::LossProbe).is_some()
        {
            self.start_retransmission(now);
        }
    }

    /// Follows new data, which has just been sent.
    pub(super) fn extend_timers(&mut self, now: Nanos) {
        if self.timers.get(Timer::Retransmission).is_none() {
            self.start_retransmission(now);
        }
        self.schedule_loss_probe(now, self.oldest_times_out_at());
    }

    /// Starts the retransmission timer from now.
    pub(super) fn restart_retransmission(&mut self, now: Nanos) {
        self.timers.clear(Timer::LossProbe);
        self.timers
            .set(Timer::Retransmission, now + self.rtt.rto_ns());
    }

    /// Starts the retransmission timer: in place of a probe for the time that is left since the
    /// oldest segment was sent, else from now.
    fn start_retransmission(&mut self, now: Nanos) {
        if self.timers.get(Timer::LossProbe).is_some() {
            self.resume_retransmission(now);
        } else {
            self.restart_retransmission(now);
        }
    }

    /// Starts the retransmission timer for the time that is left since the oldest segment was sent.
    fn resume_retransmission(&mut self, now: Nanos) {
        self.timers.clear(Timer::LossProbe);
        let next_tick = now + self.config.clock_granularity_ns.max(1);
        let deadline = self.oldest_times_out_at().max(next_tick);
        self.timers.set(Timer::Retransmission, deadline);
    }

    /// When the segment that was not acknowledged for the longest has timed out.
    fn oldest_times_out_at(&self) -> Nanos {
        let oldest = self
            .scoreboard
            .first()
            .and_then(|first| self.scoreboard.get(first));
        oldest.map_or(Nanos::MAX, |record| {
            record.sent.saturating_add(self.rtt.rto_ns())
        })
    }

    /// Starts the timer of the probe (RFC 8985, section 7.2), which fires at `latest` where that is
    /// to come. False where there is to be none.
    fn schedule_loss_probe(&mut self, now: Nanos, latest: Nanos) -> bool {
        let echo = Phase::Reduction {
            cause: Cause::EcnEcho,
        };
        let wanted = self.options.sack()
            && self.state.is_synchronised()
            && !self.scoreboard.is_empty()
            && (self.recovery.phase == Phase::Open || self.recovery.phase == echo)
            && self.scoreboard.sacked() == 0;
        if !wanted {
            return false;
        }
        let timeout = match self.rtt.smoothed_ns() {
            0 => self.rtt.rto_ns(),
            smoothed if self.scoreboard.len() == 1 => 2 * smoothed + self.config.min_rto_ns,
            smoothed => 2 * smoothed + PROBE_MARGIN_NS.max(2 * self.config.clock_granularity_ns),
        };
        let deadline = now.saturating_add(timeout);
        let deadline = if latest > now {
            deadline.min(latest)
        } else {
            deadline
        };
        self.timers.clear(Timer::Retransmission);
        self.timers.set(Timer::LossProbe, deadline);
        true
    }

    /// Makes the next transmission a probe, unless one is on its way: then, and where there is
    /// nothing to probe with, a timeout follows.
    pub(super) fn on_loss_probe_timer(&mut self, now: Nanos) {
        if self.scoreboard.is_empty() {
            return;
        }
        self.due.loss_probe = self.loss_probe.is_none();
        self.resume_retransmission(now);
    }

    /// How long the timer that runs for what is not acknowledged, or for a closed window, has to
    /// go; none where none runs.
    pub(crate) fn timer_left_ns(&self, now: Nanos) -> Option<Nanos> {
        let timers = [
            Timer::Reordering,
            Timer::LossProbe,
            Timer::Retransmission,
            Timer::Persist,
        ];
        let first = timers.into_iter().find_map(|timer| self.timers.get(timer));
        first.map(|deadline| deadline.saturating_sub(now))
    }
}
