//! Effect of a segment on its sender's direction.

use super::direction::Direction;
use super::gaps::Opening;
use super::out_of_order::{Evidence, is_sent_again};
use super::recovery::Again;
use super::resent::Retransmission;
use super::round_trips::RoundTrips;
use crate::{Kind, Nanos, Segment};

/// A byte that is acknowledged already is a keep-alive where nothing came or went for so long
/// before; sooner it is a retransmission that crossed the acknowledgement.
const KEEP_ALIVE_QUIET: Nanos = 1_000_000_000;
/// Most numbers under way whose send times can be told apart.
const MOST_UNDER_WAY: i64 = 1 << 30;

/// Parts of a range of sequence numbers by whether they had been seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Numbers that had been seen.
    before: i64,
    /// Unseen numbers below the highest.
    late: i64,
    /// Unseen numbers above the highest.
    beyond: i64,
    /// Segment that showed the gap.
    opening: Option<Opening>,
}

impl Direction {
    /// Takes a segment that begins at `sequence` and stands for `wire_packets`. Returns its kind
    /// and how many new bytes it has. `upstream` are the round trips between the place of the
    /// capture and the sender.
    #[inline]
    pub(super) fn on_send(
        &mut self,
        segment: &Segment,
        sequence: i64,
        wire_packets: u32,
        upstream: &RoundTrips,
    ) -> (Kind, u32) {
        let flags = segment.flags;
        let bytes = segment.payload_bytes;
        self.count(segment, wire_packets);
        if flags.syn || flags.fin || flags.rst {
            return self.send_control(segment, sequence, wire_packets, upstream);
        }
        if bytes == 0 {
            return if sequence == self.next && sequence >= self.acknowledged {
                (Kind::Acknowledgement, 0)
            } else {
                self.send_nothing_rarely(segment, sequence)
            };
        }
        if sequence != self.next || bytes == 1 {
            return self.send_data_rarely(segment, sequence, wire_packets, upstream);
        }
        let end = sequence + i64::from(bytes);
        if end > self.acknowledged {
            self.send_times.push(sequence, end, segment);
        }
        self.next = end;
        self.identifications.follow(segment.identification);
        self.counts.bytes += u64::from(bytes);
        self.count_data(segment);
        (Kind::New, bytes)
    }

    /// Takes a segment without data that does not follow those before.
    #[cold]
    fn send_nothing_rarely(&mut self, segment: &Segment, sequence: i64) -> (Kind, u32) {
        if sequence > self.next {
            self.skip(segment, sequence);
        }
        (
            self.probe(segment, sequence)
                .unwrap_or(Kind::Acknowledgement),
            0,
        )
    }

    /// Takes a segment with SYN, FIN or RST.
    #[cold]
    #[inline(never)]
    fn send_control(
        &mut self,
        segment: &Segment,
        sequence: i64,
        wire_packets: u32,
        upstream: &RoundTrips,
    ) -> (Kind, u32) {
        if segment.flags.rst {
            self.counts.reset_ns = self.counts.reset_ns.or(Some(segment.at));
            return (Kind::New, 0);
        }
        if segment.flags.syn && sequence != 0 {
            // Of another connection.
            return (Kind::New, 0);
        }
        if segment.flags.fin {
            let data = sequence + i64::from(segment.flags.syn);
            let number = data + i64::from(segment.payload_bytes);
            self.fin = self.fin.or(Some(number));
            self.counts.fin_ns = self.counts.fin_ns.or(Some(segment.at));
        }
        self.send_range(segment, sequence, wire_packets, upstream)
    }

    /// Takes data that do not follow those before, or one byte.
    #[cold]
    #[inline(never)]
    fn send_data_rarely(
        &mut self,
        segment: &Segment,
        sequence: i64,
        wire_packets: u32,
        upstream: &RoundTrips,
    ) -> (Kind, u32) {
        if let Some(kind) = self.probe(segment, sequence) {
            self.count_data(segment);
            self.counts.probe_bytes += u64::from(segment.payload_bytes);
            return (kind, 0);
        }
        let (kind, new) = self.send_range(segment, sequence, wire_packets, upstream);
        if kind == Kind::New && segment.payload_bytes == 1 && self.is_closed() {
            self.counts.window_probes += 1;
            return (Kind::WindowProbe, new);
        }
        (kind, new)
    }

    /// Recognises and counts keep-alives and window probes below the left edge.
    fn probe(&mut self, segment: &Segment, sequence: i64) -> Option<Kind> {
        let idle = self.acknowledged >= self.next;
        let below = sequence + 1 == self.acknowledged.max(self.next);
        let quiet = || {
            let sent = self.counts.last_data_ns.unwrap_or(Nanos::MIN);
            let silent = segment.at.saturating_sub(sent);
            silent.min(self.recovery.quiet(segment.at)) >= KEEP_ALIVE_QUIET
        };
        let probes = match segment.payload_bytes {
            0 if self.is_closed() => sequence + 1 == self.acknowledged,
            0 => idle && below,
            1 => idle && below && sequence < self.next && quiet(),
            _ => false,
        };
        if !probes {
            return None;
        }
        if self.is_closed() {
            self.counts.window_probes += 1;
            Some(Kind::WindowProbe)
        } else {
            self.counts.keep_alives += 1;
            Some(Kind::KeepAlive)
        }
    }

