//! When new data came and when it stayed away.

use super::now::{Now, name, seconds};
use crate::{Event, Nanos};

/// A time without new data is told as an event if it is longer than this …
pub(super) const SILENCE_NS: Nanos = 1_000_000_000;

/// … and longer than so many smoothed round trips at the level of data.
pub(super) const SILENCE_ROUND_TRIPS: Nanos = 10;

/// A time without new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence {
    /// How long.
    pub ns: Nanos,
    /// When it began: with the last segment of new data before it.
    pub at_ns: Nanos,
}

/// The new data of one end in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// When new data was sent first and last, and over which subflow the last.
    pub(super) span: Option<(Nanos, Nanos)>,
    last_subflow: u32,
    /// Since when all that was sent is acknowledged.
    idle_since: Option<Nanos>,
    pub(super) longest: Silence,
    pub(super) recovery: Silence,
}

impl Pace {
    /// New data is sent; a silence that it ends is told.
    #[inline]
    pub(super) fn send(&mut self, now: &Now, round_trip_ns: Nanos, events: &mut Vec<Event>) {
        match &mut self.span {
            Some((_, last)) => {
                let silence = Silence {
                    ns: now.at.saturating_sub(*last),
                    at_ns: *last,
                };
                *last = now.at;
                if silence.ns > self.longest.ns.min(SILENCE_NS) {
                    self.break_silence(now, silence, round_trip_ns, events);
                }
            }
            None => self.span = Some((now.at, now.at)),
        }
        self.last_subflow = now.subflow;
        self.idle_since = None;
    }

    #[inline(never)]
    fn break_silence(
        &mut self,
        now: &Now,
        silence: Silence,
        round_trip_ns: Nanos,
        events: &mut Vec<Event>,
    ) {
        if silence.ns > self.longest.ns {
            self.longest = silence;
        }
        let least = SILENCE_NS.max(round_trip_ns.saturating_mul(SILENCE_ROUND_TRIPS));
        if silence.ns <= least {
            return;
        }
        let idle_since = self.idle_since.unwrap_or(now.at);
        let busy_ns = idle_since.saturating_sub(silence.at_ns);
        let moved = now.subflow != self.last_subflow;
        if (busy_ns > least || moved) && silence.ns > self.recovery.ns {
            self.recovery = silence;
        }
        events.push(now.event("silence", self.tell(now, silence, busy_ns)));
    }

    /// A silence in words.
    fn tell(&self, now: &Now, silence: Silence, busy_ns: Nanos) -> String {
        let way = if now.subflow != self.last_subflow {
            format!(
                "subflow {}, before over subflow {}",
                now.subflow, self.last_subflow
            )
        } else {
            format!("subflow {}", now.subflow)
        };
        format!(
            "no new data of the {} for {}, {} of it with data unacknowledged; goes on over {way}",
            name(now.from),
            seconds(silence.ns),
            seconds(busy_ns),
        )
    }

    /// All that was sent is acknowledged.
    #[inline]
    pub(super) fn acknowledge_all(&mut self, at: Nanos) {
        self.idle_since.get_or_insert(at);
    }

    /// The longest silence if the connection ends at `end`: the last counts if something was never
    /// acknowledged.
    pub(super) fn longest_until(&self, end: Nanos, all_acknowledged: bool) -> Option<Silence> {
        let (_, last) = self.span?;
        let silence = Silence {
            ns: end.saturating_sub(last),
            at_ns: last,
        };
        if !all_acknowledged && silence.ns > self.longest.ns {
            return Some(silence);
        }
        (self.longest.ns > 0).then_some(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    const SECOND: Nanos = 1_000_000_000;

    fn now(at: Nanos, subflow: u32) -> Now {
        Now {
            at,
            frame: 1,
            connection: 0,
            subflow,
            from: Side::Client,
        }
    }

    #[test]
    fn a_silence_is_told_when_it_ends() {
        let (mut pace, mut events) = (Pace::default(), Vec::new());
        pace.send(&now(0, 0), 0, &mut events);
        pace.send(&now(SECOND, 0), 0, &mut events);
        assert_eq!(events, []);
        pace.acknowledge_all(SECOND + 20_000_000);
        pace.send(&now(3 * SECOND, 0), 20_000_000, &mut events);
        let event = &events[0];
        assert_eq!((event.at, event.kind), (3 * SECOND, "silence"));
        assert_eq!(
            event.text,
            "no new data of the client for 2.000 s, 0.020 s of it with data unacknowledged; \
             goes on over subflow 0"
        );
        let silence = Silence {
            ns: 2 * SECOND,
            at_ns: SECOND,
        };
        assert_eq!(pace.longest_until(9 * SECOND, true), Some(silence));
        assert_eq!(pace.recovery, Silence::default());
        let last = Silence {
            ns: 6 * SECOND,
            at_ns: 3 * SECOND,
        };
        assert_eq!(pace.longest_until(9 * SECOND, false), Some(last));
    }

    #[test]
    fn long_round_trips_make_for_long_pauses() {
        let (mut pace, mut events) = (Pace::default(), Vec::new());
        pace.send(&now(0, 0), 0, &mut events);
        pace.send(&now(2 * SECOND, 0), SECOND / 5, &mut events);
        assert_eq!(events, []);
        pace.send(&now(4 * SECOND + 1, 0), SECOND / 5, &mut events);
        assert_eq!(events.len(), 1);
    }

    #[test]
    fn recovery_is_a_silence_that_was_no_pause() {
        let (mut pace, mut events) = (Pace::default(), Vec::new());
        let mut send = |pace: &mut Pace, at, subflow| pace.send(&now(at, subflow), 0, &mut events);
        send(&mut pace, 0, 0);
        pace.acknowledge_all(1);
        send(&mut pace, 20 * SECOND, 0);
        assert_eq!(pace.recovery, Silence::default());
        // It goes on elsewhere.
        pace.acknowledge_all(20 * SECOND + 1);
        send(&mut pace, 23 * SECOND, 1);
        let recovery = Silence {
            ns: 3 * SECOND,
            at_ns: 20 * SECOND,
        };
        assert_eq!(pace.recovery, recovery);
        // It was not acknowledged.
        send(&mut pace, 28 * SECOND, 1);
        let recovery = Silence {
            ns: 5 * SECOND,
            at_ns: 23 * SECOND,
        };
        assert_eq!(pace.recovery, recovery);
        // The longest silence is the pause.
        assert_eq!(pace.longest.ns, 20 * SECOND);
        assert_eq!(events.len(), 3);
    }
}
