//! The time that programs take to wake up.

use mptcplab_plan::Protocol;
use mptcplab_traffic::splitmix64;

use crate::Nanos;

/// Times in microseconds between the SYN/ACK and a client's request in captures of plain TCP on the
/// kernel engine of an idle machine with two processors, in order of length: each fifth of 200, from
/// the third on (`python -m benches wake-up`).
const MEASURED_US: [u16; 40] = [
    28, 33, 36, 38, 41, 43, 44, 45, 47, 50, 52, 53, 54, 57, 59, 60, 61, 63, 65, 65, 66, 68, 69, 71,
    73, 74, 78, 82, 83, 87, 91, 95, 97, 104, 112, 122, 135, 175, 214, 332,
];

/// Whether the reader of a long transfer sleeps between what comes. That of TCP does, and where the
/// window has its full size it acknowledges what it has read: at high rates several segments at once.
/// That of MPTCP counts as awake: what its subflows bring is taken into the connection, and
/// acknowledged, without it.
pub(super) fn is_sleeping_reader(protocol: Protocol) -> bool {
    protocol == Protocol::Tcp
}

/// Draws the times of one conversation: none is like the one before, on Linux neither, and where
/// two paths race that decides.
#[derive(Debug)]
pub(super) struct WakeUps {
    seed: u64,
    drawn: u64,
}

impl WakeUps {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// When a program runs that sleeps, and for which something has come now.
    pub(super) fn next(&mut self, now: Nanos) -> Nanos {
        self.drawn += 1;
        let index = splitmix64(self.seed, self.drawn) % MEASURED_US.len() as u64;
        now + 1000 * Nanos::from(MEASURED_US[index as usize])
    }
}
