//! When the data of an end moves from one subflow to another.

use super::now::{Now, name, seconds};
use crate::{Event, Nanos};

/// New data is looked at in periods of this length. One begins with the first new data after the
/// period before.
pub(super) const PERIOD_NS: Nanos = 1_000_000_000;

/// The new data of one end in a period.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    started_at: Option<Nanos>,
    /// The subflow that led in the last period in which one did.
    leader: Option<u32>,
    /// How often another came to lead.
    pub(super) count: u32,
}

/// What a subflow carried of a period's new data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) subflow: u32,
    pub(super) bytes: u64,
    /// When and in which frame its first of this period was seen.
    pub(super) first: (Nanos, u64),
    /// When it last carried new data at all.
    pub(super) last_new_at: Nanos,
}

impl Moves {
    /// Whether a period is over, or none has begun, when there is new data at this time.
    #[inline]
    pub(super) fn is_over(&self, at: Nanos) -> bool {
        self.started_at
            .is_none_or(|start| at.saturating_sub(start) >= PERIOD_NS)
    }

    /// A period begins, as one is over in which the subflows carried these shares, each subflow of the connection
    /// its own. The subflow that carried more than two thirds of the new data led. If that is
    /// another one than led before, the data moved, at the moment when it carried the first of it.
    pub(super) fn end_period(&mut self, now: &Now, shares: &[Share]) -> Option<Event> {
        self.started_at = Some(now.at);
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
        let mut event = now.event(
            "traffic_moved",
            format!(
                "new data of the {} goes over subflow {} now, {} of {total} bytes, rather than \
                 over subflow {before}; {since}",
                name(now.from),
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

    fn end(moves: &mut Moves, bytes: [u64; 2]) -> Option<Event> {
        let now = Now {
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
        moves.end_period(&now, &[share(0), share(1)])
    }

    #[test]
    fn data_moves_when_another_subflow_carries_most_of_it() {
        let mut moves = Moves::default();
        assert_eq!(end(&mut moves, [10, 0]), None);
        assert_eq!(end(&mut moves, [50, 50]), None);
        assert_eq!(end(&mut moves, [33, 66]), None);
        assert_eq!(end(&mut moves, [67, 33]), None);
        let event = end(&mut moves, [32, 68]).expect("a move");
        assert_eq!((event.at, event.frame), (8_000_000_000, 80));
        assert_eq!((event.kind, event.subflow), ("traffic_moved", Some(1)));
        assert_eq!(
            event.text,
            "new data of the client goes over subflow 1 now, 68 of 100 bytes, rather than over \
             subflow 0; 32 bytes still on that one"
        );
        let event = end(&mut moves, [5, 0]).expect("a move");
        assert_eq!(
            event.text,
            "new data of the client goes over subflow 0 now, 5 of 5 bytes, rather than over \
             subflow 1; last on that one 0.500 s before"
        );
        assert_eq!(moves.count, 2);
    }

    #[test]
    fn a_period_begins_with_data() {
        let mut moves = Moves::default();
        assert!(moves.is_over(5));
        end(&mut moves, [1, 0]);
        assert!(!moves.is_over(NOW - 1));
        assert!(!moves.is_over(NOW + PERIOD_NS - 1));
        assert!(moves.is_over(NOW + PERIOD_NS));
    }
}
