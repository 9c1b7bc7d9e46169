//! Subflows that are being opened.

use std::time::{Duration, Instant};

use mptcplab_linux::event::Event;
use mptcplab_subflow::Error;
use mptcplab_subflow::path_manager::{Open, Opening};

use crate::backend::PathManagerBackend;
use crate::limits::LONGEST_WAIT;

/// Pause before the next try while the peer has not confirmed the connection's handshake.
const RETRY: Duration = Duration::from_millis(2);

/// The request that a result answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requester {
    /// Number of the session.
    pub(super) session: u64,
    /// Id of the request.
    pub(super) request: u64,
    /// Token of the connection.
    pub(super) token: u32,
}

/// Result of opening a subflow: its id.
pub(super) type OpeningResult = (Requester, Result<u32, Error>);

/// Subflows that are being opened.
pub(super) struct PendingSubflows<S>(Vec<PendingSubflow<S>>);

struct PendingSubflow<S> {
    requester: Requester,
    socket: S,
    open: Open,
    /// Index of the interface that it is bound to, or 0.
    interface: u32,
    stage: Stage,
    deadline: Instant,
}

enum Stage {
    /// The connection is not established yet; the next try is then.
    Early(Instant),
    /// The SYN was sent.
    Sent(Opening),
}

impl<S> PendingSubflows<S> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Opens a subflow over the interface with this index.
    pub(super) fn begin(
        &mut self,
        backend: &mut impl PathManagerBackend<Socket = S>,
        requester: Requester,
        socket: S,
        (open, interface): (Open, u32),
        now: Instant,
    ) -> Result<(), Error> {
        let stage = try_open(backend, &socket, (&open, interface), now)?;
        self.0.push(PendingSubflow {
            requester,
            socket,
            deadline: now + open.timeout.min(LONGEST_WAIT),
            open,
            interface,
            stage,
        });
        Ok(())
    }

    /// Gives the results that an event tells.
    pub(super) fn on_event(&mut self, event: &Event) -> Vec<OpeningResult> {
        self.take_decided(|pending| match &pending.stage {
            Stage::Early(_) => None,
            Stage::Sent(opening) => opening.decide(event),
        })
    }

    /// Gives the results that the sockets themselves tell.
    pub(super) fn ask_sockets(
        &mut self,
        backend: &impl PathManagerBackend<Socket = S>,
    ) -> Vec<OpeningResult> {
        self.take_decided(|pending| match &pending.stage {
            Stage::Early(_) => None,
            Stage::Sent(opening) => backend.result(opening, &pending.socket),
        })
    }

    /// Tries again where that is due, and gives up what is late.
    pub(super) fn on_deadline(
        &mut self,
        backend: &mut impl PathManagerBackend<Socket = S>,
        now: Instant,
    ) -> Vec<OpeningResult> {
        self.take_decided(|pending| match &pending.stage {
            Stage::Sent(opening) if pending.deadline <= now => {
                backend.abandon(opening);
                let timeout_ms = pending.open.timeout.min(LONGEST_WAIT).as_millis() as u64;
                Some(Err(Error::TimedOut { timeout_ms }))
            }
            Stage::Early(_) if pending.deadline <= now => Some(Err(Error::NotEstablished)),
            Stage::Early(retry) if *retry <= now => {
                let open = (&pending.open, pending.interface);
                let tried = try_open(backend, &pending.socket, open, now);
                tried.map(|stage| pending.stage = stage).err().map(Err)
            }
            _ => None,
        })
    }

    /// Gives up the subflows of a session that has ended.
    pub(super) fn give_up(
        &mut self,
        backend: &mut impl PathManagerBackend<Socket = S>,
        session: u64,
    ) -> Vec<Requester> {
        let given_up = self.take_decided(|pending| {
            if pending.requester.session != session {
                return None;
            }
            if let Stage::Sent(opening) = &pending.stage {
                backend.abandon(opening);
            }
            Some(())
        });
        let requesters = given_up.into_iter().map(|(requester, ())| requester);
        requesters.collect()
    }

    /// When [`Self::on_deadline`] is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let next = |pending: &PendingSubflow<S>| match pending.stage {
            Stage::Early(retry) => retry.min(pending.deadline),
            Stage::Sent(_) => pending.deadline,
        };
        self.0.iter().map(next).min()
    }

    /// Removes those for which `decide` gives a result.
    fn take_decided<T>(
        &mut self,
        mut decide: impl FnMut(&mut PendingSubflow<S>) -> Option<T>,
    ) -> Vec<(Requester, T)> {
        let mut decided = Vec::new();
        self.0.retain_mut(|pending| match decide(pending) {
            None => true,
            Some(result) => {
                decided.push((pending.requester, result));
                false
            }
        });
        decided
    }
}

fn try_open<S>(
    backend: &mut impl PathManagerBackend<Socket = S>,
    socket: &S,
    (open, interface): (&Open, u32),
    now: Instant,
) -> Result<Stage, Error> {
    match backend.open(socket, open, interface) {
        Ok(opening) => Ok(Stage::Sent(opening)),
        Err(Error::NotEstablished) => Ok(Stage::Early(now + RETRY)),
        Err(error) => Err(error),
    }
}
