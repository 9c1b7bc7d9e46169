//! Data of one end on one subflow.

use super::checksum::Sum;
use super::current_segment::CurrentSegment;
use super::mapping::Mapped;
use super::origin::Origin;
use super::path_switches::Share;
use super::ranges::{BOUND, Number, Occupancy, Ranges};
use super::series::Series;
use crate::{Nanos, Segment};

/// Mappings that are remembered after the subflow acknowledged them, for segments that are sent
/// again without theirs. Mappings that continue each other are one.
pub(super) const HISTORY_MAPPINGS: usize = 64;

/// More of them that are remembered until they are forgotten together: the first ones are in no
/// cache where there are many connections.
const FORGOTTEN_AT_ONCE: usize = 32;

/// Most mappings that are remembered; beyond it the first are forgotten. Data without a mapping
/// of its own is then of unknown place.
pub(super) const MAX_MAPPINGS: usize = 1024;

/// Most ranges of data that await a mapping, and most ranges of copies that are told from later
/// retransmissions of them; beyond it the first are forgotten. Forgotten data is never placed, a
/// forgotten copy is no longer looked at.
pub(super) const MAX_RARE_RANGES: usize = 256;

/// One direction of a subflow.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) origin: Origin,
    /// Highest cumulative acknowledgement on this subflow.
    pub(super) acknowledged: Number,
    /// Its retransmission timer ran out, and nothing was acknowledged since.
    pub(super) timed_out: bool,
    /// A segment that is no SYN was seen.
    pub(super) used: bool,
    pub(super) fin: bool,
    pub(super) reset: bool,
    rare: Option<Box<Rare>>,
    /// Number from which on the subflow's own sequence and acknowledgements are those of data, and
    /// the difference: plain TCP, and after fallback (RFC 8684, section 3.7).
    pub(super) infinite: Option<(Number, Number)>,
    /// After the last number that was sent with a mapping.
    pub(super) sent_to: Number,
    pub(super) new_data_bytes: u64,
    /// Of them, those in the present period of [`path_switches`](super::path_switches), and when they
    /// began.
    pub(super) period_bytes: u64,
    pub(super) last_new_at: Nanos,
    /// Difference of the data sequence number from the subflow's number.
    mappings: Ranges<Number>,
    pub(super) reinjected_bytes: u64,
    pub(super) period_first: (Nanos, u64),
}

/// State that few subflows need.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    /// Numbers that were sent and have no mapping.
    unmapped: Ranges<()>,
    /// Bytes that were in `unmapped` and were forgotten.
    lost_bytes: u64,
    /// A mapping came since `unmapped` was looked through.
    look_again: bool,
    /// Data that was carried before, with the difference of its data sequence number: copies of
    /// data that other subflows carried first, or that this one carries a second time.
    copies: Ranges<Number>,
    pub(super) series: Option<Series>,
    pub(super) sums: Vec<Sum>,
}

impl Flow {
    /// Counts sequence numbers so that `sequence` on the wire is `number`, if they are not counted
    /// from a known one yet.
    pub(super) fn count_from(&mut self, sequence: u32, number: Number) {
        if !self.origin.is_known() {
            self.origin = Origin::default();
            self.origin
                .set_initial(sequence.wrapping_sub(number as u32));
        }
    }

    /// Takes the subflow's numbers as those of data from here on, or where nothing was mapped yet,
    /// from the beginning.
    pub(super) fn fall_back(&mut self) {
        if self.infinite.is_none() {
            let (from, shift) = self
                .mappings
                .last()
                .map_or((-BOUND, 0), |last| (last.end, last.value));
            self.map_on(from, shift);
        }
        self.origin.accept();
    }

    /// Maps all from a number on.
    pub(super) fn map_on(&mut self, from: Number, shift: Number) {
        self.infinite = Some((from, shift));
        self.map((from, BOUND), shift);
    }

    /// Maps `[start, end)` where it is not mapped yet: a mapping once seen stays (RFC 8684, section
    /// 3.3.1). Returns whether all of it has this mapping.
    #[inline]
    pub(super) fn map(&mut self, (start, end): (Number, Number), shift: Number) -> bool {
        if self.rare.is_some() || !self.mappings.append(start, end, shift) {
            return self.map_parts((start, end), shift);
        }
        if self.mappings.len() > HISTORY_MAPPINGS + FORGOTTEN_AT_ONCE {
            self.forget_mappings();
        }
        true
    }

    fn forget_mappings(&mut self) {
        while self
            .mappings
            .forget(self.acknowledged, HISTORY_MAPPINGS, MAX_MAPPINGS)
            .is_some()
        {}
    }

    #[inline(never)]
    fn map_parts(&mut self, (start, end): (Number, Number), shift: Number) -> bool {
        let mut at = start;
        let mut all = true;
        while at < end {
            let (to, prior) = self.mappings.claim(at, end, shift);
            all &= matches!(prior, Occupancy::Free) || prior == Occupancy::Taken(shift);
            at = to;
        }
        self.forget_mappings();
        if let Some(rare) = &mut self.rare {
            rare.look_again = rare.unmapped.len() > 0;
        }
        all
    }

