//! Ways of packets through the switch, which the next packets of the same flow take again.
//!
//! No field that a match of OpenFlow 1.3 has tells packets of one large segment of a host apart. So
//! the second one needs no look-up, and not even its bytes.

use crate::pipeline::Walk;
use crate::switch::Switch;

/// Steps of a way that are remembered.
const MOST_STEPS: usize = 8;

/// Something on a way that counts packets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// An entry, by its table and slot.
    Entry(u8, usize),
    /// A group.
    Group(u32),
    /// A bucket of a group, by its place.
    Bucket(u32, usize),
}

/// The steps of a packet so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    steps: [Option<Step>; MOST_STEPS],
    count: usize,
    /// Whether another packet of its flow takes the same steps, as far as is known of one that has come.
    is_same_for_all: bool,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self {
            steps: [None; MOST_STEPS],
            count: 0,
            is_same_for_all: true,
        }
    }

    pub(crate) fn add(&mut self, step: Step) {
        match self.steps.get_mut(self.count) {
            Some(place) => {
                *place = Some(step);
                self.count += 1;
            }
            None => self.differ(),
        }
    }

    /// Says that the next packet may have another way, or leaves otherwise than it came.
    pub(crate) fn differ(&mut self) {
        self.is_same_for_all = false;
    }
}

/// The way of a packet that was sent as it came, by one port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    steps: Steps,
    port: u32,
    queue: Option<u32>,
    /// Changes of the switch before it.
    changes: u64,
}

impl Switch {
    /// Remembers the way of a packet, where it is the same for the next one of its flow: it was sent
    /// once, by `port`.
    pub(crate) fn remember(&mut self, walk: &Walk, port: u32, queue: Option<u32>) {
        let is_same = walk.steps.is_same_for_all && walk.blocked.is_none();
        let way = Way {
            steps: walk.steps,
            port,
            queue,
            changes: self.changes,
        };
        if let Some(found) = self.ports.get_mut(&walk.in_port) {
            found.way = is_same.then_some(way);
        }
    }

    /// Forgets the way of the last packet that came by a port: the next one may have another.
    pub(crate) fn forget_way(&mut self, port: u32) {
        if let Some(found) = self.ports.get_mut(&port) {
            found.way = None;
        }
    }

    /// Takes a packet that comes in by a port and has the same fields as the last one that came by it:
    /// so many bytes. Where it leaves as it came, by one port, gives that port and the queue there;
    /// `None`: it has to be [received](Self::receive_packet).
    pub fn repeat(&mut self, now_ns: u64, port: u32, bytes: u64) -> Option<(u32, Option<u32>)> {
        let has_timer = self.next_deadline().is_some_and(|at_ns| at_ns <= now_ns);
        let changes = self.changes;
        let found = self.ports.get_mut(&port)?;
        let way = found
            .way
            .filter(|way| way.changes == changes && !has_timer)?;
        // Both ports took the packet before, and nothing has changed.
        let _ = found.receive(bytes);
        let _ = self.ports.get_mut(&way.port)?.send(way.queue, bytes);
        for step in way.steps.steps.into_iter().flatten() {
            self.count_step(now_ns, step, bytes);
        }
        self.account.received += 1;
        self.account.forwarded += 1;
        self.account.attempts += 1;
        self.account.sent += 1;
        Some((way.port, way.queue))
    }

    fn count_step(&mut self, now_ns: u64, step: Step, bytes: u64) {
        match step {
            Step::Entry(table, slot) => {
                let table = &mut self.tables[usize::from(table)];
                table.lookups += 1;
                table.matched += 1;
                if let Some(entry) = table.entry_mut(slot) {
                    entry.count(now_ns, bytes);
                }
            }
            Step::Group(group) => {
                if let Some(group) = self.groups.get_mut(group) {
                    group.packets += 1;
                    group.bytes += bytes;
                }
            }
            Step::Bucket(group, place) => {
                let group = self.groups.get_mut(group);
                if let Some(bucket) = group.and_then(|group| group.buckets.get_mut(place)) {
                    bucket.packets += 1;
                    bucket.bytes += bytes;
                }
            }
        }
    }
}
