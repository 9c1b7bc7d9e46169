//! The rows of a batch, and of several workers, in the order of their items.

use std::{mem, slice};

use super::worker::{Numbered, Rows};
use crate::prefetch::prefetch;

/// Rows that are fetched before the one that is read.
const FETCHED_ROWS: usize = 8;

impl Rows {
    /// Puts them into the order of their items; those of one item are in order. Samples, of which
    /// there may be as many as packets, stay where they are: see [`Collected::arrange`].
    pub(super) fn sort(&mut self) {
        sort(&mut self.events);
        sort(&mut self.packets);
        sort(&mut self.mappings);
    }

    /// Takes the rows of another worker, whose room stays for more.
    pub(super) fn merge(&mut self, other: &mut Rows) {
        self.samples.merge(&mut other.samples);
        merge(&mut self.events, &mut other.events);
        merge(&mut self.packets, &mut other.packets);
        merge(&mut self.mappings, &mut other.mappings);
    }
}

/// Rows with the numbers of their items. They stay where they are, as each is long, and are read in
/// the order of the items.
pub(super) struct Collected<R> {
    numbers: Vec<u32>,
    rows: Vec<R>,
    /// Places of the rows, in the order of the items.
    order: Vec<u32>,
    /// Where the rows of each item go in `order`, while that is made.
    starts: Vec<u32>,
}

impl<R> Default for Collected<R> {
    fn default() -> Self {
        Self {
            numbers: Vec::new(),
            rows: Vec::new(),
            order: Vec::new(),
            starts: Vec::new(),
        }
    }
}

impl<R: Copy> Collected<R> {
    /// Adds a row of the item with this number.
    #[inline]
    pub(super) fn push(&mut self, number: u32, row: R) {
        self.numbers.push(number);
        self.rows.push(row);
    }

    /// Finds the order, by counting the rows of each item; those of one item stay in theirs.
    pub(super) fn arrange(&mut self) {
        let Self {
            numbers,
            order,
            starts,
            ..
        } = self;
        let items = numbers.iter().max().map_or(0, |most| *most as usize + 1);
        starts.clear();
        starts.resize(items + 1, 0);
        for number in &*numbers {
            starts[*number as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut *starts {
            sum += *start;
            *start = sum;
        }
        order.clear();
        order.resize(numbers.len(), 0);
        for (place, number) in (0..).zip(&*numbers) {
            let start = &mut starts[*number as usize];
            order[*start as usize] = place;
            *start += 1;
        }
    }

    /// Iterates over the rows in the order that was found last.
    pub(super) fn iter(&self) -> impl Iterator<Item = R> {
        self.order.iter().enumerate().map(|(at, place)| {
            if let Some(later) = self.order.get(at + FETCHED_ROWS) {
                prefetch(slice::from_ref(&self.rows[*later as usize]));
            }
            self.rows[*place as usize]
        })
    }

    /// Forgets the rows; their room stays.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.rows.clear();
        self.order.clear();
    }

    /// Takes the rows of another worker, whose room stays for more.
    fn merge(&mut self, other: &mut Self) {
        if self.rows.is_empty() {
            mem::swap(self, other);
        } else {
            self.numbers.append(&mut other.numbers);
            self.rows.append(&mut other.rows);
        }
    }
}

fn sort<R>(rows: &mut Numbered<R>) {
    if !rows.is_sorted_by_key(|(number, _)| *number) {
        // Stable, and moves each row once: rows are long.
        rows.sort_by_cached_key(|(number, _)| *number);
    }
}

/// Adds rows; both are in order. Of the same item the earlier ones stay first.
fn merge<R>(rows: &mut Numbered<R>, other: &mut Numbered<R>) {
    if rows.is_empty() {
        mem::swap(rows, other);
    } else if !other.is_empty() {
        rows.append(other);
        // Stable, and quick for what consists of ordered pieces.
        rows.sort_by_key(|(number, _)| *number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_their_items() {
        let mut rows = vec![(1, 'a'), (1, 'b'), (4, 'c')];
        merge(&mut rows, &mut vec![(0, 'd'), (1, 'e'), (5, 'f')]);
        let text: String = rows.iter().map(|(_, row)| row).collect();
        assert_eq!(text, "dabecf");
    }

    #[test]
    fn collected_rows_are_read_in_the_order_of_their_items() {
        let collected = |rows: &[(u32, char)]| {
            let mut collected = Collected::default();
            rows.iter()
                .for_each(|(number, row)| collected.push(*number, *row));
            collected
        };
        let read = |collected: &mut Collected<char>| {
            collected.arrange();
            collected.iter().collect::<String>()
        };
        let mut one = collected(&[(7, 'e'), (0, 'a'), (3, 'b'), (3, 'c'), (0, 'A')]);
        assert_eq!(read(&mut one), "aAbce");
        one.merge(&mut collected(&[(9, 'f'), (4, 'd')]));
        assert_eq!(read(&mut one), "aAbcdef");
        one.clear();
        assert_eq!(read(&mut one), "");
        one.merge(&mut collected(&[(1, 'z')]));
        assert_eq!(read(&mut one), "z");
    }
}
