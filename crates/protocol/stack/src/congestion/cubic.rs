//! CUBIC (RFC 9438), counting in whole segments as Linux does.
//!
//! Source: `bictcp_update` and `tcp_cong_avoid_ai` in Linux 6.18, net/ipv4/tcp_cubic.c and
//! tcp_cong.c.

use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::{Ack, Cause, CongestionControl, CongestionEvent, PathView, Window};
use crate::Nanos;

/// C, in segments per second³ (section 5).
const C: f64 = 0.4;
/// β_cubic: the part of the window that a loss leaves (section 4.6), in 1024ths.
const BETA: u64 = 717;
/// Segments acknowledged for each of the window's before W_est grows by one, in eighths: about the
/// inverse of α_cubic (section 4.3).
const INVERSE_ALPHA: u64 = 15;
/// How long the growth holds that was computed for a window.
const HOLD_NS: Nanos = 1_000_000_000 / 32;
/// Segments acknowledged for one that the window grows by: at least, and at most while no loss has
/// told W_max.
const LEAST_PER_SEGMENT: u64 = 2;
const UNKNOWN_PER_SEGMENT: u64 = 20;
/// The same where the curve does not lie above the window, for each segment of this.
const FLAT_PER_SEGMENT: u64 = 100;

/// After a loss the window follows W(t) = C·(t − K)³ + W_max, but is at least what Reno's would be.
///
/// As in Linux, so that the two engines of mptcplab can be compared: slow start ends by HyStart, or
/// by HyStart++ where asked for; while no loss has told W_max, the window grows by a twentieth a
/// round trip at least; W(t) is looked at one *smallest* round trip ahead; α_cubic stays what it is
/// once W_est has grown back; and the growth is computed anew when the window has changed or for
/// 1/32 s has not. With short round trips, where this is several of them, the window so stays
/// below Reno's. A congestion event that was none leaves the curve that it began (section 4.9
/// would bring back the one before), and the distance to the plateau counts in whole segments.
#[derive(Clone, Debug)]
pub struct Cubic {
    slow_start: SlowStart,
    curve: Curve,
}

/// How slow start ends without a loss.
#[derive(Clone, Debug)]
enum SlowStart {
    HyStart(HyStart),
    HyStartPlusPlus(HyStartPlusPlus),
}

/// The cubic curve; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// W_max; 0 while no loss has told.
    window_max: u64,
    epoch: Option<Epoch>,
    /// When the growth was computed, and for which window.
    computed: Option<(Nanos, u64)>,
    /// Segments acknowledged for each that the window grows by.
    per_segment: u64,
    /// Bytes acknowledged since the window grew.
    credit_bytes: u64,
}

/// A stage of congestion avoidance (section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch.
    start: Nanos,
    /// K, in seconds.
    k_s: f64,
    /// The plateau: W_max, or the window at the start where that was larger.
    origin: u64,
    /// W_est: Reno's window.
    reno: u64,
    /// Bytes acknowledged since W_est grew.
    reno_credit_bytes: u64,
}

impl Default for Cubic {
    fn default() -> Self {
        Self {
            slow_start: SlowStart::HyStart(HyStart::default()),
            curve: Curve::default(),
        }
    }
}

impl Cubic {
    /// CUBIC with the slow start of RFC 9406.
    pub fn with_hystart_plus_plus() -> Self {
        Self {
            slow_start: SlowStart::HyStartPlusPlus(HyStartPlusPlus::default()),
            ..Self::default()
        }
    }
}

