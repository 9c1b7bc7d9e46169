//! The rows of a batch, and of several workers, in the order of their items.

use std::mem;

use super::worker::{Numbered, Rows};

impl Rows {
    /// Puts them into the order of their items; those of one item are in order.
    pub(super) fn sort(&mut self) {
        sort(&mut self.samples);
        sort(&mut self.events);
        sort(&mut self.packets);
        sort(&mut self.mappings);
    }

    /// Takes the rows of another worker, whose room stays for more.
    pub(super) fn merge(&mut self, other: &mut Rows) {
        merge(&mut self.samples, &mut other.samples);
        merge(&mut self.events, &mut other.events);
        merge(&mut self.packets, &mut other.packets);
        merge(&mut self.mappings, &mut other.mappings);
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
}
