//! One end of a connection: writes its bytes, reads the other's, and remembers how it ended.

use bytes::Bytes;
use mptcplab_engine_sim::World;
use mptcplab_stack::{CloseReason, ConnectionId, Event};

use crate::draw::Dice;

/// Length of the content, a prime; it repeats.
const PERIOD: usize = 8191;

/// The bytes of one direction.
#[derive(Clone)]
pub(crate) struct Content {
    /// Two periods.
    bytes: Bytes,
    pub(crate) length: u64,
}

impl Content {
    pub(crate) fn new(dice: &mut Dice, length: u64) -> Self {
        let period: Vec<u8> = (0..PERIOD).map(|_| dice.bits() as u8).collect();
        Self {
            bytes: [period.clone(), period].concat().into(),
            length,
        }
    }

    fn part(&self, from: u64, most: u64) -> Bytes {
        let start = (from % PERIOD as u64) as usize;
        let length = most.min(self.length - from).min(PERIOD as u64) as usize;
        self.bytes.slice(start..start + length)
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.length)
    }
}

/// One end.
#[derive(Debug)]
pub(crate) struct Party {
    pub(crate) node: usize,
    pub(crate) id: Option<ConnectionId>,
    sends: Content,
    receives: Content,
    sent: u64,
    pub(crate) received: u64,
    is_shut: bool,
    has_finished: bool,
    /// It reads nothing before this time, now and then.
    pub(crate) resting_until: u64,
    pub(crate) closed: Option<CloseReason>,
    /// A byte was not the one that was sent.
    pub(crate) is_wrong: bool,
    pub(crate) is_established: bool,
}

impl Party {
    pub(crate) fn new(node: usize, sends: Content, receives: Content) -> Self {
        Self {
            node,
            id: None,
            sends,
            receives,
            sent: 0,
            received: 0,
            is_shut: false,
            has_finished: false,
            resting_until: 0,
            closed: None,
            is_wrong: false,
            is_established: false,
        }
    }

    /// It has all bytes of the other end, and the end of them.
    pub(crate) fn is_complete(&self) -> bool {
        self.has_finished && self.received == self.receives.length
    }

    /// Bytes that it has to send.
    pub(crate) fn bytes(&self) -> u64 {
        self.sends.length
    }

    /// It has all bytes, and has given all of its own to the connection.
    pub(crate) fn is_content(&self) -> bool {
        self.is_complete() && self.is_shut
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match *event {
            Event::Connected { .. } | Event::Accepted { .. } => self.is_established = true,
            Event::Finished { .. } => self.has_finished = true,
            Event::Closed { reason, .. } => {
                assert_eq!(self.closed, None, "a connection closes once");
                self.closed = Some(reason);
            }
            _ => {}
        }
    }

    /// Reads and writes what goes.
    pub(crate) fn go(&mut self, world: &mut World, dice: &mut Dice) {
        let (Some(id), now) = (self.id, world.now()) else {
            return;
        };
        if now >= self.resting_until {
            self.read(world, id);
            if dice.chance(2) {
                self.resting_until = now + dice.magnitude(300_000_000);
            }
        }
        if self.is_established && self.closed.is_none() {
            self.write(world, id, dice);
        }
    }

    fn read(&mut self, world: &mut World, id: ConnectionId) {
        let read = |stack: &mut mptcplab_stack::HostStack, now| stack.read(now, id, 65_536);
        while let Some(bytes) = world.with_stack(self.node, read).flatten() {
            assert!(!bytes.is_empty(), "a read gives bytes or nothing");
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                assert!(
                    self.received < self.receives.length,
                    "more came than was sent"
                );
                let expected = self.receives.part(self.received, rest.len() as u64);
                self.is_wrong |= rest[..expected.len()] != expected;
                self.received += expected.len() as u64;
                rest = &rest[expected.len()..];
            }
        }
    }

    fn write(&mut self, world: &mut World, id: ConnectionId, dice: &mut Dice) {
        while self.sent < self.sends.length {
            let part = self.sends.part(self.sent, dice.magnitude(65_536));
            let offered = part.len();
            let taken = world
                .with_stack(self.node, |stack, now| stack.write(now, id, part))
                .expect("a host");
            assert!(taken <= offered);
            self.sent += taken as u64;
            if taken < offered {
                return;
            }
        }
        if !self.is_shut {
            self.is_shut = true;
            world.with_stack(self.node, |stack, now| stack.shutdown(now, id));
        }
    }
}