    /// Takes a range of sequence numbers, with SYN and FIN.
    fn send_range(
        &mut self,
        segment: &Segment,
        sequence: i64,
        wire_packets: u32,
        upstream: &RoundTrips,
    ) -> (Kind, u32) {
        let next = self.next;
        let data = sequence + i64::from(segment.flags.syn);
        let data_end = data + i64::from(segment.payload_bytes);
        let end = data_end + i64::from(segment.flags.fin);

        let syn = self.see(segment, sequence, data);
        let payload = self.see(segment, data, data_end);
        let fin = self.see(segment, data_end, end);
        let start = sequence.max(next);
        if end > start && end > self.acknowledged {
            self.send_times.push(start, end, segment);
        }
        let new = payload.late + payload.beyond;
        self.counts.bytes += new as u64;

        let late = syn.late + payload.late + fin.late;
        let opening = syn.opening.or(payload.opening).or(fin.opening);
        let kind = if syn.before + payload.before + fin.before > 0
            || (late > 0
                && !segment.flags.syn
                && self.is_again(segment, data, end, opening, upstream))
        {
            self.resend(segment, [sequence, end], next, upstream)
        } else if late > 0 && !segment.flags.syn {
            self.counts.out_of_order += 1;
            Kind::OutOfOrder
        } else {
            self.identifications.follow(segment.identification);
            Kind::New
        };
        if sequence < next {
            self.ambiguous_below = self.ambiguous_below.max(self.next);
        }
        if matches!(kind, Kind::FastRetransmission | Kind::TimeoutRetransmission) {
            let old = data_end.min(next) - data;
            self.counts.retransmitted_bytes += old.max(0) as u64;
            self.counts.retransmitted_unseen_bytes += payload.late as u64;
            self.counts.retransmitted_packets += u64::from(wire_packets);
        }
        if segment.payload_bytes > 0 {
            self.count_data(segment);
        }
        (kind, new as u32)
    }

    /// Notes that a range is seen.
    fn see(&mut self, segment: &Segment, start: i64, end: i64) -> Seen {
        if start >= end {
            return Seen::default();
        }
        let filled = if start < self.next {
            self.gaps.fill(start, end.min(self.next))
        } else {
            Default::default()
        };
        let beyond = (end - start.max(self.next)).max(0);
        if start > self.next {
            self.skip(segment, start);
        }
        self.advance(end);
        Seen {
            before: end - start - beyond - filled.count,
            late: filled.count,
            beyond,
            opening: filled.opening,
        }
    }

    /// Notes what `segment`, which begins at `start`, shows to have been sent and was not seen.
    fn skip(&mut self, segment: &Segment, start: i64) {
        self.gaps.open(self.next, start, Opening::of(segment));
        self.advance(start);
    }

    /// Notes that everything below `end` has been sent.
    fn advance(&mut self, end: i64) {
        self.next = self.next.max(end);
        if self.next - self.acknowledged > MOST_UNDER_WAY {
            self.send_times.clear();
        }
    }

    /// Returns whether data that come late had been sent before.
    fn is_again(
        &self,
        segment: &Segment,
        start: i64,
        end: i64,
        opening: Option<Opening>,
        upstream: &RoundTrips,
    ) -> bool {
        let evidence = Evidence {
            identifications: &self.identifications,
            upstream: upstream.smallest(),
            reported: self.recovery.is_reported(start, end, self.acknowledged),
        };
        opening.is_some_and(|opening| is_sent_again(&Opening::of(segment), &opening, evidence))
    }

    /// Counts a retransmission; `next` is what followed the highest number before.
    fn resend(
        &mut self,
        segment: &Segment,
        [start, end]: [i64; 2],
        next: i64,
        upstream: &RoundTrips,
    ) -> Kind {
        let timestamp = segment.options.timestamps.map(|stamps| stamps.value);
        self.resent.pass(self.acknowledged);
        let kind = self.recovery.kind(&Again {
            start,
            end,
            before: self
                .resent
                .last(start)
                .or_else(|| self.send_times.at(start)),
            next,
            acknowledged: self.acknowledged,
            at: segment.at,
            timestamp,
            sent_at: self.counts.last_data_ns,
            downstream: self.round_trips.smoothed().unwrap_or(0),
            upstream: upstream.smoothed().unwrap_or(0),
        });
        self.scoreboard
            .resend(start, end, self.acknowledged, self.next);
        self.counts.retransmissions += 1;
        match kind {
            Kind::FastRetransmission => self.counts.fast_retransmissions += 1,
            _ => self.counts.timeout_retransmissions += 1,
        }
        self.resent.push(Retransmission {
            start,
            end: end.min(next),
            at: segment.at,
            frame: segment.frame,
            timestamp,
            spurious: false,
        });
        kind
    }
}
