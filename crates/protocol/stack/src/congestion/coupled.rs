//! Common parts of the coupled algorithms.

use super::{Ack, PathView, Window};

/// Slow start as in Reno, and growth in congestion avoidance by parts of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// Growth that is less than a byte; may be negative.
    fraction_bytes: f64,
}

impl Growth {
    /// Grows by `per_byte(window)` bytes for each byte acknowledged in congestion avoidance. The
    /// window does not fall below two segments where that is negative.
    pub(super) fn on_ack(
        &mut self,
        window: &mut Window,
        ack: &Ack,
        per_byte: impl FnOnce(&Window) -> f64,
    ) {
        if !ack.window_limited {
            return;
        }
        let mut left = ack.acknowledged_bytes;
        if window.in_slow_start() {
            left = window.slow_start(left);
        }
        if left == 0 {
            return;
        }
        let growth = self.fraction_bytes + left as f64 * per_byte(window);
        let whole = growth as i64;
        self.fraction_bytes = growth - whole as f64;
        window.bytes = window
            .bytes
            .saturating_add_signed(whole)
            .max(2 * u64::from(window.mss));
    }
}

/// Half the window, at least two segments: Reno's threshold after a loss.
pub(super) fn halved(window: &Window) -> u64 {
    (window.bytes / 2).max(2 * u64::from(window.mss))
}

/// Rate of a path, w/rtt, in bytes a nanosecond; 0 before its first round trip.
pub(super) fn rate(path: &PathView) -> f64 {
    if path.smoothed_rtt_ns == 0 {
        return 0.0;
    }
    path.window_bytes as f64 / path.smoothed_rtt_ns as f64
}

/// Σ w/rtt.
pub(super) fn total_rate(paths: &[PathView]) -> f64 {
    paths.iter().map(rate).sum()
}

/// The path on which the event happened.
pub(super) fn own(paths: &[PathView]) -> Option<&PathView> {
    paths.iter().find(|path| path.is_self)
}
