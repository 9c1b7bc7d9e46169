//! State of the data of one end.

use mptcplab_wire::Ecn;

use super::gaps::{Gaps, Opening};
use super::identification::Identifications;
use super::pipe::{Scoreboard, USUAL_SEGMENT};
use super::recovery::Recovery;
use super::resent::Resent;
use super::round_trips::RoundTrips;
use super::scale::Offer;
use super::send_times::SendTimes;
use super::summary::SentSummary;
use crate::{Nanos, Segment};

/// How far below the first byte seen others may come late, where the SYN was not captured: half of
/// the sequence space.
const LONGEST_PAST: i64 = 1 << 31;

/// The data of one end, and the other end's acknowledgements of it.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    /// Round trips from the place of the capture to the other end and back.
    pub(super) round_trips: RoundTrips,
    /// The number after the highest that was sent, as far as packets show.
    pub(super) next: i64,
    /// Highest cumulative acknowledgement.
    pub(super) acknowledged: i64,
    /// Below lies what was sent again, came late or was selectively acknowledged: the
    /// acknowledgement of it may have waited for other data.
    pub(super) ambiguous_below: i64,
    /// Something of it was seen: its numbers are known.
    pub(super) known: bool,
    /// A window was granted to it that was not in a SYN.
    pub(super) has_window: bool,
    /// Window granted to it last, as in the header.
    pub(super) window: u16,
    /// Sequence number on the wire of relative number 0.
    initial: u32,
    /// The number of the FIN.
    pub(super) fin: Option<i64>,
    /// By how much the windows that it grants are shifted, where known.
    pub(super) shift: Option<u8>,
    pub(super) identifications: Identifications,
    /// Largest segment that it sends, as far as the SYNs give it.
    pub(super) segment_bytes: Option<u16>,
    /// Window scale in its SYN.
    pub(super) offer: Option<Offer>,
    pub(super) send_times: SendTimes,
    pub(super) recovery: Recovery,
    /// Blocks of SACK.
    pub(super) scoreboard: Scoreboard,
    /// Counters; those of round trips are filled in when asked for.
    pub(super) counts: SentSummary,
    pub(super) gaps: Gaps,
    pub(super) resent: Resent,
    /// Round trip of the SYN.
    pub(super) syn_round_trip: Option<Nanos>,
}

impl Direction {
    /// Begins the numbers with a segment of this end.
    #[cold]
    pub(super) fn begin(&mut self, segment: &Segment) {
        if segment.flags.syn {
            self.begin_at_syn(segment.sequence);
        } else {
            self.begin_after(segment.sequence, segment);
        }
    }

    /// Begins the numbers with the sequence number that is to come, for which `segment` is the
    /// evidence: that is number 1.
    #[cold]
    pub(super) fn begin_after(&mut self, next: u32, segment: &Segment) {
        self.known = true;
        self.initial = next.wrapping_sub(1);
        self.next = 1;
        self.acknowledged = 1;
        self.ambiguous_below = i64::MIN;
        self.gaps.open(1 - LONGEST_PAST, 1, Opening::of(segment));
    }

    /// Begins the numbers with a SYN.
    pub(super) fn begin_at_syn(&mut self, initial: u32) {
        self.known = true;
        self.initial = initial;
        self.next = 0;
        self.acknowledged = 0;
        self.ambiguous_below = i64::MIN;
        self.gaps = Gaps::default();
        self.scoreboard = Scoreboard::default();
        self.send_times.clear();
    }

    /// Returns the sequence number on the wire as one near the next number.
    #[inline]
    pub(super) fn sent_number(&self, wire: u32) -> i64 {
        self.near(self.next, wire)
    }

    /// Returns the sequence number on the wire as one near the acknowledged one.
    #[inline]
    pub(super) fn acknowledged_number(&self, wire: u32) -> i64 {
        self.near(self.acknowledged, wire)
    }

    /// Returns the number nearest to `number` that is `wire` on the wire.
    #[inline]
    fn near(&self, number: i64, wire: u32) -> i64 {
        let there = self.initial.wrapping_add(number as u32);
        number + i64::from(wire.wrapping_sub(there) as i32)
    }

    /// Returns the bytes of data that are sent and not acknowledged, and the pipe (RFC 6675).
    #[inline]
    pub(super) fn in_flight_and_pipe(&self) -> (u64, u64) {
        let (start, end) = self.under_way();
        let in_flight = (end - start).max(0) as u64;
        if self.scoreboard.is_empty() {
            return (in_flight, in_flight);
        }
        let segment = self.segment_bytes.unwrap_or(USUAL_SEGMENT);
        (in_flight, self.scoreboard.pipe(start, end, segment))
    }

    /// Returns the first unacknowledged number of data, and the one after the last that was sent.
    #[inline]
    fn under_way(&self) -> (i64, i64) {
        // Number 0 is the SYN; where it was not captured all up to that is acknowledged.
        let start = self.acknowledged.max(1);
        let is_last = |fin: i64| fin + 1 == self.next;
        let fin = self.fin.is_some_and(is_last);
        (start, self.next - i64::from(fin))
    }

    /// Keeps the most that is in flight, and the largest pipe.
    #[inline]
    pub(super) fn count_under_way(&mut self, in_flight: u64, pipe: u64) {
        self.counts.in_flight_max_bytes = self.counts.in_flight_max_bytes.max(in_flight);
        self.counts.pipe_max_bytes = self.counts.pipe_max_bytes.max(pipe);
    }

    /// Returns whether the window granted to it last is closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.has_window && self.window == 0
    }

    /// Counts a packet that stands for `wire_packets`.
    #[inline]
    pub(super) fn count(&mut self, segment: &Segment, wire_packets: u32) {
        self.counts.packets += 1;
        self.counts.wire_packets += u64::from(wire_packets);
        if segment.ecn == Ecn::CongestionExperienced {
            self.counts.ecn_marked += 1;
        }
    }

    /// Counts its data.
    #[inline]
    pub(super) fn count_data(&mut self, segment: &Segment) {
        let at = segment.at;
        self.counts.payload_bytes += u64::from(segment.payload_bytes);
        if let Some(last) = self.counts.last_data_ns {
            // Below 0 where the stamps are not in the order of capture.
            let idle = at.saturating_sub(last);
            if idle > self.counts.idle_max_ns.unwrap_or(-1) {
                self.counts.idle_max_ns = Some(idle);
                self.counts.idle_at_ns = Some(last);
            }
        } else {
            self.counts.first_data_ns = Some(at);
        }
        self.counts.last_data_ns = Some(at);
    }

    /// Summarises it.
    pub(super) fn summary(&self) -> SentSummary {
        SentSummary {
            rtt_samples: self.round_trips.count(),
            rtt_min_ns: self.round_trips.smallest(),
            rtt_mean_ns: self.round_trips.mean(),
            rtt_max_ns: self.round_trips.largest(),
            rtt_deviation_ns: self.round_trips.deviation(),
            ..self.counts
        }
    }
}

impl Opening {
    pub(super) fn of(segment: &Segment) -> Self {
        Self {
            at: segment.at,
            timestamp: segment.options.timestamps.map(|stamps| stamps.value),
            identification: segment.identification,
        }
    }
}
