//! Who acts next.
//!
//! Everything that acts by itself (a link, a host, an item of traffic …) is an *actor* with a
//! number and at most one time at which it wants to be called. The actor with the earliest time is
//! called next; of several with the same time the one with the smallest number. Nothing else
//! decides about the order: not when a time was set, and not how often.

/// A moment in virtual time: nanoseconds since the run's zero.
pub type Nanos = u64;

const ABSENT: u32 = u32::MAX;

/// The earlier of two times that may be absent.
pub(crate) fn earlier(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The actors' times: a binary heap whose entries can be moved (Cormen et al., "Introduction to
/// Algorithms", section 6.5).
#[derive(Debug)]
pub(crate) struct Schedule {
    /// Ordered as a heap by (time, actor).
    heap: Vec<(Nanos, u32)>,
    /// Place of each actor in the heap, or [`ABSENT`].
    places: Vec<u32>,
}

impl Schedule {
    /// For actors 0 to below `actors`, of which none wants to be called.
    pub(crate) fn new(actors: usize) -> Self {
        Self {
            heap: Vec::with_capacity(actors),
            places: vec![ABSENT; actors],
        }
    }

    /// Sets when an actor wants to be called, in place of what it wanted before.
    pub(crate) fn set(&mut self, actor: usize, time: Option<Nanos>) {
        let place = self.places[actor];
        match (time, place) {
            (None, ABSENT) => {}
            (None, place) => self.remove(place as usize),
            (Some(time), ABSENT) => {
                let place = self.heap.len();
                self.heap.push((time, actor as u32));
                self.places[actor] = place as u32;
                self.rise(place);
            }
            (Some(time), place) => {
                let place = place as usize;
                let before = self.heap[place].0;
                self.heap[place].0 = time;
                if time < before {
                    self.rise(place);
                } else if time > before {
                    self.sink(place);
                }
            }
        }
    }

    /// The next call: its time and the actor.
    pub(crate) fn next(&self) -> Option<(Nanos, usize)> {
        let &(time, actor) = self.heap.first()?;
        Some((time, actor as usize))
    }

    fn remove(&mut self, place: usize) {
        let (_, actor) = self.heap.swap_remove(place);
        self.places[actor as usize] = ABSENT;
        if place < self.heap.len() {
            self.places[self.heap[place].1 as usize] = place as u32;
            self.rise(place);
            self.sink(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let right_is_less = right < self.heap.len() && self.heap[right] < self.heap[left];
            let least = if right_is_less { right } else { left };
            if entry <= self.heap[least] {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Nanos, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_equal_times_the_smallest_number_comes_first_whenever_it_was_set() {
        let mut schedule = Schedule::new(3);
        for actor in [2, 0, 1] {
            schedule.set(actor, Some(7));
        }
        for actor in 0..3 {
            assert_eq!(schedule.next(), Some((7, actor)));
            schedule.set(actor, None);
        }
        assert_eq!(schedule.next(), None);
    }

    proptest! {
        #[test]
        fn the_next_call_is_always_the_least_of_all(
            calls in prop::collection::vec((0..8_usize, prop::option::of(0..20_u64)), 0..200),
        ) {
            let mut schedule = Schedule::new(8);
            let mut times = [None; 8];
            for (actor, time) in calls {
                schedule.set(actor, time);
                times[actor] = time;
                let least = (0..8).filter_map(|actor| Some((times[actor]?, actor))).min();
                prop_assert_eq!(schedule.next(), least);
            }
        }
    }
}
