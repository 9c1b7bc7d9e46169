//! The delivery that one acknowledgement tells of.

use super::rate::RateStamp;
use super::record::Record;
use crate::Nanos;

/// Newly delivered data of one acknowledgement, gathered record by record.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    now: Nanos,
    /// A retransmission that is answered sooner was not the one that arrived.
    min_rtt_ns: Nanos,
    /// Transmissions from then on are later than the timestamp that the acknowledgement echoes.
    pub(crate) echo_before: Nanos,
    /// Data before this offset was sent before the recovery began.
    point: u64,
    /// Bytes delivered, FIN included.
    pub(crate) bytes: u64,
    /// Records delivered.
    pub(crate) records: u32,
    /// When the first and the last sent of those were sent that were sent only once.
    pub(crate) original_sent: Option<(Nanos, Nanos)>,
    /// Smallest start of those sent only once.
    pub(crate) original_start: Option<u64>,
    /// One that was sent more than once was delivered.
    pub(crate) retransmitted: bool,
    /// One that was sent only once, before the recovery began, was delivered.
    pub(crate) original_before_point: bool,
    /// The transmission that was sent last.
    pub(crate) newest: Option<Newest>,
    /// Largest end.
    pub(crate) end: u64,
}

/// The transmission that was sent last among those delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    pub(crate) transmission: u64,
    pub(crate) sent: Nanos,
    pub(crate) stamp: RateStamp,
}

impl Delivery {
    pub(crate) fn new(now: Nanos, min_rtt_ns: Nanos, point: u64) -> Self {
        Self {
            now,
            min_rtt_ns,
            echo_before: Nanos::MAX,
            point,
            bytes: 0,
            records: 0,
            original_sent: None,
            original_start: None,
            retransmitted: false,
            original_before_point: false,
            newest: None,
            end: 0,
        }
    }

    pub(crate) fn add(&mut self, record: &Record) {
        self.bytes += record.bytes();
        self.records += 1;
        self.end = self.end.max(record.end());
        if !record.retransmitted {
            let (first, last) = self.original_sent.unwrap_or((record.sent, record.sent));
            self.original_sent = Some((first.min(record.sent), last.max(record.sent)));
            let start = self.original_start.unwrap_or(record.start);
            self.original_start = Some(start.min(record.start));
            self.original_before_point |= record.end() <= self.point;
        } else {
            self.retransmitted = true;
            let too_soon = self.now.saturating_sub(record.sent) < self.min_rtt_ns;
            if too_soon || record.sent >= self.echo_before {
                return;
            }
        }
        if self
            .newest
            .is_none_or(|newest| newest.transmission < record.transmission)
        {
            self.newest = Some(Newest {
                transmission: record.transmission,
                sent: record.sent,
                stamp: record.stamp,
            });
        }
    }
}
