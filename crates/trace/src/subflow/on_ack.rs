//! Effect of a segment's acknowledgement on the other end's direction.

use mptcplab_wire::SackBlock;
use mptcplab_wire::option::MptcpOption;

use super::direction::Direction;
use crate::{Nanos, RttMethod, Segment};

/// Largest window that can be granted (RFC 7323, section 2.3, rounded up): nothing beyond it can
/// be acknowledged.
const LARGEST_WINDOW: i64 = 1 << 30;

/// Result of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledged {
    /// Bytes of data that are acknowledged first.
    pub(super) bytes: u64,
    pub(super) rtt: Option<(RttMethod, Nanos)>,
    pub(super) spurious_frame: Option<u64>,
}

impl Direction {
    /// Takes an acknowledgement up to `number` of the data of this direction, in a segment of the
    /// other end, without RST.
    #[inline]
    pub(super) fn on_ack(&mut self, segment: &Segment, number: i64) -> Acknowledged {
        let mut result = Acknowledged::default();
        let before = self.acknowledged;
        if number > before {
            if number - before.max(self.next) > LARGEST_WINDOW {
                return result;
            }
            let rtt = if before >= self.ambiguous_below && segment.options.sack.is_empty() {
                let sent = self.send_times.acknowledge(number);
                sent.map(|sent| (RttMethod::Karn, segment.at.saturating_sub(sent)))
            } else {
                self.ambiguous_round_trip(segment, number)
            };
            result.bytes = (number - before) as u64;
            self.acknowledged = number;
            if !self.scoreboard.is_empty() {
                self.scoreboard.acknowledge(number);
            }
            self.recovery.acknowledged(segment.at);
            if before <= 0 || self.fin.is_some() || number > self.next {
                self.acknowledge_rarely(segment, before, rtt, &mut result);
            }
            if let Some((_, trip)) = rtt
                && trip >= 0
            {
                self.round_trips.sample(trip);
                self.recovery.arrived(segment.at - trip);
                result.rtt = rtt;
            }
        } else if number == before && segment.payload_bytes == 0 && self.next > number {
            self.acknowledge_again(segment);
        }
        if !segment.options.sack.is_empty() {
            self.acknowledge_selectively(segment, number, &mut result);
        }
        if number >= before {
            self.grant(segment);
        }
        result
    }

    /// Handles the ends of the sequence, and data that were not seen.
    #[cold]
    fn acknowledge_rarely(
        &mut self,
        segment: &Segment,
        before: i64,
        rtt: Option<(RttMethod, Nanos)>,
        result: &mut Acknowledged,
    ) {
        let number = self.acknowledged;
        if before <= 0 && number > 0 {
            result.bytes = result.bytes.saturating_sub(1);
            self.syn_round_trip = rtt.map(|(_, trip)| trip).filter(|trip| *trip >= 0);
        }
        if let Some(fin) = self.fin
            && (before..number).contains(&fin)
        {
            result.bytes = result.bytes.saturating_sub(1);
            self.counts.fin_acknowledged_ns = Some(segment.at);
        }
        // Data that far behind will not be seen; numbers stay near the newest.
        self.next = self.next.max(number - LARGEST_WINDOW);
    }

    /// Returns the round trip of an acknowledgement that may have waited for other data.
    ///
    /// The data that caused it are those whose timestamp it echoes (RFC 7323, section 4.3).
    /// Without timestamps they are the first that it acknowledges, and if any of what it
    /// acknowledges was sent again it is unknown which transmission arrived (Karn).
    #[cold]
    #[inline(never)]
    fn ambiguous_round_trip(
        &mut self,
        segment: &Segment,
        number: i64,
    ) -> Option<(RttMethod, Nanos)> {
        let first = self.acknowledged;
        self.resent.pass(first);
        let original = self.send_times.at(first);
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        let echoed = echo.and_then(|echo| self.echoed(first, number, echo));
        if let Some(echo) = echo {
            self.recovery.echo(echo);
        }
        self.send_times.acknowledge(number);
        self.arrive_again(segment.at, number);
        if duplicate_block(segment, number).is_some() {
            // Caused by data that had arrived before: their first acknowledgement was lost.
            return None;
        }
        let (method, sent) = match echoed {
            Some(sent) => (RttMethod::Timestamp, sent),
            None if self.resent.of(first, number).next().is_none() => (RttMethod::Karn, original?),
            None => return None,
        };
        Some((method, segment.at.saturating_sub(sent)))
    }

