//! Round trips and the retransmission timeout (RFC 6298).

use crate::Nanos;

/// RTO before the first sample (RFC 6298, section 2.1).
pub(crate) const INITIAL_RTO_NS: Nanos = 1_000_000_000;

/// The least SRTT: a unit of Linux's, an eighth of a microsecond. Rates are reckoned from it, and
/// without one a path over which packets take no time would have none.
const LEAST_SMOOTHED_NS: Nanos = 125;

/// Half of the time over which the smallest round trip is kept (`tcp_min_rtt_wlen`: 300 s).
const MINIMUM_HALF_NS: Nanos = 150_000_000_000;

/// SRTT, RTTVAR, the smallest round trip and the RTO.
///
/// The margin of the timeout above SRTT is the largest deviation of the last round trips, not the
/// last one of several in a round trip, and it shrinks slowly: a path whose queue fills up has a
/// timeout that stays ahead of it.
///
/// Source: `tcp_rtt_estimator` in Linux 6.18, net/ipv4/tcp_input.c.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    sampled: bool,
    smoothed_ns: Nanos,
    /// Four mean deviations.
    deviation_ns: Nanos,
    /// The largest of them in this round trip; at least the floor.
    largest_ns: Nanos,
    margin_ns: Nanos,
    /// The round trip ends when more than this is acknowledged.
    round_end: u64,
    minimum: RecentMinimum,
    backoff: u32,
    floor_ns: Nanos,
    ceiling_ns: Nanos,
}

impl RttEstimator {
    /// `floor_ns` is the least that the timeout is above SRTT, `ceiling_ns` the largest timeout.
    ///
    /// RFC 6298 has a floor of 1 s for the sum. Linux's 200 ms stand for the variation alone: a
    /// steady round trip of 300 ms has a timeout of 500 ms.
    pub(crate) fn new(floor_ns: Nanos, ceiling_ns: Nanos) -> Self {
        Self {
            sampled: false,
            smoothed_ns: 0,
            deviation_ns: 0,
            largest_ns: 0,
            margin_ns: 0,
            round_end: 0,
            minimum: RecentMinimum::default(),
            backoff: 0,
            floor_ns,
            ceiling_ns,
        }
    }

    /// Takes a sample and ends the back-off. `acknowledged` and `next` are SND.UNA and SND.NXT.
    pub(crate) fn sample(&mut self, now: Nanos, rtt_ns: Nanos, acknowledged: u64, next: u64) {
        if self.sampled {
            self.deviate(rtt_ns);
            let smoothed_ns = self.smoothed_ns - self.smoothed_ns / 8 + rtt_ns / 8;
            self.smoothed_ns = smoothed_ns.max(LEAST_SMOOTHED_NS);
            if acknowledged > self.round_end {
                let excess = self.margin_ns.saturating_sub(self.largest_ns);
                self.margin_ns -= excess.div_ceil(4);
                self.largest_ns = self.floor_ns;
                self.round_end = next;
            }
        } else {
            self.sampled = true;
            self.smoothed_ns = rtt_ns.max(LEAST_SMOOTHED_NS);
            self.deviation_ns = 2 * rtt_ns;
            self.margin_ns = self.deviation_ns.max(self.floor_ns);
            self.largest_ns = self.margin_ns;
            self.round_end = next;
        }
        self.minimum.sample(now, rtt_ns);
        self.backoff = 0;
    }

    /// Takes a deviation: one that grows as round trips become shorter counts an eighth.
    fn deviate(&mut self, rtt_ns: Nanos) {
        let error = rtt_ns.abs_diff(self.smoothed_ns);
        let quarter = self.deviation_ns / 4;
        if error <= quarter {
            self.deviation_ns -= quarter - error;
        } else if rtt_ns < self.smoothed_ns {
            self.deviation_ns += (error - quarter) / 8;
        } else {
            self.deviation_ns += error - quarter;
        }
        self.largest_ns = self.largest_ns.max(self.deviation_ns);
        self.margin_ns = self.margin_ns.max(self.largest_ns);
    }

    /// SRTT; 0 before the first sample.
    pub(crate) fn smoothed_ns(&self) -> Nanos {
        self.smoothed_ns
    }

    /// RTTVAR.
    pub(crate) fn variation_ns(&self) -> Nanos {
        self.deviation_ns / 4
    }

    /// Smallest round trip of the last minutes.
    pub(crate) fn minimum_ns(&self) -> Option<Nanos> {
        self.minimum.get()
    }

    /// RTO, doubled as often as backed off.
    pub(crate) fn rto_ns(&self) -> Nanos {
        let base = if self.sampled {
            self.smoothed_ns + self.margin_ns
        } else {
            INITIAL_RTO_NS
        };
        base.saturating_mul(1 << self.backoff.min(32))
            .min(self.ceiling_ns)
    }

    /// Doubles the RTO (RFC 6298, section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// Ends the doubling: the peer has acknowledged something new.
    pub(crate) fn end_backoff(&mut self) {
        self.backoff = 0;
    }
}

