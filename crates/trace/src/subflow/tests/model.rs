//! A sender, a network that loses and reorders, and a receiver: what is captured beside either,
//! with why each packet was sent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::dsl::{MS, MSS, Packet, ack, data};
use crate::Nanos;

/// Least time from one end to the other.
pub(crate) const DELAY: Nanos = 20 * MS;
/// Most that is added to it.
pub(crate) const JITTER: Nanos = 15 * MS;
/// Longer than round trips differ.
const TIMEOUT: Nanos = 500 * MS;
/// Segments under way.
const WINDOW: i64 = 12;
/// The first segments all arrive in their order.
const UNDISTURBED: i64 = 10;

/// Why a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    First,
    Fast,
    Timeout,
}

/// A packet of the capture.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) at: Nanos,
    pub(crate) packet: Packet,
    /// Of the client's: which segment, why, and its identification.
    pub(crate) sent: Option<(i64, Why, u16)>,
    /// Of the server's: it has a D-SACK.
    pub(crate) duplicate: bool,
}

/// Random choices of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chances {
    pub(crate) seed: u64,
    pub(crate) segments: i64,
    /// Of 100 data segments so many are lost.
    pub(crate) lost: u64,
    /// Of 100 acknowledgements so many are lost.
    pub(crate) acknowledgements_lost: u64,
    pub(crate) reordering: bool,
}

/// Both captures of a run.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    pub(crate) beside_sender: Vec<Captured>,
    pub(crate) beside_receiver: Vec<Captured>,
}

#[derive(Clone, Debug)]
enum Event {
    Data(i64, u32, Captured),
    Acknowledgement(Told, Captured),
    Timeout(u64),
}

/// Content of an acknowledgement.
#[derive(Clone, Debug)]
struct Told {
    number: i64,
    blocks: Vec<(i64, i64)>,
    echo: u32,
    /// Which segment had arrived before.
    duplicate: Option<i64>,
}

/// A repair of losses.
#[derive(Clone, Debug)]
struct Repair {
    until: i64,
    why: Why,
    stamp: u32,
    /// Its retransmissions that D-SACK has not told of.
    needed: u64,
}

struct Model {
    chances: Chances,
    now: Nanos,
    serial: u64,
    events: BTreeMap<Reverse<(Nanos, u64)>, Event>,
    captures: Captures,
    // The sender.
    acknowledged: i64,
    next: i64,
    sacked: BTreeSet<i64>,
    resent: BTreeSet<i64>,
    repair: Option<Repair>,
    /// How often each segment was sent again, without what D-SACK told of.
    again: BTreeMap<i64, u64>,
    alarm: u64,
    packets: u16,
    // The receiver.
    arrived: BTreeSet<i64>,
    expected: i64,
    recent_stamp: u32,
}

/// Runs a transfer of the client to its end.
pub(crate) fn run(chances: Chances) -> Captures {
    let mut model = Model {
        chances,
        now: 0,
        serial: 0,
        events: BTreeMap::new(),
        captures: Captures::default(),
        acknowledged: 0,
        next: 0,
        sacked: BTreeSet::new(),
        resent: BTreeSet::new(),
        repair: None,
        again: BTreeMap::new(),
        alarm: 0,
        packets: 0,
        arrived: BTreeSet::new(),
        expected: 0,
        recent_stamp: 0,
    };
    model.send_new();
    model.set_alarm();
    while let Some((Reverse((at, _)), event)) = model.events.pop_last() {
        model.now = at;
        match event {
            Event::Data(n, stamp, captured) => model.arrive(n, stamp, captured),
            Event::Acknowledgement(told, captured) => {
                model
                    .captures
                    .beside_sender
                    .push(Captured { at, ..captured });
                model.acknowledge(&told);
            }
            Event::Timeout(alarm) if alarm == model.alarm => model.time_out(),
            Event::Timeout(_) => {}
        }
    }
    assert_eq!(model.acknowledged, chances.segments);
    model.captures
}

impl Model {
    fn chance(&mut self, below: u64) -> u64 {
        // xorshift64*
        let mut x = self.chances.seed | 1;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.chances.seed = x;
        (x.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) % below
    }

    fn schedule(&mut self, after: Nanos, event: Event) {
        self.serial += 1;
        self.events
            .insert(Reverse((self.now + after, self.serial)), event);
    }

    fn delay(&mut self, undisturbed: bool) -> Nanos {
        let jitter = if self.chances.reordering && !undisturbed {
            self.chance(JITTER as u64) as Nanos
        } else {
            0
        };
        DELAY + jitter
    }

    fn stamp(&self) -> u32 {
        (self.now / MS) as u32
    }

    fn send(&mut self, n: i64, why: Why) {
        self.packets += 1;
        let packet = data(1 + n * MSS..1 + (n + 1) * MSS)
            .stamps(self.stamp(), 0)
            .id(self.packets);
        let captured = Captured {
            at: self.now,
            packet,
            sent: Some((n, why, self.packets)),
            duplicate: false,
        };
        self.captures.beside_sender.push(captured.clone());
        let undisturbed = n < UNDISTURBED;
        if undisturbed || self.chance(100) >= self.chances.lost {
            let delay = self.delay(undisturbed);
            self.schedule(delay, Event::Data(n, self.stamp(), captured));
        }
    }

