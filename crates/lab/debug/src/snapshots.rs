//! Copies of a world from earlier: as many as a limit of memory allows, at equal distances.

use std::sync::Arc;

use mptcplab_engine_sim::World;

use crate::session::Position;

/// Events of the simulator between two copies at first; replaying them takes a few milliseconds.
const FIRST_INTERVAL: u64 = 4096;
/// Memory that copies take at most, by the estimate of [`World::approximate_bytes`].
const LIMIT_BYTES: u64 = 512 << 20;
/// Copies at most. With more of them going back takes hardly less time.
const MOST: usize = 512;

/// A copy.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) position: Position,
    /// Changes that had been made by then.
    pub(crate) changes: usize,
    pub(crate) world: World,
    bytes: u64,
}

/// The copies, first to last. The first is of the beginning.
#[derive(Clone, Debug)]
pub(crate) struct Snapshots {
    all: Vec<Arc<Snapshot>>,
    interval: u64,
    bytes: u64,
    most: usize,
}

impl Snapshots {
    /// A copy of the beginning.
    pub(crate) fn new(world: &World) -> Self {
        let mut snapshots = Self {
            all: Vec::new(),
            interval: FIRST_INTERVAL,
            bytes: 0,
            most: MOST,
        };
        snapshots.push(world, 0);
        snapshots
    }

    /// Takes a copy if the last one is old enough.
    pub(crate) fn offer(&mut self, world: &World, changes: usize) {
        let last = self.all.last().map_or(0, |last| last.position.step);
        if world.counts().steps >= last.saturating_add(self.interval) {
            self.push(world, changes);
            self.thin();
        }
    }

    fn push(&mut self, world: &World, changes: usize) {
        let mut world = world.clone();
        world.take_rows();
        world.observe(false);
        let bytes = world.approximate_bytes();
        self.bytes += bytes;
        self.all.push(Arc::new(Snapshot {
            position: Position::of(&world),
            changes,
            world,
            bytes,
        }));
    }

    /// Drops every second copy and doubles the distance until the limits are kept. The beginning
    /// stays.
    fn thin(&mut self) {
        while self.all.len() > 2 && (self.all.len() > self.most || self.bytes > LIMIT_BYTES) {
            let mut place = 0;
            self.all.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.interval *= 2;
            self.bytes = self.all.iter().map(|one| one.bytes).sum();
        }
    }

    /// The copies from before this many events, last to first.
    pub(crate) fn before(&self, step: u64) -> Vec<Arc<Snapshot>> {
        let place = self.all.partition_point(|one| one.position.step < step);
        self.all[..place].iter().rev().cloned().collect()
    }

    /// The last copy that is not after a position.
    pub(crate) fn at_or_before(&self, is_not_after: impl Fn(&Position) -> bool) -> &Arc<Snapshot> {
        let place = self.all.partition_point(|one| is_not_after(&one.position));
        &self.all[place.max(1) - 1]
    }

    /// Forgets the copies from after a position, as time goes on differently from there.
    pub(crate) fn forget_after(&mut self, position: Position) {
        let kept = self
            .all
            .partition_point(|one| one.position.step <= position.step);
        self.all.truncate(kept.max(1));
        self.bytes = self.all.iter().map(|one| one.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use mptcplab_plan::Plan;

    use super::*;

    /// A world in which nothing but the sampling happens.
    fn idle() -> World {
        let plan = Plan {
            seed: 1,
            nodes: Vec::new(),
            links: Vec::new(),
            traffic: Vec::new(),
            events: Vec::new(),
            sample_interval_ns: 10,
            capture: None,
            time_limit_ns: u64::MAX,
            controller: None,
        };
        World::new(&plan).unwrap()
    }

    /// Offers a world after each of its events.
    fn offer_all(snapshots: &mut Snapshots, world: &mut World, events: u64) {
        for _ in 0..events {
            world.step();
            snapshots.offer(world, 0);
        }
    }

    fn steps(snapshots: &Snapshots) -> Vec<u64> {
        snapshots.all.iter().map(|one| one.position.step).collect()
    }

    #[test]
    fn copies_are_thinned_evenly_and_the_beginning_stays() {
        let mut world = idle();
        let mut snapshots = Snapshots::new(&world);
        (snapshots.interval, snapshots.most) = (10, 4);
        offer_all(&mut snapshots, &mut world, 39);
        assert_eq!(steps(&snapshots), [0, 10, 20, 30]);
        offer_all(&mut snapshots, &mut world, 100);
        assert_eq!(steps(&snapshots), [0, 40, 80, 120]);
    }

    #[test]
    fn a_changed_future_is_forgotten_and_copied_anew() {
        let mut world = idle();
        let mut snapshots = Snapshots::new(&world);
        snapshots.interval = 10;
        offer_all(&mut snapshots, &mut world, 35);
        snapshots.forget_after(Position {
            step: 20,
            now_ns: 0,
        });
        assert_eq!(steps(&snapshots), [0, 10, 20]);
        let found = snapshots.at_or_before(|one| one.step <= 19);
        assert_eq!(found.position.step, 10);
        let mut again = found.world.clone();
        offer_all(&mut snapshots, &mut again, 21);
        assert_eq!(steps(&snapshots), [0, 10, 20, 30]);
    }
}
