//! One seed: a world, a connection in it, and what must hold.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use mptcplab_engine_sim::World;
use mptcplab_plan::Protocol;
use mptcplab_stack::congestion::CongestionAlgorithm;
use mptcplab_stack::{CloseReason, Event, Keepalive, SocketOptions};

use crate::draw::{Dice, Draw, draw};
use crate::party::{Content, Party};
use crate::support::SECOND;

const PORT: u16 = 5001;
/// A connection is over by then: the longest that a host goes on without an answer is about
/// 15 minutes, from the last answer on.
const LIMIT_NS: u64 = 6000 * SECOND;
/// TIME-WAIT and whatever else remains is over after so long.
const AFTERMATH_NS: u64 = 2000 * SECOND;
/// Steps that a trial may take for each segment that it sends: what spins takes more.
const STEPS_PER_SEGMENT: u64 = 40;
/// Segments that a trial may send for each byte that it has to carry, beside some for each second:
/// answers to answers are more.
const SEGMENTS_PER_BYTE: f64 = 0.1;
const SEGMENTS_PER_SECOND: u64 = 20;

/// How trials ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    complete: u32,
    failed: u32,
    hung: u32,
    changed: u32,
    fallbacks: u32,
    bytes: u64,
    steps: u64,
    ended_ns: u64,
}

impl Told {
    pub(crate) fn add(&mut self, other: Self) {
        self.complete += other.complete;
        self.failed += other.failed;
        self.hung += other.hung;
        self.changed += other.changed;
        self.fallbacks += other.fallbacks;
        self.bytes += other.bytes;
        self.steps += other.steps;
        self.ended_ns += other.ended_ns;
    }
}

/// Runs a seed.
pub(crate) fn run(seed: u64) -> Told {
    let mut dice = Dice::new(seed);
    let drawn = draw(&mut dice);
    let mut trial = Trial::new(&drawn, &mut dice);
    let result = catch_unwind(AssertUnwindSafe(|| {
        trial.converse(&drawn, &mut dice);
        trial.judge(&drawn);
        trial.clear_up();
    }));
    // Captures, where asked for, are of use above all after a failure.
    trial.world.finish().expect("captures can be written");
    match result {
        Ok(()) => trial.told,
        Err(panic) => resume_unwind(panic),
    }
}

struct Trial {
    world: World,
    parties: [Party; 2],
    told: Told,
}

impl Trial {
    fn new(drawn: &Draw, dice: &mut Dice) -> Self {
        let mut world = World::new(&drawn.lab.plan).expect("the plan can be simulated");
        let [up, down] = [0, 1].map(|_| {
            let length = match dice.chance(20) {
                true => 0,
                false => dice.magnitude(2_000_000),
            };
            Content::new(dice, length)
        });
        let options = |name: &str| SocketOptions {
            protocol: match drawn.protocol {
                Protocol::Tcp => mptcplab_stack::Protocol::Tcp,
                Protocol::Mptcp => mptcplab_stack::Protocol::Mptcp,
            },
            congestion_control: CongestionAlgorithm::from_name(name).expect("a known name"),
            // An end that only receives would never learn that the other end has given up.
            keepalive: Some(Keepalive {
                idle_ns: 60 * SECOND,
                interval_ns: 10 * SECOND,
                probes: 6,
            }),
            ..SocketOptions::default()
        };
        let [client, server] = drawn.congestion_controls;
        world.with_stack(1, |stack, _| stack.listen(PORT, options(server)));
        let mut parties = [
            Party::new(0, up.clone(), down.clone()),
            Party::new(1, down, up),
        ];
        let path = dice.range(0, drawn.lab.plan.links.len() as u64) as usize;
        let [local, remote] = [0, 1].map(|end| drawn.lab.address(path, end));
        parties[0].id = world.with_stack(0, |stack, now| {
            stack.connect(now, local, (remote, PORT).into(), options(client))
        });
        Self {
            world,
            parties,
            told: Told::default(),
        }
    }

