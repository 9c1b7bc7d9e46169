//! Ranges of a number line with a value each, of which the first that is given to a number stays.

use std::collections::VecDeque;

use arrayvec::ArrayVec;

/// Ranges that stand apart from those before them.
const NEWEST: usize = 4;

/// Most ranges for which room is made at once.
const LONGEST_GROWTH: usize = 64;

/// Numbers of a sequence space that was counted on without wrapping. All numbers in use lie within
/// ±[`BOUND`], so that the difference of two, and lengths, can be added without overflow.
pub(super) type Number = i64;

/// More than was ever sent: see [`Number`].
pub(super) const BOUND: Number = 1 << 60;

/// Numbers from `start` to before `end` and what is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range<V> {
    pub(super) start: Number,
    pub(super) end: Number,
    pub(super) value: V,
}

/// State of a part of the line before it was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupancy<V> {
    /// It had none.
    Free,
    /// It had this value.
    Taken(V),
    /// It lies before what is remembered.
    Forgotten,
}

/// Ranges in their order, which do not overlap; those that touch and are of equal value are one.
/// In the usual case, that of numbers which come in their order, all is done at the last range. The
/// newest stand here, and go to the others together: with many connections these are in no cache.
#[derive(Clone, Debug)]
pub(super) struct Ranges<V> {
    newest: ArrayVec<Range<V>, NEWEST>,
    /// Those before the newest; none where there is no newest.
    list: VecDeque<Range<V>>,
    /// Where the memory begins.
    floor: Number,
}

impl<V> Default for Ranges<V> {
    fn default() -> Self {
        Self {
            newest: ArrayVec::new(),
            list: VecDeque::new(),
            floor: Number::MIN,
        }
    }
}

impl<V: Copy + PartialEq> Ranges<V> {
    /// Returns the number of ranges.
    pub(super) fn len(&self) -> usize {
        self.list.len() + self.newest.len()
    }

    /// Returns the last range.
    pub(super) fn last(&self) -> Option<Range<V>> {
        self.newest.last().copied()
    }

    /// Returns the number before which nothing is remembered.
    pub(super) fn floor(&self) -> Number {
        self.floor
    }

