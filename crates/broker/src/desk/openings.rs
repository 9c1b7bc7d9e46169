//! Subflows that clients wait for.

use std::time::{Duration, Instant};

use mptcplab_kernel::event::Event;
use mptcplab_subflow::Error;
use mptcplab_subflow::orders::{Open, Opening};

use super::reply::hung_up;
use crate::hand::Hand;
use crate::limits::LONGEST_WAIT;

/// How soon to try again while the peer has not confirmed the connection's handshake.
const AGAIN: Duration = Duration::from_millis(2);

/// Who waits for a subflow, and of which connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) session: u64,
    pub(super) request: u64,
    pub(super) token: u32,
}

/// What became of a subflow.
pub(super) type Decided = (Waiting, Result<u32, Error>);

/// Subflows that clients wait for.
pub(super) struct Openings<S>(Vec<Pending<S>>);

struct Pending<S> {
    waiting: Waiting,
    socket: S,
    order: Open,
    /// Index of the interface that it is bound to, or 0.
    interface: u32,
    stage: Stage,
    deadline: Instant,
}

enum Stage {
    /// The connection is too young; it is tried again then.
    Early(Instant),
    Sent(Opening),
}

impl<S> Openings<S> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Opens a subflow for somebody who waits for it, over the interface with this index.
    pub(super) fn begin(
        &mut self,
        hand: &mut impl Hand<Socket = S>,
        waiting: Waiting,
        socket: S,
        (order, interface): (Open, u32),
        now: Instant,
    ) -> Result<(), Error> {
        let stage = open(hand, &socket, (&order, interface), now)?;
        self.0.push(Pending {
            waiting,
            socket,
            deadline: now + order.timeout.min(LONGEST_WAIT),
            order,
            interface,
            stage,
        });
        Ok(())
    }

    /// What an event decides.
    pub(super) fn happened(&mut self, event: &Event) -> Vec<Decided> {
        self.decide(|pending| match &pending.stage {
            Stage::Early(_) => None,
            Stage::Sent(opening) => opening.decide(event),
        })
    }

    /// What the sockets themselves decide.
    pub(super) fn look(&mut self, hand: &impl Hand<Socket = S>) -> Vec<Decided> {
        self.decide(|pending| match &pending.stage {
            Stage::Early(_) => None,
            Stage::Sent(opening) => hand.look(opening, &pending.socket),
        })
    }

    /// What time decides.
    pub(super) fn pass_time(
        &mut self,
        hand: &mut impl Hand<Socket = S>,
        now: Instant,
    ) -> Vec<Decided> {
        self.decide(|pending| match &pending.stage {
            Stage::Sent(opening) if pending.deadline <= now => {
                hand.abandon(opening);
                let timeout_ms = pending.order.timeout.min(LONGEST_WAIT).as_millis() as u64;
                Some(Err(Error::TimedOut { timeout_ms }))
            }
            Stage::Early(_) if pending.deadline <= now => Some(Err(Error::NotEstablished)),
            Stage::Early(again) if *again <= now => {
                let order = (&pending.order, pending.interface);
                let opened = open(hand, &pending.socket, order, now);
                opened.map(|stage| pending.stage = stage).err().map(Err)
            }
            _ => None,
        })
    }

    /// Gives up what a client waited for who has hung up.
    pub(super) fn leave(&mut self, hand: &mut impl Hand<Socket = S>, session: u64) -> Vec<Decided> {
        self.decide(|pending| {
            if pending.waiting.session != session {
                return None;
            }
            if let Stage::Sent(opening) = &pending.stage {
                hand.abandon(opening);
            }
            Some(Err(hung_up()))
        })
    }

    /// When time may decide something.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let next = |pending: &Pending<S>| match pending.stage {
            Stage::Early(again) => again.min(pending.deadline),
            Stage::Sent(_) => pending.deadline,
        };
        self.0.iter().map(next).min()
    }

    fn decide(
        &mut self,
        mut how: impl FnMut(&mut Pending<S>) -> Option<Result<u32, Error>>,
    ) -> Vec<Decided> {
        let mut decided = Vec::new();
        self.0.retain_mut(|pending| match how(pending) {
            None => true,
            Some(result) => {
                decided.push((pending.waiting, result));
                false
            }
        });
        decided
    }
}

fn open<S>(
    hand: &mut impl Hand<Socket = S>,
    socket: &S,
    (order, interface): (&Open, u32),
    now: Instant,
) -> Result<Stage, Error> {
    match hand.open(socket, order, interface) {
        Ok(opening) => Ok(Stage::Sent(opening)),
        Err(Error::NotEstablished) => Ok(Stage::Early(now + AGAIN)),
        Err(error) => Err(error),
    }
}