    /// Notes the latest retransmission of what is acknowledged as arrived, unless it is too young
    /// for that (RFC 8985, section 6.2, step 2).
    fn arrive_again(&mut self, at: Nanos, number: i64) {
        let sent = self
            .resent
            .of(self.acknowledged, number)
            .map(|sent| sent.at);
        let least = self.round_trips.smallest().unwrap_or(0);
        if let Some(sent) = sent.max()
            && at.saturating_sub(sent) >= least
        {
            self.recovery.arrived(sent);
        }
    }

    /// Returns when the transmission of data of `[first, end)` with a TSval of `echo` was sent: the
    /// first of several, which differ by less than a tick of the timestamps.
    fn echoed(&self, first: i64, end: i64, echo: u32) -> Option<Nanos> {
        let again = self.resent.of(first, end);
        again
            .filter(|sent| sent.timestamp == Some(echo))
            .min_by_key(|sent| sent.start)
            .map(|sent| sent.at)
            .or_else(|| self.send_times.echoed(end, echo))
    }

    /// Takes an acknowledgement without progress, while data is under way: a duplicate (RFC 5681,
    /// section 2) where it changes nothing else. Signals of MPTCP are none (RFC 8684,
    /// section 3.4).
    #[cold]
    fn acknowledge_again(&mut self, segment: &Segment) {
        let signals = segment
            .options
            .mptcp
            .iter()
            .any(|option| !matches!(option, MptcpOption::Dss(_)));
        let changes = !self.has_window || segment.window != self.window;
        if segment.flags.syn || segment.flags.fin || signals || changes {
            return;
        }
        self.counts.duplicate_acknowledgements += 1;
        self.recovery.duplicate(segment.at);
        self.ambiguous_below = self.ambiguous_below.max(self.acknowledged + 1);
    }

    /// Takes blocks of SACK.
    #[cold]
    fn acknowledge_selectively(
        &mut self,
        segment: &Segment,
        number: i64,
        result: &mut Acknowledged,
    ) {
        let mut blocks = segment.options.sack.as_slice();
        if let Some((left, right)) = duplicate_block(segment, number) {
            blocks = &blocks[1..];
            self.counts.dsack_blocks += 1;
            let (count, frame) = self.resent.mark_spurious(left, right);
            self.counts.spurious_retransmissions += count;
            self.recovery.spurious(count);
            result.spurious_frame = frame;
        }
        self.counts.sack_blocks += blocks.len() as u64;
        for block in blocks {
            let (left, right) = range(block, segment, number);
            if right > self.acknowledged && right - self.acknowledged <= LARGEST_WINDOW {
                self.scoreboard.sack(left.max(self.acknowledged), right);
                self.recovery.sacked(right, segment.at);
                self.ambiguous_below = self.ambiguous_below.max(right);
            }
        }
    }

    /// Takes the window that the segment grants.
    #[inline]
    fn grant(&mut self, segment: &Segment) {
        if segment.flags.syn {
            return;
        }
        self.window = segment.window;
        self.has_window = true;
        if segment.window == 0 && !segment.flags.fin {
            self.counts.zero_windows += 1;
        }
    }
}

/// Returns the block of a D-SACK: the first, where it lies below the cumulative acknowledgement
/// `number` or within the second (RFC 2883, section 4).
fn duplicate_block(segment: &Segment, number: i64) -> Option<(i64, i64)> {
    let (first, rest) = segment.options.sack.split_first()?;
    let (left, right) = range(first, segment, number);
    let within = rest.first().is_some_and(|second| {
        let (second_left, second_right) = range(second, segment, number);
        second_left <= left && right <= second_right
    });
    (left < number || within).then_some((left, right))
}

/// Returns the numbers of a block in a segment that acknowledges `number`.
fn range(block: &SackBlock, segment: &Segment, number: i64) -> (i64, i64) {
    let near = |wire: u32| number + i64::from(wire.wrapping_sub(segment.acknowledgement) as i32);
    (near(block.left), near(block.right))
}
