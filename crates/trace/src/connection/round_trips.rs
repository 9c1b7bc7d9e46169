//! Round trips at the level of data.

use std::collections::VecDeque;

use super::ranges::Number;
use crate::Nanos;

/// Most send times that are remembered until they are acknowledged. Data that is sent beyond them
/// gives no sample.
pub(super) const MAX_MARKS: usize = 1024;

/// Times from the first sending of data on any subflow to the first DATA_ACK that covers it.
///
/// Each segment that extends the data sequence is marked; an acknowledgement gives one sample, for
/// the last byte of the last marked segment that it covers. Retransmitted data counts from the
/// first time, so that recovery is part of the figure, as it is for the application.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// The number after a segment, and when it was sent.
    marks: VecDeque<(Number, Nanos)>,
    pub(super) samples: u64,
    sum_ns: u64,
    pub(super) min_ns: Nanos,
    pub(super) max_ns: Nanos,
    /// Smoothed as in RFC 6298, section 2, with a gain of 1/8.
    pub(super) smoothed_ns: Nanos,
}

impl RoundTrips {
    /// Notes that data up to `end` is sent.
    #[inline]
    pub(super) fn send(&mut self, end: Number, at: Nanos) {
        if self.marks.len() < MAX_MARKS {
            self.marks.push_back((end, at));
        }
    }

    /// Takes a DATA_ACK of `number`. Returns its sample.
    #[inline]
    pub(super) fn acknowledge(&mut self, number: Number, at: Nanos) -> Option<Nanos> {
        let mut sent = None;
        while let Some(&(end, at)) = self.marks.front() {
            if end > number {
                break;
            }
            sent = Some(at);
            self.marks.pop_front();
        }
        // Captures that are put together from several may lack order.
        let sample = at.checked_sub(sent?).filter(|sample| *sample >= 0)?;
        self.take(sample);
        Some(sample)
    }

    fn take(&mut self, sample: Nanos) {
        if self.samples == 0 {
            (self.min_ns, self.max_ns, self.smoothed_ns) = (sample, sample, sample);
        } else {
            self.min_ns = self.min_ns.min(sample);
            self.max_ns = self.max_ns.max(sample);
            self.smoothed_ns += (sample - self.smoothed_ns) / 8;
        }
        self.samples += 1;
        self.sum_ns = self.sum_ns.saturating_add(sample as u64);
    }

    /// Returns the mean of all samples.
    pub(super) fn mean_ns(&self) -> Option<Nanos> {
        Some(self.sum_ns.checked_div(self.samples)? as Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_gives_a_sample_of_the_last_segment_that_it_covers() {
        let mut trips = RoundTrips::default();
        trips.send(100, 1000);
        trips.send(200, 1010);
        trips.send(300, 1020);
        assert_eq!(trips.acknowledge(99, 1050), None);
        assert_eq!(trips.acknowledge(250, 1060), Some(50));
        assert_eq!(trips.acknowledge(250, 1070), None);
        assert_eq!(trips.acknowledge(300, 1080), Some(60));
        assert_eq!((trips.samples, trips.mean_ns()), (2, Some(55)));
        assert_eq!(
            (trips.min_ns, trips.max_ns, trips.smoothed_ns),
            (50, 60, 51)
        );
    }

    #[test]
    fn there_is_a_limit_to_what_waits() {
        let mut trips = RoundTrips::default();
        for number in 0..2 * MAX_MARKS as Number {
            trips.send(number, number);
        }
        assert_eq!(trips.marks.len(), MAX_MARKS);
        assert_eq!(trips.acknowledge(Number::MAX, MAX_MARKS as Nanos), Some(1));
    }

    #[test]
    fn clocks_that_go_back_give_nothing() {
        let mut trips = RoundTrips::default();
        trips.send(1, 10);
        assert_eq!(trips.acknowledge(1, 9), None);
        trips.send(2, Nanos::MIN);
        assert_eq!(trips.acknowledge(2, Nanos::MAX), None);
        assert_eq!(trips.mean_ns(), None);
    }
}