    /// Iterates over all ranges.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<V>> {
        self.list.iter().chain(&self.newest).copied()
    }

    /// Returns a range by its place.
    #[inline]
    fn nth(&self, index: usize) -> Option<Range<V>> {
        match index.checked_sub(self.list.len()) {
            Some(index) => self.newest.get(index).copied(),
            None => self.list.get(index).copied(),
        }
    }

    /// Moves the newest to those before them. The list grows by a few at a time, not to twice its
    /// length: it goes round in its memory, all of which is used then.
    fn move_newest(&mut self) {
        let length = self.list.len();
        if length + NEWEST > self.list.capacity() {
            self.list
                .reserve_exact(length.clamp(NEWEST, LONGEST_GROWTH));
        }
        self.list.extend(self.newest.drain(..));
    }

    /// Lets `change` see all ranges in one list.
    fn with_all<T>(&mut self, change: impl FnOnce(&mut VecDeque<Range<V>>) -> T) -> T {
        self.move_newest();
        let result = change(&mut self.list);
        self.newest.extend(self.list.pop_back());
        result
    }

    /// Returns how many numbers have a value.
    pub(super) fn sum(&self) -> u64 {
        self.iter()
            .map(|range| (range.end - range.start) as u64)
            .sum()
    }

    /// Adds `by` to all numbers.
    pub(super) fn shift(&mut self, by: Number) {
        for range in self.list.iter_mut().chain(&mut self.newest) {
            range.start += by;
            range.end += by;
        }
        self.floor = self.floor.saturating_add(by);
    }

    /// Returns the range that holds `at`.
    #[inline]
    pub(super) fn get(&self, at: Number) -> Option<Range<V>> {
        let range = self.nth(self.position(at))?;
        (range.start <= at).then_some(range)
    }

    /// Returns the first range that ends after `at`.
    pub(super) fn from(&self, at: Number) -> Option<Range<V>> {
        self.nth(self.position(at))
    }

    /// Gives `[start, end)`, not empty, the `value` if it follows all other ranges, as it usually
    /// does. Returns whether it did.
    #[inline]
    pub(super) fn append(&mut self, start: Number, end: Number, value: V) -> bool {
        match self.newest.last_mut() {
            Some(last) if last.end == start && last.value == value => {
                last.end = end;
                true
            }
            Some(last) if last.end > start => false,
            _ if start < self.floor => false,
            _ => {
                if self.newest.is_full() {
                    self.move_newest();
                }
                self.newest.push(Range { start, end, value });
                true
            }
        }
    }

    /// Gives `[start, end)`, not empty, the `value` up to the number that is returned, if that part
    /// is free. Returns the part's state before, too. The caller claims the rest again.
    #[inline(never)]
    pub(super) fn claim(&mut self, start: Number, end: Number, value: V) -> (Number, Occupancy<V>) {
        if self.append(start, end, value) {
            return (end, Occupancy::Free);
        }
        if start < self.floor {
            return (end.min(self.floor), Occupancy::Forgotten);
        }
        self.claim_among(start, end, value)
    }

    fn claim_among(&mut self, start: Number, end: Number, value: V) -> (Number, Occupancy<V>) {
        let index = self.position(start);
        let end = match self.nth(index) {
            Some(range) if range.start <= start => {
                return (end.min(range.end), Occupancy::Taken(range.value));
            }
            Some(range) => end.min(range.start),
            None => end,
        };
        self.with_all(|list| {
            list.insert(index, Range { start, end, value });
            join_around(list, index);
        });
        (end, Occupancy::Free)
    }

    /// Gives `[start, end)` another value; all of it is of one range.
    pub(super) fn change(&mut self, start: Number, end: Number, value: V) {
        let index = self.position(start);
        self.with_all(|list| change_at(list, index, Range { start, end, value }));
    }

    /// Forgets the first range, and that there was nothing before it.
    pub(super) fn forget_first(&mut self) -> Option<Range<V>> {
        let newest = &mut self.newest;
        let first = self.list.pop_front().or_else(|| newest.pop_at(0))?;
        self.floor = first.end;
        Some(first)
    }

    /// Forgets the first range if there are more than `history` and it ends at `done` or before, or
    /// if there are more than `most`.
    #[inline]
    pub(super) fn forget(&mut self, done: Number, history: usize, most: usize) -> Option<Range<V>> {
        if self.len() <= history {
            return None;
        }
        let done = self.nth(0).is_some_and(|first| first.end <= done);
        if done || self.len() > most {
            self.forget_first()
        } else {
            None
        }
    }

    /// Returns the index of the first range that ends after `at`.
    #[inline]
    fn position(&self, at: Number) -> usize {
        let passed = |range: &Range<V>| range.end <= at;
        match self.newest.first() {
            Some(first) if first.start <= at => {
                self.list.len() + self.newest.partition_point(passed)
            }
            _ => self.list.partition_point(passed),
        }
    }
}

/// Gives numbers of the range at `index` another value.
fn change_at<V: Copy + PartialEq>(list: &mut VecDeque<Range<V>>, index: usize, part: Range<V>) {
    let Some(range) = list.get_mut(index) else {
        return;
    };
    let before = Range {
        end: part.start,
        ..*range
    };
    let after = Range {
        start: part.end,
        ..*range
    };
    *range = part;
    if after.start < after.end {
        list.insert(index + 1, after);
    }
    if before.start < before.end {
        list.insert(index, before);
        join_around(list, index + 1);
    } else {
        join_around(list, index);
    }
}

/// Joins the range at `index` with those beside it where they touch and are equal.
fn join_around<V: Copy + PartialEq>(list: &mut VecDeque<Range<V>>, index: usize) {
    join(list, index);
    if let Some(before) = index.checked_sub(1) {
        join(list, before);
    }
}

/// Joins the range at `index` with the next one.
fn join<V: Copy + PartialEq>(list: &mut VecDeque<Range<V>>, index: usize) {
    let (Some(&range), Some(&next)) = (list.get(index), list.get(index + 1)) else {
        return;
    };
    if range.end == next.start && range.value == next.value {
        list[index].end = next.end;
        list.remove(index + 1);
    }
}

#[cfg(test)]
mod tests;
