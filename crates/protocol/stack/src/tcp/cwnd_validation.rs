//! Congestion window validation: a window that is not used must not grow, and shrinks in time
//! (RFC 2861 as Linux has it; RFC 7661 has the reasons).

use super::Tcp;
use super::recovery::Phase;
use crate::Nanos;
use crate::congestion::Window;

/// Use of the window over the last round trip.
#[derive(Clone, Debug, Default)]
pub(crate) struct CwndValidation {
    limited: bool,
    largest_flight_bytes: u64,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
    /// Most that was in flight since the window was last full.
    used_bytes: u64,
    /// When it was last full, or shrunk for not being so.
    full_at: Nanos,
    last_sent: Option<Nanos>,
}

impl CwndValidation {
    /// The window limits what is sent. In slow start it does when half of it is used.
    pub(crate) fn limits(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && window.bytes < 2 * self.largest_flight_bytes)
    }
}

impl Tcp {
    /// Shrinks a window that rested longer than a timeout, before new data leaves: it starts again
    /// from the initial one (RFC 5681, section 4.1), halved for each timeout of rest until there.
    pub(super) fn restart_after_idle(&mut self, now: Nanos) {
        let Some(last) = self.cwnd_validation.last_sent else {
            return;
        };
        let rto = self.rtt.rto_ns();
        let idle = now - last;
        if !self.scoreboard.is_empty() || idle <= rto || self.recovery.phase != Phase::Open {
            return;
        }
        self.control.on_restart(now, idle);
        self.keep_threshold();
        let restart = self.initial_window().min(self.window.bytes);
        let mut left = idle - rto;
        while left > 0 && self.window.bytes > restart {
            self.window.bytes /= 2;
            left = left.saturating_sub(rto);
        }
        self.window.bytes = self.window.bytes.max(restart);
        self.cwnd_validation.full_at = now;
        self.cwnd_validation.used_bytes = 0;
    }

    /// Notes the use of the window, after new data has left.
    pub(super) fn on_new_data_sent(&mut self, now: Nanos) {
        let flight = self.scoreboard.in_flight_bytes();
        let limited = flight + u64::from(self.window.mss) > self.window.bytes;
        let validation = &mut self.cwnd_validation;
        validation.last_sent = Some(now);
        if self.snd.una() >= validation.round_end
            || limited
            || (!validation.limited && flight > validation.largest_flight_bytes)
        {
            validation.limited = limited;
            validation.largest_flight_bytes = flight;
            validation.round_end = self.snd.next();
        }
        if validation.limits(&self.window) {
            validation.used_bytes = 0;
            validation.full_at = now;
            return;
        }
        validation.used_bytes = validation.used_bytes.max(flight);
        if now - validation.full_at >= self.rtt.rto_ns() && !self.snd.has_queued() {
            self.shrink_unused(now);
        }
    }

    /// Moves the window half way to its use, as the application limits the rate.
    fn shrink_unused(&mut self, now: Nanos) {
        let used = self.cwnd_validation.used_bytes.max(self.initial_window());
        if self.recovery.phase == Phase::Open && used < self.window.bytes {
            self.keep_threshold();
            self.window.bytes = (self.window.bytes + used) / 2;
        }
        self.cwnd_validation.used_bytes = 0;
        self.cwnd_validation.full_at = now;
    }

    /// Remembers in the threshold where the window was.
    fn keep_threshold(&mut self) {
        if self.window.slow_start_threshold_bytes != u64::MAX {
            let kept = self.window.bytes / 4 * 3;
            self.window.slow_start_threshold_bytes =
                self.window.slow_start_threshold_bytes.max(kept);
        }
    }

    /// IW (RFC 6928).
    pub(super) fn initial_window(&self) -> u64 {
        u64::from(self.config.initial_window_segments) * u64::from(self.window.mss)
    }
}
