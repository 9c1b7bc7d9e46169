//! A batch of work, connection by connection.
//!
//! Thousands of connections that take turns have more state than the caches hold. In a batch with
//! many pieces of each, the state of one is fetched once for all of its pieces.

use std::slice;

use super::worker::Work;
use crate::prefetch::prefetch;

/// Stands for no place.
const NONE: u32 = u32::MAX;

/// Connections of a batch from which on their state does not stay in the near caches.
const MANY: usize = 16;

/// Pieces that are fetched before the one that is passed.
const FETCHED_PIECES: usize = 3;

/// Takes the pieces of a batch.
pub(super) trait Visitor {
    /// Fetches what is known of connections that come next: called for each connection, before its
    /// pieces, where there are many.
    fn fetch(&self, next: Next);

    /// Takes a piece.
    fn take(&mut self, number: u32, work: &Work);
}

/// Indices of the connections that follow the present one in a batch.
pub(super) struct Next {
    /// The next one, whose parts are fetched: its own state is there.
    pub(super) first: Option<usize>,
    /// The one after that, whose own state is fetched.
    pub(super) second: Option<usize>,
}

/// Pieces of work, each with the number that it has among those of all workers.
#[derive(Default)]
pub(super) struct Batch {
    /// As many as `following` has; those behind them are of a batch that is done, and stay until
    /// others take their places: to drop all would bring each into the caches once more.
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
        let Batch {
            pieces, following, ..
        } = &mut self.batch;
        match pieces.get_mut(following.len()) {
            Some(piece) => *piece = (number, work),
            None => pieces.push((number, work)),
        }
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
    fn of_same_size(&self) -> Batch {
        let Batch {
            following, firsts, ..
        } = &self.batch;
        Batch {
            pieces: Vec::with_capacity(following.len()),
            following: Vec::with_capacity(following.len()),
            firsts: Vec::with_capacity(firsts.len()),
        }
    }

    /// Returns what was gathered so far.
    pub(super) fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Begins the next batch in the room of the one that was gathered.
    pub(super) fn clear(&mut self) {
        self.forget_places();
        self.batch.following.clear();
        self.batch.firsts.clear();
    }

    /// Returns what was gathered, and begins the next batch with as much room.
    pub(super) fn take(&mut self) -> Batch {
        self.forget_places();
        let empty = self.of_same_size();
        std::mem::replace(&mut self.batch, empty)
    }

    fn forget_places(&mut self) {
        for (_, index) in &self.batch.firsts {
            self.lasts[*index as usize] = NONE;
        }
    }
}

impl Batch {
    /// Passes the pieces with their numbers to a visitor: all of one connection in their order, then
    /// those of another. Where there are many connections, each piece is fetched before it is passed.
    #[inline]
    pub(super) fn by_connection(&self, visitor: &mut impl Visitor) {
        let is_wide = self.firsts.len() >= MANY;
        for (at, (first, _)) in self.firsts.iter().enumerate() {
            let mut ahead = NONE;
            if is_wide {
                ahead = self.fetch(at, visitor);
            }
            let mut place = *first;
            while place != NONE {
                if is_wide {
                    ahead = self.fetch_piece(ahead);
                }
                let (number, work) = &self.pieces[place as usize];
                visitor.take(*number, work);
                place = self.following[place as usize];
            }
        }
    }

    /// Fetches what comes after connection `at` of the batch, and its own first pieces. Returns the
    /// place of the piece after these.
    #[inline(never)]
    fn fetch(&self, at: usize, visitor: &impl Visitor) -> u32 {
        let index = |more: usize| Some(self.firsts.get(at + more)?.1 as usize);
        visitor.fetch(Next {
            first: index(1),
            second: index(2),
        });
        (0..FETCHED_PIECES).fold(self.firsts[at].0, |place, _| self.fetch_piece(place))
    }

    /// Fetches a piece, if there is one. Returns the place of the next one of the same connection.
    #[inline]
    fn fetch_piece(&self, place: u32) -> u32 {
        match self.following.get(place as usize) {
            Some(next) => {
                prefetch(slice::from_ref(&self.pieces[place as usize]));
                *next
            }
            None => NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::identify::IdentityEvent;

    /// Connections and numbers of the pieces, and the connections that were to be fetched.
    #[derive(Default)]
    struct Seen {
        pieces: Vec<(u32, u32)>,
        fetched: RefCell<Vec<[Option<usize>; 2]>>,
    }

    impl Visitor for Seen {
        fn fetch(&self, next: Next) {
            self.fetched.borrow_mut().push([next.first, next.second]);
        }

        fn take(&mut self, number: u32, work: &Work) {
            self.pieces.push((work.connection(), number));
        }
    }

    fn seen(batch: &Batch) -> Seen {
        let mut seen = Seen::default();
        batch.by_connection(&mut seen);
        seen
    }

    fn numbers(batch: &Batch) -> Vec<(u32, u32)> {
        seen(batch).pieces
    }

    #[test]
    fn connections_that_come_next_are_fetched_where_there_are_many() {
        let mut gathering = Gathering::default();
        for number in 0..2 * MANY as u32 {
            let connection = number % MANY as u32;
            let work = Work::Identity(connection, IdentityEvent::FellBack);
            gathering.put(number, connection as usize, work);
        }
        let all = seen(gathering.batch());
        assert_eq!(all.pieces.len(), 2 * MANY);
        let fetched = all.fetched.into_inner();
        assert_eq!(fetched.len(), MANY);
        assert_eq!(fetched[0], [Some(1), Some(2)]);
        assert_eq!(fetched[MANY - 2], [Some(MANY - 1), None]);
        assert_eq!(fetched[MANY - 1], [None, None]);
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
        assert_eq!(
            numbers(gathering.batch()),
            [(4, 0), (4, 4), (4, 9), (0, 3), (0, 8), (2, 7)]
        );
        // The next batch begins anew, in the same room or in another.
        gathering.clear();
        assert!(put(&mut gathering, 0, 0));
        assert_eq!(numbers(&gathering.take()), [(0, 0)]);
        assert!(put(&mut gathering, 5, 0));
        assert_eq!(numbers(&gathering.take()), [(0, 5)]);
        assert_eq!(numbers(gathering.batch()), []);
    }
}
