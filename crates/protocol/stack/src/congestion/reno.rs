//! Reno (RFC 5681) with byte counting (RFC 3465 with L = ∞, as bursts are not its concern).

use super::coupled::halved;
use super::{Ack, CongestionControl, CongestionEvent, PathView, Window};

/// Slow start, and one segment a round trip in congestion avoidance; half on loss.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    /// Bytes acknowledged towards the next segment of window.
    counted_bytes: u64,
}

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        "reno"
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, _paths: &[PathView]) {
        if !ack.window_limited {
            return;
        }
        let left = if window.in_slow_start() {
            window.slow_start(ack.acknowledged_bytes)
        } else {
            ack.acknowledged_bytes
        };
        self.counted_bytes += left;
        if self.counted_bytes >= window.bytes {
            self.counted_bytes -= window.bytes;
            window.bytes += u64::from(window.mss);
        }
    }

    fn on_congestion_event(
        &mut self,
        window: &Window,
        _event: &CongestionEvent,
        _paths: &[PathView],
    ) -> u64 {
        self.counted_bytes = 0;
        halved(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Cause;

    fn ack(acknowledged_bytes: u64, window_limited: bool) -> Ack {
        Ack {
            now: 0,
            acknowledged_bytes,
            rtt_ns: None,
            smoothed_rtt_ns: 0,
            min_rtt_ns: 0,
            in_flight_bytes: 0,
            window_limited,
            acknowledged: 0,
            next: 0,
        }
    }

    fn window(bytes: u64, slow_start_threshold_bytes: u64) -> Window {
        Window {
            bytes,
            slow_start_threshold_bytes,
            mss: 1000,
        }
    }

    #[test]
    fn slow_start_adds_what_was_acknowledged() {
        let mut window = window(10_000, u64::MAX);
        Reno::default().on_ack(&mut window, &ack(2000, true), &[]);
        assert_eq!(window.bytes, 12_000);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut window = window(10_000, 10_000);
        let mut reno = Reno::default();
        for _ in 0..9 {
            reno.on_ack(&mut window, &ack(1000, true), &[]);
        }
        assert_eq!(window.bytes, 10_000);
        reno.on_ack(&mut window, &ack(1000, true), &[]);
        assert_eq!(window.bytes, 11_000);
    }

    #[test]
    fn a_window_that_does_not_limit_stays() {
        let mut window = window(10_000, u64::MAX);
        Reno::default().on_ack(&mut window, &ack(2000, false), &[]);
        assert_eq!(window.bytes, 10_000);
    }

    #[test]
    fn congestion_halves_the_window_down_to_two_segments() {
        let event = CongestionEvent {
            now: 0,
            in_flight_bytes: 0,
            smoothed_rtt_ns: 0,
            cause: Cause::Loss,
        };
        let mut reno = Reno::default();
        let threshold = reno.on_congestion_event(&window(10_000, u64::MAX), &event, &[]);
        assert_eq!(threshold, 5000);
        let threshold = reno.on_congestion_event(&window(3000, u64::MAX), &event, &[]);
        assert_eq!(threshold, 2000);
    }
}
