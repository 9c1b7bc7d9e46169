//! A batch of work, connection by connection.
//!
//! Thousands of connections that take turns have more state than the caches hold. In a batch with
//! many pieces of each, the state of one is fetched once for all of its pieces.

use super::worker::Work;

/// Stands for no place.
const NONE: u32 = u32::MAX;

/// Pieces of work, each with the number that it has among those of all workers.
#[derive(Default)]
pub(super) struct Batch {
    pieces: Vec<(u32, Work)>,
    /// Place of the next piece of the same connection, or [`NONE`], for each piece.
    following: Vec<u32>,
    /// The first piece of each connection, and the index of the connection.
    firsts: Vec<(u32, u32)>,
}

/// A batch that is being gathered.
#[derive(Default)]
pub(super) struct Gathering {
    batch: Batch,
    /// Place of the last piece of each connection by its index, or [`NONE`].
    lasts: Vec<u32>,
}

impl Gathering {
    /// Adds a piece of work of the connection with this index. Returns whether it is its first one.
    #[inline(always)]
    pub(super) fn put(&mut self, number: u32, index: usize, work: Work) -> bool {
        // First of all: a piece is long, and is then moved once.
        self.batch.pieces.push((number, work));
        self.chain(index)
    }

    /// Puts the piece that was added last behind those of its connection.
    #[inline]
    fn chain(&mut self, index: usize) -> bool {
        if index >= self.lasts.len() {
            self.lasts.resize(index + 1, NONE);
        }
        let Batch {
            following, firsts, ..
        } = &mut self.batch;
        let place = following.len() as u32;
        let last = std::mem::replace(&mut self.lasts[index], place);
        following.push(NONE);
        if last == NONE {
            firsts.push((place, index as u32));
        } else {
            following[last as usize] = place;
        }
        last == NONE
    }

    /// Creates an empty batch with room for as many pieces as were gathered.
    pub(super) fn of_same_size(&self) -> Batch {
        let Batch { pieces, firsts, .. } = &self.batch;
        Batch {
            pieces: Vec::with_capacity(pieces.len()),
            following: Vec::with_capacity(pieces.len()),
            firsts: Vec::with_capacity(firsts.len()),
        }
    }

    /// Returns what was gathered, and goes on with `empty`, a batch that is done.
    pub(super) fn exchange(&mut self, mut empty: Batch) -> Batch {
        for (_, index) in &self.batch.firsts {
            self.lasts[*index as usize] = NONE;
        }
        empty.pieces.clear();
        empty.following.clear();
        empty.firsts.clear();
        std::mem::replace(&mut self.batch, empty)
    }
}

impl Batch {
    /// Passes the pieces with their numbers to `take`: all of one connection in their order, then
    /// those of another.
    #[inline]
    pub(super) fn by_connection(&self, mut take: impl FnMut(u32, &Work)) {
        for (first, _) in &self.firsts {
            let mut place = *first;
            while place != NONE {
                let (number, work) = &self.pieces[place as usize];
                take(*number, work);
                place = self.following[place as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::IdentityEvent;

    fn numbers(batch: &Batch) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        batch.by_connection(|number, work| found.push((work.connection(), number)));
        found
    }

    #[test]
    fn the_pieces_of_a_connection_stand_together_in_their_order() {
        let mut gathering = Gathering::default();
        let put = |gathering: &mut Gathering, number: u32, connection: u32| {
            let work = Work::Identity(connection, IdentityEvent::FellBack);
            gathering.put(number, connection as usize / 2, work)
        };
        assert!(put(&mut gathering, 0, 4));
        assert!(put(&mut gathering, 3, 0));
        assert!(!put(&mut gathering, 4, 4));
        assert!(put(&mut gathering, 7, 2));
        assert!(!put(&mut gathering, 8, 0));
        assert!(!put(&mut gathering, 9, 4));
        let first = gathering.exchange(Batch::default());
        assert_eq!(
            numbers(&first),
            [(4, 0), (4, 4), (4, 9), (0, 3), (0, 8), (2, 7)]
        );
        // The next batch begins anew, in the room of one that is done.
        assert!(put(&mut gathering, 0, 0));
        let second = gathering.exchange(first);
        assert_eq!(numbers(&second), [(0, 0)]);
        assert_eq!(numbers(&gathering.exchange(second)), []);
    }
}
