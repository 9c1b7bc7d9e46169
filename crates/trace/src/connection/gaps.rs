//! Gaps in time between new data.

use super::current_segment::{CurrentSegment, name, seconds};
use crate::{Event, Nanos};

/// A gap is an event if it is longer than this …
pub(super) const MIN_GAP_NS: Nanos = 1_000_000_000;

/// … and longer than so many smoothed round trips at the level of data.
pub(super) const MIN_GAP_ROUND_TRIPS: Nanos = 10;

/// A time without new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataGap {
    /// Its length.
    pub ns: Nanos,
    /// Its begin: the last segment of new data before it.
    pub at_ns: Nanos,
}

/// The times of one end's new data, and the gaps between them.
#[derive(Clone, Debug, Default)]
pub(super) struct DataGaps {
    /// When new data was sent first and last, and over which subflow the last.
    pub(super) span: Option<(Nanos, Nanos)>,
    pub(super) last_subflow: u32,
    /// Since when all that was sent is acknowledged.
    idle_since: Option<Nanos>,
    pub(super) longest: DataGap,
    pub(super) recovery: DataGap,
}

impl DataGaps {
    /// Takes new data. Adds the event of a gap that it ends.
    #[inline]
    pub(super) fn send(
        &mut self,
        current: &CurrentSegment,
        round_trip_ns: Nanos,
        events: &mut Vec<Event>,
    ) {
        match &mut self.span {
            Some((_, last)) => {
                let gap = DataGap {
                    ns: current.at.saturating_sub(*last),
                    at_ns: *last,
                };
                *last = current.at;
                if gap.ns > self.longest.ns.min(MIN_GAP_NS) {
                    self.end_gap(current, gap, round_trip_ns, events);
                }
            }
            None => self.span = Some((current.at, current.at)),
        }
        self.last_subflow = current.subflow;
        self.idle_since = None;
    }

    #[inline(never)]
    fn end_gap(
        &mut self,
        current: &CurrentSegment,
        gap: DataGap,
        round_trip_ns: Nanos,
        events: &mut Vec<Event>,
    ) {
        if gap.ns > self.longest.ns {
            self.longest = gap;
        }
        let least = MIN_GAP_NS.max(round_trip_ns.saturating_mul(MIN_GAP_ROUND_TRIPS));
        if gap.ns <= least {
            return;
        }
        let idle_since = self.idle_since.unwrap_or(current.at);
        let busy_ns = idle_since.saturating_sub(gap.at_ns);
        if busy_ns > least.max(self.recovery.ns) {
            self.recovery = DataGap { ns: busy_ns, ..gap };
        }
        events.push(current.event("silence", self.describe(current, gap, busy_ns)));
    }

    /// Formats a gap.
    fn describe(&self, current: &CurrentSegment, gap: DataGap, busy_ns: Nanos) -> String {
        let way = if current.subflow != self.last_subflow {
            format!(
                "subflow {}, before over subflow {}",
                current.subflow, self.last_subflow
            )
        } else {
            format!("subflow {}", current.subflow)
        };
        format!(
            "no new data of the {} for {}, {} of it with data unacknowledged; goes on over {way}",
            name(current.from),
            seconds(gap.ns),
            seconds(busy_ns),
        )
    }

    /// Notes that all data is acknowledged.
    #[inline]
    pub(super) fn acknowledge_all(&mut self, at: Nanos) {
        self.idle_since.get_or_insert(at);
    }

    /// Returns whether all data has been acknowledged for more than [`MIN_GAP_NS`].
    pub(super) fn is_paused(&self, at: Nanos) -> bool {
        let idle = |since: Nanos| at.saturating_sub(since) > MIN_GAP_NS;
        self.idle_since.is_some_and(idle)
    }

