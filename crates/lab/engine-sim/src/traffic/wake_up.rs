//! The time that programs take to wake up.

use mptcplab_plan::Protocol;
use mptcplab_traffic::splitmix64;

use crate::Nanos;
use crate::response_times::{ANSWERED, NEXT_CALL, Times, drawn, of_accepting, of_program};

/// Whether the reader of a long transfer sleeps between what comes. That of TCP does, and where the
/// window has its full size it acknowledges what it has read: at high rates several segments at once.
/// That of MPTCP counts as awake: what its subflows bring is taken into the connection, and
/// acknowledged, without it.
pub(super) fn is_sleeping_reader(protocol: Protocol) -> bool {
    protocol == Protocol::Tcp
}

/// Draws the times of one conversation: none is like the one before, on Linux neither, and where
/// two paths race that decides.
#[derive(Clone, Debug)]
pub(super) struct WakeUps {
    seed: u64,
    drawn: u64,
}

impl WakeUps {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// When a program runs that sleeps, and for which something has come now.
    pub(super) fn next(&mut self, now: Nanos, protocol: Protocol, has_run: bool) -> Nanos {
        now + self.draw(of_program(protocol, has_run))
    }

    /// When a program sends that has accepted a connection now, and is the first to send.
    pub(super) fn accepting(&mut self, now: Nanos, protocol: Protocol) -> Nanos {
        now + self.draw(of_accepting(protocol))
    }

    /// When a program that runs makes its next call.
    pub(super) fn next_call(&mut self, now: Nanos) -> Nanos {
        now + self.draw(&NEXT_CALL)
    }

    /// Until when a program keeps its processor that has answered now.
    pub(super) fn answered(&mut self, now: Nanos) -> Nanos {
        now + self.draw(&ANSWERED)
    }

    fn draw(&mut self, times: &Times) -> Nanos {
        self.drawn += 1;
        drawn(times, splitmix64(self.seed, self.drawn))
    }
}
