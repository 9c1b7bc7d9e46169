//! The order in which actors are called.
//!
//! Everything that acts by itself (a link, a host, a flow …) is an *actor* with a
//! number and at most one time at which it is called. The actor with the earliest time is
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

/// Children of a place in the heap. Four lie in one cache line, and the heap is half as deep as
/// with two.
const CHILDREN: usize = 4;

/// The actors' times: a heap whose entries can be moved (Cormen et al., "Introduction to
/// Algorithms", section 6.5 and problem 6-2).
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    heap: Vec<Call>,
    /// Place of each actor in the heap, or [`ABSENT`].
    places: Vec<u32>,
}

/// A time and the actor that is called then, as one number whose order is that of (time, actor).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call(u128);

impl Call {
    fn new(time: Nanos, actor: u32) -> Self {
        Self(u128::from(time) << 32 | u128::from(actor))
    }

    fn time(self) -> Nanos {
        (self.0 >> 32) as Nanos
    }

    fn actor(self) -> usize {
        self.0 as u32 as usize
    }
}

impl Schedule {
    /// For actors 0 to below `actors`, none of them scheduled.
    pub(crate) fn new(actors: usize) -> Self {
        Self {
            heap: Vec::with_capacity(actors),
            places: vec![ABSENT; actors],
        }
    }

    /// Sets the time of an actor, in place of its former one.
    pub(crate) fn set(&mut self, actor: usize, time: Option<Nanos>) {
        let place = self.places[actor];
        match (time, place) {
            (None, ABSENT) => {}
            (None, place) => self.remove(place as usize),
            (Some(time), ABSENT) => {
                let call = Call::new(time, actor as u32);
                self.heap.push(call);
                self.rise(self.heap.len() - 1, call);
            }
            (Some(time), place) => {
                let place = place as usize;
                let call = Call::new(time, actor as u32);
                let before = self.heap[place];
                if call < before {
                    self.rise(place, call);
                } else if call > before {
                    self.sink(place, call);
                }
            }
        }
    }

    /// Sets the time of an actor unless it is called before, when it can set its time again. Far
    /// cheaper for times that move on and on and are seldom reached.
    pub(crate) fn set_at_latest(&mut self, actor: usize, time: Nanos) {
        let standing = self.heap.get(self.places[actor] as usize);
        if standing.is_none_or(|call| call.time() > time) {
            self.set(actor, Some(time));
        }
    }

    /// The next call: its time and the actor.
    pub(crate) fn next(&self) -> Option<(Nanos, usize)> {
        let call = self.heap.first()?;
        Some((call.time(), call.actor()))
    }

    fn remove(&mut self, place: usize) {
        let removed = self.heap.swap_remove(place);
        self.places[removed.actor()] = ABSENT;
        if let Some(&moved) = self.heap.get(place) {
            match moved < removed {
                true => self.rise(place, moved),
                false => self.sink(place, moved),
            }
        }
    }

    /// Puts a call at a place or, as far as it is earlier than those above, above it.
    fn rise(&mut self, mut place: usize, call: Call) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent] <= call {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, call);
    }

    /// Puts a call at a place or, as far as it is later than those below, below it.
    fn sink(&mut self, mut place: usize, call: Call) {
        loop {
            let first = CHILDREN * place + 1;
            let (mut least, mut place_of_least) = (call, place);
            let below = self.heap.get(first..).unwrap_or_default();
            for (child, &other) in below.iter().take(CHILDREN).enumerate() {
                if other < least {
                    (least, place_of_least) = (other, first + child);
                }
            }
            if place_of_least == place {
                break;
            }
            self.put(place, least);
            place = place_of_least;
        }
        self.put(place, call);
    }

    fn put(&mut self, place: usize, call: Call) {
        self.heap[place] = call;
        self.places[call.actor()] = place as u32;
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

    #[test]
    fn a_time_at_the_latest_moves_a_call_forward_only() {
        let mut schedule = Schedule::new(2);
        for (time, next) in [(9, 9), (7, 7), (8, 7)] {
            schedule.set_at_latest(1, time);
            assert_eq!(schedule.next(), Some((next, 1)));
        }
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
