//! Congestion window validation: a window that is not used must not grow, and shrinks in time
//! (RFC 2861 as Linux has it; RFC 7661 has the reasons).

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

    /// Time since new data was sent last.
    pub(crate) fn idle_ns(&self, now: Nanos) -> Option<Nanos> {
        self.last_sent.map(|last| now - last)
    }

    /// Halves the window for each timeout of rest, but not below `restart_bytes`.
    pub(crate) fn restart(
        &mut self,
        now: Nanos,
        window: &mut Window,
        idle_ns: Nanos,
        rto_ns: Nanos,
        restart_bytes: u64,
    ) {
        keep_threshold(window);
        let restart = restart_bytes.min(window.bytes);
        let mut left = idle_ns - rto_ns;
        while left > 0 && window.bytes > restart {
            window.bytes /= 2;
            left = left.saturating_sub(rto_ns);
        }
        window.bytes = window.bytes.max(restart);
        self.begin(now);
    }

    /// Notes the use of the window, after new data has left. True where it limits what is sent.
    pub(crate) fn on_new_data_sent(
        &mut self,
        now: Nanos,
        window: &Window,
        in_flight_bytes: u64,
        acknowledged: u64,
        next: u64,
    ) -> bool {
        let limited = in_flight_bytes + u64::from(window.mss) > window.bytes;
        self.last_sent = Some(now);
        if acknowledged >= self.round_end
            || limited
            || (!self.limited && in_flight_bytes > self.largest_flight_bytes)
        {
            self.limited = limited;
            self.largest_flight_bytes = in_flight_bytes;
            self.round_end = next;
        }
        let limits = self.limits(window);
        if limits {
            self.begin(now);
        } else {
            self.used_bytes = self.used_bytes.max(in_flight_bytes);
        }
        limits
    }

    /// Lets a timeout pass from now on before the window counts as unused.
    pub(crate) fn keep(&mut self, now: Nanos) {
        self.full_at = now;
    }

    /// Whether the window was not full for a timeout.
    pub(crate) fn is_unused(&self, now: Nanos, rto_ns: Nanos) -> bool {
        now - self.full_at >= rto_ns
    }

    /// Moves the window half way to its use, at least `least_bytes`; not while it is being reduced,
    /// when its use is measured on.
    ///
    /// Source: `tcp_cwnd_application_limited` in Linux 6.18, net/ipv4/tcp_output.c.
    pub(crate) fn shrink(
        &mut self,
        now: Nanos,
        window: &mut Window,
        least_bytes: u64,
        reducing: bool,
    ) {
        self.full_at = now;
        if reducing {
            return;
        }
        let used = self.used_bytes.max(least_bytes);
        if used < window.bytes {
            keep_threshold(window);
            window.bytes = (window.bytes + used) / 2;
        }
        self.used_bytes = 0;
    }

    /// Begins to measure the use anew.
    fn begin(&mut self, now: Nanos) {
        self.used_bytes = 0;
        self.full_at = now;
    }
}

/// Remembers in the threshold where the window was.
fn keep_threshold(window: &mut Window) {
    if window.slow_start_threshold_bytes != u64::MAX {
        let kept = window.bytes / 4 * 3;
        window.slow_start_threshold_bytes = window.slow_start_threshold_bytes.max(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduction_does_not_forget_how_far_the_window_was_used() {
        let mut window = Window {
            bytes: 100_000,
            slow_start_threshold_bytes: 50_000,
            mss: 1000,
        };
        let mut validation = CwndValidation::default();
        validation.on_new_data_sent(0, &window, 60_000, 0, 60_000);
        validation.shrink(1, &mut window, 10_000, true);
        assert_eq!((window.bytes, validation.full_at), (100_000, 1));
        validation.shrink(2, &mut window, 10_000, false);
        assert_eq!(window.bytes, 80_000);
        validation.shrink(3, &mut window, 10_000, false);
        assert_eq!(window.bytes, 45_000);
    }
}