    /// Returns the shift of `[start, end)` if there is one for all of it, as usual: the segment has
    /// its mapping, or the subflow's numbers are those of data.
    #[inline]
    pub(super) fn shift_of(
        &self,
        (start, end): (Number, Number),
        mapped: Option<Mapped>,
    ) -> Option<Number> {
        if !self.origin.is_known() || self.must_look_again() {
            return None;
        }
        match (mapped, self.infinite) {
            (Some(mapped), _) if mapped.alone && mapped.start <= start && end <= mapped.end => {
                Some(mapped.shift)
            }
            (_, Some((from, shift))) if from <= start => Some(shift),
            _ => None,
        }
    }

    /// Returns the end of the mapping of the number `at`, and its shift.
    #[inline]
    pub(super) fn mapped(&self, at: Number) -> Option<(Number, Number)> {
        let range = self.mappings.get(at)?;
        Some((range.end, range.value))
    }

    /// Returns where the next mapping after `at` begins.
    fn next_mapping(&self, at: Number) -> Option<Number> {
        Some(self.mappings.from(at)?.start)
    }

    /// Keeps numbers of `[start, end)` without mapping, up to the number that is returned.
    #[cold]
    pub(super) fn keep_unmapped(&mut self, start: Number, end: Number) -> Number {
        let (mut at, mut to) = (start, end);
        // Until the origin is known numbers of data and of mappings do not compare.
        if self.origin.is_known() {
            // A mapping that was forgotten will not come again.
            at = at.max(self.mappings.floor());
            to = self.next_mapping(start).map_or(end, |next| end.min(next));
        }
        let rare = self.rare.get_or_insert_default();
        while at < to {
            at = rare.unmapped.claim(at, to, ()).0;
        }
        while let Some(range) = rare.unmapped.forget(0, MAX_RARE_RANGES, MAX_RARE_RANGES) {
            rare.lost_bytes += (range.end - range.start) as u64;
        }
        to
    }

    /// Returns whether unmapped data may have a mapping now.
    #[inline]
    pub(super) fn must_look_again(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.look_again)
    }

    /// Takes all numbers without mapping; those that still have none are to be kept again.
    pub(super) fn take_unmapped(&mut self) -> Ranges<()> {
        let Some(rare) = &mut self.rare else {
            return Ranges::default();
        };
        rare.look_again = false;
        std::mem::take(&mut rare.unmapped)
    }

    /// Returns the bytes without mapping.
    pub(super) fn unmapped_bytes(&self) -> u64 {
        self.rare
            .as_ref()
            .map_or(0, |rare| rare.lost_bytes + rare.unmapped.sum())
    }

    /// Notes that `[start, end)` is a copy, up to the number that is returned. Returns whether this
    /// subflow sends these numbers for the first time, too.
    pub(super) fn copy(&mut self, start: Number, end: Number, shift: Number) -> (Number, bool) {
        let copies = &mut self.rare.get_or_insert_default().copies;
        let (end, prior) = copies.claim(start, end, shift);
        copies.forget(start, MAX_RARE_RANGES, MAX_RARE_RANGES);
        (end, prior == Occupancy::Free)
    }

    /// Returns whether there are copies.
    #[inline]
    pub(super) fn has_copies(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.copies.len() > 0)
    }

    /// Returns the first copies in `[start, end)`, and their shift.
    pub(super) fn copies_within(
        &self,
        (start, end): (Number, Number),
    ) -> Option<(Number, Number, Number)> {
        let range = self.rare.as_ref()?.copies.from(start)?;
        let (start, end) = (range.start.max(start), range.end.min(end));
        (start < end).then_some((start, end, range.value))
    }

    /// Takes its share of a period's new data; the next period begins.
    pub(super) fn take_share(&mut self, subflow: u32) -> Share {
        Share {
            subflow,
            bytes: std::mem::take(&mut self.period_bytes),
            first: self.period_first,
            last_new_at: self.last_new_at,
        }
    }

    /// Counts new data.
    #[inline]
    pub(super) fn send_new(&mut self, current: &CurrentSegment, bytes: u64) {
        if self.period_bytes == 0 {
            self.period_first = (current.at, current.frame);
        }
        self.period_bytes += bytes;
        self.new_data_bytes += bytes;
        self.last_new_at = current.at;
    }

    /// Returns the state that few subflows need, and creates it where it is missing.
    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns that state where it exists.
    pub(super) fn rare_if_any(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    /// Learns the origin of the numbers from a mapping beside data. An infinite one begins with the
    /// data.
    #[cold]
    pub(super) fn learn_origin(
        &mut self,
        segment: &Segment,
        mapped: (Number, Number),
        infinite: bool,
    ) {
        let start = self.origin.read(segment.sequence);
        let bytes = if infinite { 0 } else { segment.payload_bytes };
        let data = (start, start + Number::from(bytes));
        if let Some(by) = self.origin.learn(data, mapped) {
            self.correct(by);
        }
    }

    /// Corrects all numbers so far.
    fn correct(&mut self, by: Number) {
        self.acknowledged = (self.acknowledged + by).clamp(-BOUND, BOUND);
        if let Some(rare) = &mut self.rare {
            rare.unmapped.shift(by);
            rare.look_again = true;
        }
    }
}
