//! Path switches: the subflow that carries most of an end's new data changes.

use super::current_segment::{CurrentSegment, name, seconds};
use crate::{Event, Nanos};

/// Length of a period, over which shares of new data are compared. One begins with the first new
/// data after the period before.
pub(super) const PERIOD_NS: Nanos = 1_000_000_000;

/// The new data of one end in a period.
#[derive(Clone, Debug, Default)]
pub(super) struct PathSwitches {
    started_at: Option<Nanos>,
    /// The subflow that led in the last period in which one did.
    leader: Option<u32>,
    /// How often another came to lead.
    pub(super) count: u32,
}

/// Part of a period's new data that a subflow carried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) subflow: u32,
    pub(super) bytes: u64,
    /// When and in which frame its first of this period was seen.
    pub(super) first: (Nanos, u64),
    /// When it last carried new data at all.
    pub(super) last_new_at: Nanos,
}

impl PathSwitches {
    /// Returns whether a period is over, or none has begun, when there is new data at this time.
    #[inline]
    pub(super) fn is_over(&self, at: Nanos) -> bool {
        self.started_at
            .is_none_or(|start| at.saturating_sub(start) >= PERIOD_NS)
    }

    /// Forgets the leader: the next one has not taken over from another.
    pub(super) fn forget(&mut self) {
        self.leader = None;
    }

    /// Ends a period with these shares, one of each subflow, and begins another. The subflow that
    /// carried more than two thirds of the new data led. If that is another one than led before,
    /// the path switched, at the moment of its first new data.
    pub(super) fn end_period(
        &mut self,
        current: &CurrentSegment,
        shares: &[Share],
    ) -> Option<Event> {
        self.started_at = Some(current.at);
        let total: u64 = shares.iter().map(|share| share.bytes).sum();
        let leads = |share: &&Share| u128::from(share.bytes) * 3 > u128::from(total) * 2;
        let leader = shares.iter().find(leads)?;
        let before = self.leader.replace(leader.subflow)?;
        if before == leader.subflow {
            return None;
        }
        self.count = self.count.saturating_add(1);
        let left = shares.iter().find(|share| share.subflow == before);
        let since = match left {
            Some(left) if left.bytes == 0 => {
                let since = leader.first.0.saturating_sub(left.last_new_at);
                format!("last on that one {} before", seconds(since))
            }
            left => {
                let bytes = left.map_or(0, |left| left.bytes);
                format!("{bytes} bytes still on that one")
            }
        };
        let mut event = current.event(
            "traffic_moved",
            format!(
                "new data of the {} goes over subflow {} now, {} of {total} bytes, rather than \
                 over subflow {before}; {since}",
                name(current.from),
                leader.subflow,
                leader.bytes,
            ),
        );
        event.subflow = Some(leader.subflow);
        (event.at, event.frame) = leader.first;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    const NOW: Nanos = 9_000_000_000;

    fn end(switches: &mut PathSwitches, bytes: [u64; 2]) -> Option<Event> {
        let current = CurrentSegment {
            at: NOW,
            frame: 90,
            connection: 0,
            subflow: 0,
            from: Side::Client,
        };
        let share = |subflow: u32| Share {
            subflow,
            bytes: bytes[subflow as usize],
            first: (8_000_000_000, 80),
            last_new_at: 7_500_000_000,
        };
        switches.end_period(&current, &[share(0), share(1)])
    }

    #[test]
    fn data_moves_when_another_subflow_carries_most_of_it() {
        let mut switches = PathSwitches::default();
        assert_eq!(end(&mut switches, [10, 0]), None);
        assert_eq!(end(&mut switches, [50, 50]), None);
        assert_eq!(end(&mut switches, [33, 66]), None);
        assert_eq!(end(&mut switches, [67, 33]), None);
        let event = end(&mut switches, [32, 68]).expect("a move");
        assert_eq!((event.at, event.frame), (8_000_000_000, 80));
        assert_eq!((event.kind, event.subflow), ("traffic_moved", Some(1)));
        assert_eq!(
            event.text,
            "new data of the client goes over subflow 1 now, 68 of 100 bytes, rather than over \
             subflow 0; 32 bytes still on that one"
        );
        let event = end(&mut switches, [5, 0]).expect("a move");
        assert_eq!(
            event.text,
            "new data of the client goes over subflow 0 now, 5 of 5 bytes, rather than over \
             subflow 1; last on that one 0.500 s before"
        );
        assert_eq!(switches.count, 2);
    }

    #[test]
    fn a_period_begins_with_data() {
        let mut switches = PathSwitches::default();
        assert!(switches.is_over(5));
        end(&mut switches, [1, 0]);
        assert!(!switches.is_over(NOW - 1));
        assert!(!switches.is_over(NOW + PERIOD_NS - 1));
        assert!(switches.is_over(NOW + PERIOD_NS));
    }
}
