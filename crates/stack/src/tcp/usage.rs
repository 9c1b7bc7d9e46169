//! Whether the congestion window is used: one that is not must not grow, and shrinks in time
//! (RFC 2861 as Linux has it; RFC 7661 has the reasons).

use super::Tcp;
use super::recovery::Phase;
use crate::Nanos;
use crate::congestion::Window;

/// Use of the window over the last round trip.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowUsage {
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

impl WindowUsage {
    /// The window limits what is sent. In slow start it does when half of it is used.
    pub(crate) fn limits(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && window.bytes < 2 * self.largest_flight_bytes)
    }
}

impl Tcp {
    /// Before new data goes out: a window that rested longer than a timeout starts again from
    /// the initial one (RFC 5681, section 4.1), halved for each timeout of rest until there.
    pub(super) fn restart_after_idle(&mut self, now: Nanos) {
        let Some(last) = self.usage.last_sent else {
            return;
        };
        let rto = self.rtt.rto_ns();
        let idle = now - last;
        if !self.records.is_empty() || idle <= rto || self.recovery.phase != Phase::Open {
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
        self.usage.full_at = now;
        self.usage.used_bytes = 0;
    }

    /// After new data went out.
    pub(super) fn note_usage(&mut self, now: Nanos) {
        let flight = self.records.in_flight_bytes();
        let limited = flight + u64::from(self.window.mss) > self.window.bytes;
        let usage = &mut self.usage;
        usage.last_sent = Some(now);
        if self.una >= usage.round_end
            || limited
            || (!usage.limited && flight > usage.largest_flight_bytes)
        {
            usage.limited = limited;
            usage.largest_flight_bytes = flight;
            usage.round_end = self.next;
        }
        if usage.limits(&self.window) {
            usage.used_bytes = 0;
            usage.full_at = now;
            return;
        }
        usage.used_bytes = usage.used_bytes.max(flight);
        if now - usage.full_at >= self.rtt.rto_ns() && self.queue.is_empty() {
            self.shrink_unused(now);
        }
    }

    /// The application limits the rate: the window moves half way to what it uses.
    fn shrink_unused(&mut self, now: Nanos) {
        let used = self.usage.used_bytes.max(self.initial_window());
        if self.recovery.phase == Phase::Open && used < self.window.bytes {
            self.keep_threshold();
            self.window.bytes = (self.window.bytes + used) / 2;
        }
        self.usage.used_bytes = 0;
        self.usage.full_at = now;
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