    /// Until both ends are over.
    fn converse(&mut self, drawn: &Draw, dice: &mut Dice) {
        while !self.is_over() {
            let resting = self.parties.iter().map(|one| one.resting_until);
            let awake = resting.filter(|&until| until > self.world.now()).min();
            let next = self.world.next_deadline();
            match (next, awake) {
                (Some(next), Some(awake)) if awake < next => self.world.run_until(awake),
                _ => assert!(self.world.step(), "nothing will ever happen"),
            }
            if self.world.now() >= LIMIT_NS {
                assert!(drawn.may_hang, "it does not end: {:?}", self.parties);
                self.told.hung = 1;
                break;
            }
            self.attend(dice);
            self.assert_calm();
        }
        self.told.ended_ns = self.world.now();
        // A party that rests has still to read the data that came before the end.
        for party in &mut self.parties {
            party.resting_until = 0;
            party.go(&mut self.world, dice);
        }
    }

    /// Both have what they want, or have lost the connection.
    fn is_over(&self) -> bool {
        // A party that never gets a connection has none to lose.
        let has_lost = |one: &Party| one.closed.is_some() || one.id.is_none();
        let [client, _] = &self.parties;
        self.parties.iter().all(Party::is_content)
            || (client.closed.is_some() && self.parties.iter().all(has_lost))
    }

    /// Lets the parties hear what happened and go on.
    fn attend(&mut self, dice: &mut Dice) {
        for node in 0..2 {
            let events = self.world.take_events(node);
            let woke = self.parties[node].resting_until == self.world.now();
            for event in &events {
                if let Event::Accepted { id, .. } = *event {
                    self.parties[node].id.get_or_insert(id);
                }
                self.told.fallbacks += u32::from(matches!(event, Event::Fallback { .. }));
                self.parties[node].take(event);
            }
            if !events.is_empty() || woke {
                self.parties[node].go(&mut self.world, dice);
            }
        }
    }

    /// A handshake may have ended after its client had given up: the server lets go of what it
    /// accepted then.
    fn refuse_the_late(&mut self) {
        for event in self.world.take_events(1) {
            if let Event::Accepted { id, .. } = event {
                assert_eq!(self.parties[1].id, None, "there was one connection");
                self.world
                    .with_stack(1, |stack, now| stack.release(now, id));
            }
        }
        self.world.run_until(self.world.now() + AFTERMATH_NS);
    }

    fn assert_calm(&self) {
        let counts = self.world.counts();
        assert!(
            counts.steps < 10_000 + STEPS_PER_SEGMENT * counts.segments,
            "it spins: {counts:?}"
        );
        let bytes = self.parties.iter().map(Party::bytes).sum::<u64>() as f64;
        let seconds = self.world.now() / SECOND;
        assert!(
            counts.segments
                < 20_000 + SEGMENTS_PER_SECOND * seconds + (SEGMENTS_PER_BYTE * bytes) as u64,
            "it talks without end: {counts:?}"
        );
    }

    fn judge(&mut self, drawn: &Draw) {
        self.told.steps = self.world.counts().steps;
        if self.told.hung > 0 {
            return;
        }
        let is_complete = self.parties.iter().all(Party::is_complete);
        self.told.bytes = self.parties.iter().map(|one| one.received).sum();
        self.told.complete = u32::from(is_complete);
        self.told.failed = u32::from(!is_complete);
        self.told.changed = u32::from(drawn.is_changed);
        for (one, other) in [(0, 1), (1, 0)] {
            let [one, other] = [&self.parties[one], &self.parties[other]];
            assert!(
                !one.is_wrong || drawn.is_changed,
                "a byte is not the one that was sent: {one:?}"
            );
            if one.is_complete() || one.id.is_none() {
                continue;
            }
            let failed = |reason: Option<CloseReason>| {
                reason.is_some_and(|reason| reason != CloseReason::Finished)
            };
            assert!(failed(one.closed), "no error for lost bytes: {one:?}");
            assert!(
                failed(other.closed) || other.id.is_none() || drawn.is_proxied,
                "the other end lost bytes and this one saw no error: {other:?}"
            );
        }
    }

    /// Both ends let go: after a while nothing is left of the connection.
    fn clear_up(&mut self) {
        for party in &self.parties {
            if let Some(id) = party.id {
                self.world
                    .with_stack(party.node, |stack, now| stack.release(now, id));
            }
        }
        self.world.run_until(self.world.now() + AFTERMATH_NS);
        self.refuse_the_late();
        for node in 0..2 {
            let stack = self.world.stack(node).expect("a host");
            let left: Vec<_> = stack
                .connections()
                .map(|id| (stack.info(id), stack.subflows(id)))
                .collect();
            assert!(left.is_empty(), "connections are left: {left:?}");
            assert_eq!(stack.next_deadline(), None, "a timer is left");
        }
        self.assert_calm();
    }
}
