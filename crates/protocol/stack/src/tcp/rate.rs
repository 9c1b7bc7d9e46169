//! Rate of delivery, measured over the flight of a segment (Cheng, Cardwell et al.,
//! draft-cheng-iccrg-delivery-rate-estimation).

use super::delivery::Newest;
use super::pacing::per_second;
use crate::Nanos;

/// State of the measurement when a segment was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateStamp {
    delivered_bytes: u64,
    delivered_at: Nanos,
    first_sent: Nanos,
    limited_by_application: bool,
}

/// Bytes delivered in a time: a rate is asked for far less often than one is measured.
#[derive(Clone, Copy, Debug)]
struct Sample {
    bits: u64,
    interval_ns: Nanos,
}

impl Sample {
    fn rate_bps(self) -> u64 {
        per_second(self.bits, self.interval_ns)
    }
}

/// The measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    delivered_bytes: u64,
    delivered_at: Nanos,
    first_sent: Nanos,
    /// Delivered bytes up to which samples tell the application's rate, not the path's.
    application_limit: Option<u64>,
    sample: Option<Sample>,
}

impl DeliveryRate {
    /// The stamp for a segment that is sent now.
    pub(crate) fn stamp(&mut self, now: Nanos, nothing_in_flight: bool) -> RateStamp {
        if nothing_in_flight {
            self.first_sent = now;
            self.delivered_at = now;
        }
        RateStamp {
            delivered_bytes: self.delivered_bytes,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            limited_by_application: self.application_limit.is_some(),
        }
    }

    /// Notes that the application has nothing more to send.
    pub(crate) fn limit_by_application(&mut self, in_flight_bytes: u64) {
        self.application_limit = Some((self.delivered_bytes + in_flight_bytes).max(1));
    }

    /// Takes the sample of an acknowledgement that delivered `bytes`.
    ///
    /// A sample of an application that has nothing to send counts only where it is higher, as
    /// in Linux's `TCP_INFO`. An interval below the smallest round trip is no sample.
    pub(crate) fn on_delivery(
        &mut self,
        now: Nanos,
        bytes: u64,
        newest: Option<Newest>,
        min_rtt_ns: Nanos,
    ) {
        self.delivered_bytes += bytes;
        self.delivered_at = now;
        if self
            .application_limit
            .is_some_and(|limit| self.delivered_bytes > limit)
        {
            self.application_limit = None;
        }
        let Some(newest) = newest else { return };
        let stamp = newest.stamp;
        self.first_sent = newest.sent;
        let sending = newest.sent.saturating_sub(stamp.first_sent);
        let acknowledging = now.saturating_sub(stamp.delivered_at);
        let interval = sending.max(acknowledging);
        if interval == 0 || interval < min_rtt_ns {
            return;
        }
        let sample = Sample {
            bits: 8 * (self.delivered_bytes - stamp.delivered_bytes),
            interval_ns: interval,
        };
        let is_higher = |known: Sample| sample.rate_bps() >= known.rate_bps();
        if !stamp.limited_by_application || self.sample.is_none_or(is_higher) {
            self.sample = Some(sample);
        }
    }

    /// The last sample.
    pub(crate) fn rate_bps(&self) -> Option<u64> {
        self.sample.map(Sample::rate_bps)
    }
}
