//! Replay of a rate trace with the semantics of Mahimahi (see [`Rate::Trace`](crate::Rate::Trace)).

use alloc::vec::Vec;

use crate::Nanos;

pub(crate) const NANOS_PER_MS: Nanos = 1_000_000;

/// Bytes of one delivery opportunity.
pub(crate) const OPPORTUNITY_BYTES: u64 = 1504;

/// A trace and how far it has been used.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    /// When the trace began.
    origin: Nanos,
    /// Opportunities since the begin of a cycle, in order; the last one is its length.
    opportunities: Vec<Nanos>,
    position: Position,
    /// The position at which the latest packet began.
    packet_began: Position,
}

/// A place in the endless trace.
#[derive(Clone, Copy, Debug)]
struct Position {
    cycle_start: Nanos,
    /// The next opportunity of this cycle.
    next: usize,
    /// Time of the opportunity in use.
    current: Nanos,
    /// Bytes that are left of it.
    bytes_left: u64,
}

impl Replay {
    /// Begins a checked trace.
    pub(crate) fn new(opportunities_ms: &[u64], now: Nanos) -> Self {
        let position = Position {
            cycle_start: now,
            next: 0,
            current: now,
            bytes_left: 0,
        };
        Self {
            origin: now,
            opportunities: opportunities_ms
                .iter()
                .map(|ms| ms * NANOS_PER_MS)
                .collect(),
            position,
            packet_began: position,
        }
    }

    /// When the packet at the head of the queue can start: at the first opportunity after its
    /// arrival that has something left.
    pub(crate) fn start(&self, arrived: Nanos) -> Nanos {
        if self.position.bytes_left > 0 && self.position.current > arrived {
            self.position.current
        } else if self.next_time() > arrived {
            self.next_time()
        } else {
            let (cycle_start, next) = self.first_after(arrived);
            cycle_start.saturating_add(self.opportunities[next])
        }
    }

    /// Sends a packet from `start`, as returned by [`start`](Self::start); returns when it ends.
    pub(crate) fn send(&mut self, start: Nanos, bytes: u64) -> Nanos {
        if self.position.current != start || self.position.bytes_left == 0 {
            self.position.bytes_left = 0;
            if self.next_time() < start {
                let (cycle_start, next) = self.first_after(start - 1);
                self.position = Position {
                    cycle_start,
                    next,
                    ..self.position
                };
            }
        }
        self.packet_began = self.position;
        if bytes == 0 {
            return start;
        }
        self.use_opportunities(bytes, Nanos::MAX);
        self.position.current
    }

    /// Takes the latest packet back to what it was at `now`, and returns what is left of it.
    pub(crate) fn interrupt(&mut self, bytes: u64, now: Nanos) -> u64 {
        self.position = self.packet_began;
        self.use_opportunities(bytes, now)
    }

    /// Sends up to `bytes` in opportunities up to a time and returns how many are left.
    fn use_opportunities(&mut self, mut bytes: u64, until: Nanos) -> u64 {
        while bytes > 0 {
            if self.position.bytes_left == 0 {
                if self.next_time() > until {
                    break;
                }
                self.take_opportunity();
            }
            let sent = bytes.min(self.position.bytes_left);
            bytes -= sent;
            self.position.bytes_left -= sent;
        }
        bytes
    }

    fn next_time(&self) -> Nanos {
        let Position {
            cycle_start, next, ..
        } = self.position;
        cycle_start.saturating_add(self.opportunities[next])
    }

    fn take_opportunity(&mut self) {
        self.position.current = self.next_time();
        self.position.bytes_left = OPPORTUNITY_BYTES;
        self.position.next += 1;
        if self.position.next == self.opportunities.len() {
            self.position.next = 0;
            self.position.cycle_start = self.position.current;
        }
    }

    /// Cycle and index of the first opportunity after a moment, which is not before the origin.
    fn first_after(&self, moment: Nanos) -> (Nanos, usize) {
        let length = self.opportunities[self.opportunities.len() - 1];
        let within = (moment - self.origin) % length;
        let next = self
            .opportunities
            .partition_point(|&opportunity| opportunity <= within);
        (moment - within, next)
    }
}