impl Curve {
    /// Lets the window grow in congestion avoidance for what was acknowledged.
    fn grow(&mut self, window: &mut Window, now: Nanos, bytes: u64, min_rtt_ns: Nanos) {
        let mss = u64::from(window.mss);
        let segments = (window.bytes / mss).max(1);
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_credit_bytes += bytes;
        }
        let holds = |(at, of): (Nanos, u64)| of == segments && now - at <= HOLD_NS;
        if !self.computed.is_some_and(holds) {
            self.computed = Some((now, segments));
            self.per_segment = self.rate(segments, now, min_rtt_ns, bytes, mss);
        }
        let step_bytes = self.per_segment * mss;
        // The credit may have been gathered at a slower growth.
        if self.credit_bytes >= step_bytes {
            self.credit_bytes = 0;
            window.bytes += mss;
        }
        self.credit_bytes += bytes;
        window.bytes += self.credit_bytes / step_bytes * mss;
        self.credit_bytes %= step_bytes;
    }

    /// Segments acknowledged for each that a window grows by (sections 4.2 to 4.5). `bytes` are
    /// those just acknowledged.
    fn rate(&mut self, window: u64, now: Nanos, min_rtt_ns: Nanos, bytes: u64, mss: u64) -> u64 {
        let window_max = self.window_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            k_s: libm::cbrt(window_max.saturating_sub(window) as f64 / C),
            origin: window_max.max(window),
            reno: window,
            reno_credit_bytes: bytes,
        });
        let t_s = seconds(now.saturating_sub(epoch.start) + min_rtt_ns) - epoch.k_s;
        let distance = (C * t_s * t_s * t_s).abs() as u64;
        let target = if t_s < 0.0 {
            epoch.origin.saturating_sub(distance)
        } else {
            epoch.origin + distance
        };
        let mut per_segment = match target.saturating_sub(window) {
            0 => FLAT_PER_SEGMENT * window,
            above => window / above,
        };
        if window_max == 0 {
            per_segment = per_segment.min(UNKNOWN_PER_SEGMENT);
        }
        // The Reno-friendly region.
        let step_bytes = (window * INVERSE_ALPHA / 8) * mss;
        epoch.reno += epoch.reno_credit_bytes / step_bytes;
        epoch.reno_credit_bytes %= step_bytes;
        if let Some(missing) = epoch
            .reno
            .checked_sub(window)
            .filter(|missing| *missing > 0)
        {
            per_segment = per_segment.min(window / missing);
        }
        per_segment.max(LEAST_PER_SEGMENT)
    }
}

