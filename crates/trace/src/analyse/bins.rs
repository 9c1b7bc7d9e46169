//! Data of one end on a subflow, in bins of time.

use crate::tables::SampleRow;
use crate::{DataVerdict, Kind, Nanos, Place, Segment, Side, Verdict};

/// Width of a bin. They begin at its multiples since the Unix epoch.
const BIN: Nanos = 100_000_000;

/// The incomplete bins of a subflow, by sending end.
#[derive(Default)]
pub(crate) struct Bins {
    ends: [Option<Bin>; 2],
}

/// Data of one end in a bin, and the acknowledgements of it.
struct Bin {
    start: Nanos,
    packets: u32,
    payload_bytes: u64,
    new_bytes: u64,
    retransmissions: u32,
    rtt_samples: i64,
    rtt_sum: Nanos,
    rtt_min: Nanos,
    rtt_max: Nanos,
    in_flight_bytes: u64,
    window_bytes: Option<u64>,
    new_data_bytes: u64,
    reinjected_bytes: u64,
}

impl Bins {
    /// Counts a packet. Passes the bins that it completes to `complete`.
    pub(crate) fn take(
        &mut self,
        segment: &Segment,
        place: Place,
        verdict: &Verdict,
        data: &DataVerdict,
        mut complete: impl FnMut(SampleRow),
    ) {
        let start = segment.at.div_euclid(BIN) * BIN;
        let sent = self.at(place, place.from, start, &mut complete);
        sent.packets += 1;
        sent.payload_bytes += u64::from(segment.payload_bytes);
        sent.new_bytes += u64::from(verdict.new_bytes);
        sent.new_data_bytes += u64::from(data.new_data_bytes);
        sent.reinjected_bytes += u64::from(data.reinjected_bytes);
        sent.in_flight_bytes = verdict.in_flight_bytes;
        sent.retransmissions += u32::from(matches!(
            verdict.kind,
            Kind::FastRetransmission | Kind::TimeoutRetransmission
        ));
        if verdict.rtt.is_none() && verdict.window_bytes.is_none() {
            return;
        }
        let told = self.at(place, place.from.other(), start, &mut complete);
        told.window_bytes = verdict.window_bytes.or(told.window_bytes);
        if let Some((_, rtt)) = verdict.rtt {
            told.rtt_min = if told.rtt_samples == 0 {
                rtt
            } else {
                told.rtt_min.min(rtt)
            };
            told.rtt_max = told.rtt_max.max(rtt);
            told.rtt_samples += 1;
            told.rtt_sum += rtt;
        }
    }

    /// Returns the bin of `side` that begins at `start`. An earlier one is complete; a late packet
    /// counts in the incomplete one.
    fn at(
        &mut self,
        place: Place,
        side: Side,
        start: Nanos,
        complete: &mut impl FnMut(SampleRow),
    ) -> &mut Bin {
        let bin = &mut self.ends[side as usize];
        if let Some(before) = bin
            && before.start < start
        {
            before.end(place, side, complete);
            *bin = None;
        }
        bin.get_or_insert(Bin {
            start,
            packets: 0,
            payload_bytes: 0,
            new_bytes: 0,
            retransmissions: 0,
            rtt_samples: 0,
            rtt_sum: 0,
            rtt_min: 0,
            rtt_max: 0,
            in_flight_bytes: 0,
            window_bytes: None,
            new_data_bytes: 0,
            reinjected_bytes: 0,
        })
    }

    /// Passes the remaining bins to `complete`.
    pub(crate) fn finish(self, connection: u32, subflow: u32, mut complete: impl FnMut(SampleRow)) {
        for (bin, from) in self.ends.into_iter().zip([Side::Client, Side::Server]) {
            let place = Place {
                connection,
                subflow,
                from,
            };
            bin.into_iter()
                .for_each(|bin| bin.end(place, from, &mut complete));
        }
    }
}

impl Bin {
    /// Passes its row to `complete`, where it has more than a window.
    fn end(&self, place: Place, from: Side, complete: &mut impl FnMut(SampleRow)) {
        if self.packets == 0 && self.rtt_samples == 0 {
            return;
        }
        let rtt = |value| (self.rtt_samples > 0).then_some(value);
        complete(SampleRow {
            connection: place.connection,
            subflow: place.subflow,
            from,
            t_ns: self.start,
            packets: self.packets,
            payload_bytes: self.payload_bytes,
            new_bytes: self.new_bytes,
            retransmissions: self.retransmissions,
            rtt_min_ns: rtt(self.rtt_min),
            rtt_mean_ns: rtt(self.rtt_sum / self.rtt_samples.max(1)),
            rtt_max_ns: rtt(self.rtt_max),
            in_flight_bytes: self.in_flight_bytes,
            window_bytes: self.window_bytes,
            new_data_bytes: self.new_data_bytes,
            reinjected_bytes: self.reinjected_bytes,
        });
    }
}