    fn send_new(&mut self) {
        while self.next < self.chances.segments && self.next - self.acknowledged < WINDOW {
            // Segments that are sent at one moment have different times all the same.
            self.now += 1000;
            self.send(self.next, Why::First);
            self.next += 1;
        }
    }

    fn set_alarm(&mut self) {
        self.alarm += 1;
        if self.acknowledged < self.next {
            self.schedule(TIMEOUT, Event::Timeout(self.alarm));
        }
    }

    fn time_out(&mut self) {
        self.begin(Why::Timeout);
        self.resend(self.acknowledged);
        self.set_alarm();
    }

    /// Begins a repair, or goes on with one that a timeout found to have failed.
    fn begin(&mut self, why: Why) {
        let before = self.repair.take();
        self.repair = Some(Repair {
            until: self.next,
            why,
            stamp: before.as_ref().map_or(self.stamp(), |before| before.stamp),
            needed: before.map_or(0, |before| before.needed),
        });
        self.resent.clear();
    }

    fn resend(&mut self, n: i64) {
        self.resent.insert(n);
        *self.again.entry(n).or_default() += 1;
        let repair = self.repair.as_mut().expect("a repair");
        repair.needed += 1;
        let why = repair.why;
        self.send(n, why);
    }

    /// Ends the repair that is done or was not needed (RFC 3522, RFC 3708).
    fn review(&mut self, told: &Told) {
        let again = told.duplicate.and_then(|n| self.again.get_mut(&n));
        let unneeded = again.filter(|count| **count > 0).map(|count| *count -= 1);
        let Some(repair) = &mut self.repair else {
            return;
        };
        if unneeded.is_some() {
            repair.needed = repair.needed.saturating_sub(1);
        }
        let early = told.number > self.acknowledged && told.echo < repair.stamp;
        if told.number >= repair.until || early || repair.needed == 0 {
            self.repair = None;
            self.resent.clear();
        }
    }

    fn acknowledge(&mut self, told: &Told) {
        self.review(told);
        for &(start, end) in &told.blocks {
            self.sacked.extend(start.max(self.acknowledged)..end);
        }
        let advanced = told.number > self.acknowledged;
        self.acknowledged = self.acknowledged.max(told.number);
        let highest = self.sacked.last().copied().unwrap_or(0);
        let missing = |model: &Self, below: i64| {
            let mut open = model.acknowledged..below;
            open.find(|n| !model.sacked.contains(n) && !model.resent.contains(n))
        };
        let by_timeout = self
            .repair
            .as_ref()
            .filter(|repair| repair.why == Why::Timeout);
        if let Some(until) = by_timeout.map(|repair| repair.until) {
            for _ in 0..2 {
                if let Some(n) = missing(self, until) {
                    self.resend(n);
                }
            }
        } else {
            while let Some(n) = missing(self, highest) {
                if self.repair.is_none() {
                    self.begin(Why::Fast);
                }
                self.resend(n);
            }
        }
        self.send_new();
        if advanced {
            self.set_alarm();
        }
    }

    fn arrive(&mut self, n: i64, stamp: u32, captured: Captured) {
        let at = self.now;
        if n == self.expected {
            // RFC 7323, section 4.3.
            self.recent_stamp = stamp;
        }
        let duplicate = n < self.expected || !self.arrived.insert(n);
        while self.arrived.remove(&self.expected) {
            self.expected += 1;
        }
        self.captures
            .beside_receiver
            .push(Captured { at, ..captured });
        let mut blocks = Vec::new();
        if duplicate {
            blocks.push((n, n + 1));
        }
        if n > self.expected {
            // The block of the segment comes first, or after its D-SACK.
            blocks.push(self.block_around(n));
        }
        if let Some(&lowest) = self.arrived.first() {
            let block = self.block_around(lowest);
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        let packet = ack(1 + self.expected * MSS).sack(&blocks);
        let captured = Captured {
            at,
            packet: packet.stamps(self.stamp(), self.recent_stamp),
            sent: None,
            duplicate,
        };
        self.captures.beside_receiver.push(captured.clone());
        if self.chance(100) >= self.chances.acknowledgements_lost {
            let delay = self.delay(false);
            let told = Told {
                number: self.expected,
                blocks,
                echo: self.recent_stamp,
                duplicate: duplicate.then_some(n),
            };
            self.schedule(delay, Event::Acknowledgement(told, captured));
        }
    }

    fn block_around(&self, n: i64) -> (i64, i64) {
        let mut start = n;
        while self.arrived.contains(&(start - 1)) {
            start -= 1;
        }
        let mut end = n;
        while self.arrived.contains(&end) {
            end += 1;
        }
        (start, end)
    }
}
