//! Timeouts: the retransmission timer has fired (RFC 6298, section 5).

use super::progress::{CloseReason, Progress};
use super::recovery::{Phase, Spurious};
use super::state::State;
use super::timers::Timer;
use super::{Tcp, TcpConfig};
use crate::Nanos;
use crate::congestion::{Cause, PathView};
use crate::rtt::INITIAL_RTO_NS;

impl Tcp {
    pub(super) fn on_retransmission_timer(
        &mut self,
        now: Nanos,
        paths: &[PathView],
        progress: &mut Progress,
    ) {
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.on_handshake_timeout(now, progress);
            return;
        }
        if self.scoreboard.is_empty() {
            return;
        }
        let since = self.liveness.unanswered_since(now);
        let retries = if self.orphaned {
            self.config.orphan_retries
        } else {
            self.config.data_retries
        };
        if now - since >= patience_ns(&self.config, retries) {
            self.give_up(progress);
            return;
        }
        self.counters.timeouts += 1;
        self.collapse(now, paths);
        self.rtt.back_off();
        self.restart_retransmission(now);
        self.loss_probe = None;
        self.timers.clear(Timer::Reordering);
    }

    /// Closes the connection, as the peer did not answer for too long.
    pub(super) fn give_up(&mut self, progress: &mut Progress) {
        self.counters.aborted_on_timeout += 1;
        self.close(CloseReason::TimedOut, progress);
    }

    /// Takes what is unanswered to be lost and shrinks the window to one segment beyond what is
    /// still in flight.
    fn collapse(&mut self, now: Nanos, paths: &[PathView]) {
        let again = self.liveness.has_timed_out();
        let (in_loss, in_repair) = match self.recovery.phase {
            Phase::Loss { .. } => (true, true),
            Phase::Reduction { cause } => (false, cause == Cause::Loss),
            Phase::Open => (false, false),
        };
        let open = self.recovery.phase == Phase::Open;
        if open || self.snd.una() >= self.recovery.point || (in_loss && !again) {
            let in_flight = self.flight_bytes();
            self.congestion_event(now, Cause::Timeout, in_flight, paths);
        }
        let spurious = if !in_repair || again {
            Spurious::Maybe
        } else {
            Spurious::No
        };
        if self.options.sack() {
            if self.scoreboard.renege() {
                self.counters.reneged += 1;
            }
        } else {
            self.scoreboard.forget_presumed(true);
        }
        let smoothed = self.rtt.smoothed_ns();
        let minimum = self.rtt.minimum_ns().unwrap_or(smoothed);
        let before = self
            .rack
            .timed_out_before(now, self.scoreboard.sacked(), minimum, smoothed);
        self.scoreboard.mark_timed_out(before);
        self.congestion.collapse(self.flight_bytes());
        self.recovery.phase = Phase::Loss { spurious };
        self.recovery.point = self.snd.next();
        self.liveness.on_timeout();
    }

    fn on_handshake_timeout(&mut self, now: Nanos, progress: &mut Progress) {
        let timeouts = self.attempts.count_timeout();
        let limit = if self.state == State::SynSent {
            self.config.syn_retries + self.config.syn_linear_timeouts
        } else {
            self.config.syn_ack_retries
        };
        if timeouts > limit {
            self.counters.failed_attempts += 1;
            self.close(CloseReason::TimedOut, progress);
            return;
        }
        self.counters.timeouts += 1;
        self.ecn.on_handshake_timeout();
        self.due.syn = true;
        self.start_handshake_timer(now);
    }

    /// Starts the time that an answer to SYN or SYN/ACK may take.
    pub(super) fn start_handshake_timer(&mut self, now: Nanos) {
        let linear = if self.state == State::SynSent {
            self.config.syn_linear_timeouts
        } else {
            0
        };
        let doublings = self.attempts.timeouts().saturating_sub(linear).min(16);
        let timeout = (INITIAL_RTO_NS << doublings).min(self.config.max_rto_ns);
        self.timers.set(Timer::Retransmission, now + timeout);
    }
}

/// How long to go on without an answer: `retries` doublings of the smallest timeout, the last
/// ones at the largest (RFC 9293, section 3.8.3; the model is Linux's).
fn patience_ns(config: &TcpConfig, retries: u32) -> Nanos {
    let mut timeout = config.min_rto_ns;
    let mut patience: Nanos = 0;
    for _ in 0..=retries {
        patience = patience.saturating_add(timeout);
        timeout = timeout.saturating_mul(2).min(config.max_rto_ns);
    }
    patience
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_retries_are_924_6_seconds() {
        assert_eq!(patience_ns(&TcpConfig::default(), 15), 924_600_000_000);
    }
}