/// The smallest value of the last five minutes, or of up to half as long.
#[derive(Clone, Debug, Default)]
struct RecentMinimum {
    current: Option<Nanos>,
    previous: Option<Nanos>,
    since: Nanos,
}

impl RecentMinimum {
    fn sample(&mut self, now: Nanos, value: Nanos) {
        if now.saturating_sub(self.since) >= MINIMUM_HALF_NS {
            self.previous = self.current.take();
            self.since = now;
        }
        self.current = Some(self.current.map_or(value, |current| current.min(value)));
    }

    fn get(&self) -> Option<Nanos> {
        match (self.current, self.previous) {
            (Some(current), Some(previous)) => Some(current.min(previous)),
            (current, previous) => current.or(previous),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn estimator() -> RttEstimator {
        RttEstimator::new(200 * MS, 120_000 * MS)
    }

    /// A sample of a window of one segment.
    fn sample(rtt: &mut RttEstimator, n: u64, rtt_ns: Nanos) {
        rtt.sample(n, rtt_ns, n + 1, n + 1);
    }

    #[test]
    fn the_timeout_is_a_second_before_the_first_sample() {
        assert_eq!(estimator().rto_ns(), 1000 * MS);
    }

    #[test]
    fn the_first_sample_sets_srtt_and_half_of_it_as_variation() {
        let mut rtt = estimator();
        sample(&mut rtt, 0, 800 * MS);
        assert_eq!(rtt.smoothed_ns(), 800 * MS);
        assert_eq!(rtt.variation_ns(), 400 * MS);
        assert_eq!(rtt.rto_ns(), 2400 * MS);
    }

    #[test]
    fn later_samples_weigh_an_eighth_and_a_quarter() {
        let mut rtt = estimator();
        sample(&mut rtt, 0, 800 * MS);
        sample(&mut rtt, 1, 1600 * MS);
        assert_eq!(rtt.smoothed_ns(), 900 * MS);
        assert_eq!(rtt.variation_ns(), 500 * MS);
    }

    #[test]
    fn a_steady_round_trip_has_a_timeout_of_200_ms_more() {
        let mut rtt = estimator();
        for n in 0..100 {
            sample(&mut rtt, n, 300 * MS);
        }
        assert_eq!(rtt.rto_ns(), 500 * MS);
    }

    #[test]
    fn the_timeout_keeps_the_largest_deviation_of_the_last_round_trips() {
        let mut rtt = estimator();
        rtt.sample(0, 500 * MS, 1, 40);
        // A queue that fills up: at the end of the window the deviation is small.
        let filling = [600, 800, 1000].into_iter().chain([1010; 30]);
        for (n, rtt_ms) in filling.enumerate() {
            rtt.sample(1, rtt_ms * MS, 1 + n as u64, 40);
        }
        assert!(4 * rtt.variation_ns() < 300 * MS);
        let margin = |rtt: &RttEstimator| rtt.rto_ns() - rtt.smoothed_ns();
        let largest = margin(&rtt);
        assert!(largest > 1200 * MS, "{largest}");
        // The next round trip begins, and at its end a quarter of the excess goes.
        rtt.sample(2, 1010 * MS, 41, 80);
        assert_eq!(margin(&rtt), largest);
        rtt.sample(3, 1010 * MS, 81, 120);
        assert!(margin(&rtt) < largest && margin(&rtt) > largest / 2);
    }

    #[test]
    fn round_trips_that_become_shorter_hardly_widen_the_timeout() {
        let mut rtt = estimator();
        for n in 0..100 {
            sample(&mut rtt, n, 2000 * MS);
        }
        sample(&mut rtt, 100, 1000 * MS);
        assert_eq!(rtt.rto_ns(), 2075 * MS);
    }

    #[test]
    fn back_off_doubles_up_to_the_ceiling_and_ends_with_a_sample() {
        let mut rtt = estimator();
        rtt.back_off();
        assert_eq!(rtt.rto_ns(), 2000 * MS);
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto_ns(), 120_000 * MS);
        sample(&mut rtt, 0, 10 * MS);
        assert_eq!(rtt.rto_ns(), 210 * MS);
    }

    #[test]
    fn round_trips_of_no_time_count_a_unit() {
        let mut rtt = estimator();
        for n in 0..9 {
            sample(&mut rtt, n, 0);
            assert_eq!(rtt.smoothed_ns(), LEAST_SMOOTHED_NS);
        }
    }

    #[test]
    fn the_minimum_is_forgotten_after_five_minutes() {
        let mut rtt = estimator();
        sample(&mut rtt, 0, 10 * MS);
        sample(&mut rtt, MINIMUM_HALF_NS, 20 * MS);
        assert_eq!(rtt.minimum_ns(), Some(10 * MS));
        sample(&mut rtt, 2 * MINIMUM_HALF_NS, 30 * MS);
        assert_eq!(rtt.minimum_ns(), Some(20 * MS));
    }
}
