//! Coverage: the subflow that carried each range of data first.

use super::ranges::{Number, Occupancy, Ranges};

/// Ranges of data that are remembered after they were acknowledged at the level of data, so that
/// late copies of them are recognised. A range is data that one subflow sent without a gap: it is
/// as long as the scheduler keeps to the subflow.
pub(super) const HISTORY_RANGES: usize = 512;

/// More of them that are remembered until they are forgotten together: the first ones are in no
/// cache where there are many connections.
const FORGOTTEN_AT_ONCE: usize = 32;

/// Most ranges of data that are remembered; beyond it the first are forgotten even if they were not
/// acknowledged.
pub(super) const MAX_RANGES: usize = 4096;

/// How data was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carrier {
    /// The subflow that carried it first.
    pub(super) subflow: u32,
    /// Another subflow carried it since.
    pub(super) shared: bool,
    /// A copy on another subflow was the first to be acknowledged there.
    pub(super) won: bool,
    /// Difference of the number on that subflow from the data sequence number.
    pub(super) shift: Number,
}

impl Carrier {
    fn new(subflow: u32, shift: Number) -> Self {
        Self {
            subflow,
            shared: false,
            won: false,
            shift,
        }
    }
}

/// Carriers of data that was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Forgotten {
    /// Nothing was forgotten.
    #[default]
    Nothing,
    /// All was carried by this subflow only.
    By(u32),
    /// Several carried it.
    BySeveral,
}

impl Forgotten {
    fn add(&mut self, carrier: Carrier) {
        *self = match *self {
            Self::Nothing if !carrier.shared => Self::By(carrier.subflow),
            Self::By(subflow) if !carrier.shared && carrier.subflow == subflow => *self,
            _ => Self::BySeveral,
        };
    }
}

/// State of data before it is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// No segment had carried it.
    New,
    /// It was carried like this.
    Carried(Carrier),
    /// It was carried, and how was forgotten.
    Forgotten(Forgotten),
}

/// The data of one end, by the subflow that carried it first.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage {
    ranges: Ranges<Carrier>,
    forgotten: Forgotten,
}

impl Coverage {
    /// Covers data that follows all other data, as it usually does. Returns whether it did.
    #[inline]
    pub(super) fn append(
        &mut self,
        (start, end): (Number, Number),
        subflow: u32,
        shift: Number,
    ) -> bool {
        self.ranges.append(start, end, Carrier::new(subflow, shift))
    }

    /// Covers data of `[start, end)` up to the returned number by `subflow`. Returns its state
    /// before, too.
    pub(super) fn cover(
        &mut self,
        (start, end): (Number, Number),
        subflow: u32,
        shift: Number,
    ) -> (Number, Before) {
        let carrier = Carrier::new(subflow, shift);
        let (end, prior) = self.ranges.claim(start, end, carrier);
        let before = match prior {
            Occupancy::Free => Before::New,
            Occupancy::Taken(carrier) => Before::Carried(carrier),
            Occupancy::Forgotten => Before::Forgotten(self.forgotten),
        };
        (end, before)
    }

    /// Returns the first data of `[start, end)` that is remembered, as far as it has one carrier.
    pub(super) fn within(&self, start: Number, end: Number) -> Option<(Number, Number, Carrier)> {
        let range = self.ranges.from(start)?;
        let (start, end) = (range.start.max(start), range.end.min(end));
        (start < end).then_some((start, end, range.value))
    }

    /// Changes the carrier of data that is of one range.
    pub(super) fn change(&mut self, start: Number, end: Number, carrier: Carrier) {
        self.ranges.change(start, end, carrier);
    }

    /// Forgets ranges beyond the limits, acknowledged ones first.
    #[inline]
    pub(super) fn forget(&mut self, acknowledged: Number) {
        if self.ranges.len() > HISTORY_RANGES + FORGOTTEN_AT_ONCE {
            self.forget_some(acknowledged);
        }
    }

    #[inline(never)]
    fn forget_some(&mut self, acknowledged: Number) {
        while let Some(range) = self.ranges.forget(acknowledged, HISTORY_RANGES, MAX_RANGES) {
            self.forgotten.add(range.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_known_to_have_been_carried() {
        let mut coverage = Coverage::default();
        // Each on its own, as between them something is missing.
        let ranges = (HISTORY_RANGES + FORGOTTEN_AT_ONCE) as Number + 2;
        for index in 0..ranges {
            let start = 10 * index;
            assert_eq!(
                coverage.cover((start, start + 5), 0, 0),
                (start + 5, Before::New)
            );
        }
        coverage.forget(5);
        let by_0 = Before::Forgotten(Forgotten::By(0));
        assert_eq!(coverage.cover((0, 5), 1, 0), (5, by_0));
        let (_, kept) = coverage.cover((10, 15), 1, 0);
        assert!(matches!(kept, Before::Carried(carrier) if carrier.subflow == 0));
        let (start, end, mut carrier) = coverage.within(6, 13).expect("kept");
        assert_eq!((start, end), (10, 13));
        carrier.shared = true;
        coverage.change(start, end, carrier);
        coverage.forget(1000);
        let by_several = Before::Forgotten(Forgotten::BySeveral);
        assert_eq!(coverage.cover((0, 5), 1, 0), (5, by_several));
    }

    #[test]
    fn there_is_a_limit_to_what_is_not_acknowledged() {
        let mut coverage = Coverage::default();
        for index in 0..3 * MAX_RANGES as Number {
            coverage.cover((2 * index, 2 * index + 1), 0, 0);
            coverage.forget(Number::MIN);
        }
        assert_eq!(coverage.ranges.len(), MAX_RANGES);
    }
}