    /// Returns the longest gap if the connection ends at `end`: the last counts if something was
    /// never acknowledged.
    pub(super) fn longest_until(&self, end: Nanos, all_acknowledged: bool) -> Option<DataGap> {
        let (_, last) = self.span?;
        let gap = DataGap {
            ns: end.saturating_sub(last),
            at_ns: last,
        };
        if !all_acknowledged && gap.ns > self.longest.ns {
            return Some(gap);
        }
        (self.longest.ns > 0).then_some(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    const SECOND: Nanos = 1_000_000_000;

    fn current(at: Nanos, subflow: u32) -> CurrentSegment {
        CurrentSegment {
            at,
            frame: 1,
            connection: 0,
            subflow,
            from: Side::Client,
        }
    }

    #[test]
    fn a_silence_is_told_when_it_ends() {
        let (mut gaps, mut events) = (DataGaps::default(), Vec::new());
        gaps.send(&current(0, 0), 0, &mut events);
        gaps.send(&current(SECOND, 0), 0, &mut events);
        assert_eq!(events, []);
        gaps.acknowledge_all(SECOND + 20_000_000);
        gaps.send(&current(3 * SECOND, 0), 20_000_000, &mut events);
        let event = &events[0];
        assert_eq!((event.at, event.kind), (3 * SECOND, "silence"));
        assert_eq!(
            event.text,
            "no new data of the client for 2.000 s, 0.020 s of it with data unacknowledged; \
             goes on over subflow 0"
        );
        let gap = DataGap {
            ns: 2 * SECOND,
            at_ns: SECOND,
        };
        assert_eq!(gaps.longest_until(9 * SECOND, true), Some(gap));
        assert_eq!(gaps.recovery, DataGap::default());
        let last = DataGap {
            ns: 6 * SECOND,
            at_ns: 3 * SECOND,
        };
        assert_eq!(gaps.longest_until(9 * SECOND, false), Some(last));
    }

    #[test]
    fn long_round_trips_make_for_long_pauses() {
        let (mut gaps, mut events) = (DataGaps::default(), Vec::new());
        gaps.send(&current(0, 0), 0, &mut events);
        gaps.send(&current(2 * SECOND, 0), SECOND / 5, &mut events);
        assert_eq!(events, []);
        gaps.send(&current(4 * SECOND + 1, 0), SECOND / 5, &mut events);
        assert_eq!(events.len(), 1);
    }

    #[test]
    fn recovery_is_the_part_of_a_silence_with_data_unacknowledged() {
        let (mut gaps, mut events) = (DataGaps::default(), Vec::new());
        let mut send =
            |gaps: &mut DataGaps, at, subflow| gaps.send(&current(at, subflow), 0, &mut events);
        send(&mut gaps, 0, 0);
        gaps.acknowledge_all(1);
        send(&mut gaps, 20 * SECOND, 0);
        assert_eq!(gaps.recovery, DataGap::default());
        // It goes on elsewhere, and all that was sent had come.
        gaps.acknowledge_all(20 * SECOND + 120_000_000);
        send(&mut gaps, 35 * SECOND, 1);
        assert_eq!(gaps.recovery, DataGap::default());
        // It was acknowledged late, and then there was nothing to send.
        gaps.acknowledge_all(38 * SECOND);
        send(&mut gaps, 50 * SECOND, 1);
        let recovery = DataGap {
            ns: 3 * SECOND,
            at_ns: 35 * SECOND,
        };
        assert_eq!(gaps.recovery, recovery);
        // It was not acknowledged.
        send(&mut gaps, 55 * SECOND, 1);
        let recovery = DataGap {
            ns: 5 * SECOND,
            at_ns: 50 * SECOND,
        };
        assert_eq!(gaps.recovery, recovery);
        // The longest gap is the pause.
        assert_eq!(gaps.longest.ns, 20 * SECOND);
        assert_eq!(events.len(), 4);
    }

    #[test]
    fn a_pause_begins_when_all_is_acknowledged() {
        let (mut gaps, mut events) = (DataGaps::default(), Vec::new());
        gaps.send(&current(0, 0), 0, &mut events);
        assert!(!gaps.is_paused(9 * SECOND));
        gaps.acknowledge_all(SECOND);
        assert!(!gaps.is_paused(2 * SECOND));
        assert!(gaps.is_paused(2 * SECOND + 1));
    }
}