fn seconds(ns: Nanos) -> f64 {
    ns as f64 / 1e9
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        match self.slow_start {
            SlowStart::HyStart(_) => "cubic",
            SlowStart::HyStartPlusPlus(_) => "cubic-hystart++",
        }
    }

    fn on_round_trip(&mut self, window: &mut Window, ack: &Ack) {
        if let SlowStart::HyStart(hystart) = &mut self.slow_start {
            hystart.on_ack(window, ack);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack, _paths: &[PathView]) {
        if !ack.window_limited {
            return;
        }
        let mut left = ack.acknowledged_bytes;
        if window.in_slow_start() {
            left = match &mut self.slow_start {
                SlowStart::HyStart(_) => window.slow_start(left),
                SlowStart::HyStartPlusPlus(slow_start) => slow_start.grow(window, ack),
            };
        }
        if left == 0 {
            return;
        }
        self.curve.grow(window, ack.now, left, ack.min_rtt_ns);
    }

    fn on_congestion_event(
        &mut self,
        window: &Window,
        event: &CongestionEvent,
        _paths: &[PathView],
    ) -> u64 {
        let mss = u64::from(window.mss);
        let segments = window.bytes / mss;
        // Fast convergence (section 4.7): give room to new flows.
        let window_max = if segments < self.curve.window_max {
            segments * (1024 + BETA) / 2048
        } else {
            segments
        };
        self.curve = Curve {
            window_max,
            epoch: None,
            credit_bytes: 0,
            ..self.curve
        };
        if event.cause == Cause::Timeout {
            // As in Linux nothing is known after a timeout; section 4.8 says K = 0, W_max = cwnd.
            self.curve = Curve::default();
            self.slow_start = match self.slow_start {
                SlowStart::HyStart(_) => SlowStart::HyStart(HyStart::default()),
                // Section 4.3 of RFC 9406: only the first slow start.
                SlowStart::HyStartPlusPlus(_) => {
                    SlowStart::HyStartPlusPlus(HyStartPlusPlus::finished())
                }
            };
        }
        (segments * BETA / 1024).max(2) * mss
    }

    fn on_restart(&mut self, now: Nanos, idle_ns: Nanos) {
        // Time in which nothing was sent is none of the curve's (section 5.8).
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.start = (epoch.start + idle_ns).min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack_at, avoidance, loss};
    use super::*;

    const MSS: u64 = 1000;
    const RTT: Nanos = 100_000_000;

    /// One round trip of congestion avoidance: the whole window is acknowledged in segments.
    fn round(cubic: &mut Cubic, window: &mut Window, start: Nanos) {
        let segments = window.bytes / MSS;
        for index in 0..segments {
            let now = start + RTT * index / segments;
            cubic.on_ack(window, &ack_at(now, MSS, RTT), &[]);
        }
    }

    #[test]
    fn after_one_loss_the_window_follows_the_cubic_curve() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(1_000_000);
        let threshold = cubic.on_congestion_event(&window, &loss(), &[]);
        assert_eq!(threshold, 700_000);
        window.bytes = threshold;
        window.slow_start_threshold_bytes = threshold;
        // K = ∛(300 / 0.4) = 9.086 s.
        let k_s = libm::cbrt(300.0 / C);
        for step in 0..150 {
            let start = step * RTT;
            round(&mut cubic, &mut window, start);
            let t_s = seconds(start + RTT) - k_s;
            let expected = (C * t_s * t_s * t_s + 1000.0) * MSS as f64;
            let error = (window.bytes as f64 - expected).abs() / expected;
            assert!(error < 0.01, "round {step}: {} {expected}", window.bytes);
        }
    }

    /// A window of 14 segments after a loss at 20, where the cubic curve is flat.
    fn small() -> (Cubic, Window) {
        let mut cubic = Cubic::default();
        let mut window = avoidance(20_000);
        let threshold = cubic.on_congestion_event(&window, &loss(), &[]);
        assert_eq!(threshold, 14_000);
        window.bytes = threshold;
        window.slow_start_threshold_bytes = threshold;
        (cubic, window)
    }

    /// The window after so many round trips.
    fn grown(rtt: Nanos, rounds: u64) -> u64 {
        let (mut cubic, mut window) = small();
        for acks in 0..14 * rounds {
            cubic.on_ack(&mut window, &ack_at(acks * rtt / 14, MSS, rtt), &[]);
        }
        window.bytes / MSS
    }

    #[test]
    fn with_a_small_window_it_grows_almost_as_fast_as_reno_with_its_decrease() {
        // Reno: w' = 8/15/w for each of 560 segments: w² = 14² + 2·560·8/15, w = 28.2.
        assert!(
            (25..=28).contains(&grown(HOLD_NS, 40)),
            "{}",
            grown(HOLD_NS, 40)
        );
    }

    #[test]
    fn with_short_round_trips_it_grows_more_slowly() {
        assert!(grown(HOLD_NS / 8, 40) < grown(HOLD_NS, 40));
    }

    #[test]
    fn a_loss_below_the_last_maximum_gives_way_to_new_flows() {
        let mut cubic = Cubic::default();
        cubic.on_congestion_event(&avoidance(100_000), &loss(), &[]);
        assert_eq!(cubic.curve.window_max, 100);
        cubic.on_congestion_event(&avoidance(80_000), &loss(), &[]);
        assert_eq!(cubic.curve.window_max, 68);
    }

    #[test]
    fn with_a_small_window_it_is_back_at_the_plateau_before_k() {
        // K = ∛(12 / 0.4) = 3.1 s; below 1 s from it the distance is less than a segment.
        let rtt = 2 * RTT;
        let mut cubic = Cubic::default();
        let mut window = avoidance(40_000);
        window.bytes = cubic.on_congestion_event(&window, &loss(), &[]);
        assert_eq!(window.bytes, 28_000);
        window.slow_start_threshold_bytes = window.bytes;
        let mut rounds = 0;
        while window.bytes < 40_000 {
            let segments = window.bytes / MSS;
            for index in 0..segments {
                let now = rtt * rounds + rtt * index / segments;
                cubic.on_ack(&mut window, &ack_at(now, MSS, rtt), &[]);
            }
            rounds += 1;
        }
        assert_eq!(rounds, 8);
    }

    #[test]
    fn a_timeout_leaves_nothing_of_the_curve() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(100_000);
        cubic.on_congestion_event(&window, &loss(), &[]);
        round(&mut cubic, &mut window, 0);
        let timeout = CongestionEvent {
            cause: Cause::Timeout,
            ..loss()
        };
        cubic.on_congestion_event(&window, &timeout, &[]);
        assert_eq!(cubic.curve.window_max, 0);
        assert_eq!(cubic.curve.credit_bytes, 0);
        assert_eq!(cubic.curve.computed, None);
    }

    #[test]
    fn while_no_loss_has_told_the_window_grows_by_a_twentieth_a_round_trip() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(1_000_000);
        round(&mut cubic, &mut window, 0);
        assert!((1_045_000..1_055_000).contains(&window.bytes), "{window:?}");
    }

    #[test]
    fn idle_time_does_not_count() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(700_000);
        cubic.curve.window_max = 1000;
        round(&mut cubic, &mut window, 0);
        let mut other = (cubic.clone(), window);
        other.0.on_restart(60 * RTT, 59 * RTT);
        round(&mut cubic, &mut window, RTT);
        round(&mut other.0, &mut other.1, 60 * RTT);
        assert_eq!(window, other.1);
    }

    #[test]
    fn the_curve_begins_no_later_than_now() {
        let mut cubic = Cubic::default();
        let mut window = avoidance(700_000);
        round(&mut cubic, &mut window, 0);
        cubic.on_restart(RTT, 60 * RTT);
        assert_eq!(cubic.curve.epoch.unwrap().start, RTT);
    }
}
