//! The time of the links, and the clock of the kernel's stamps.

use std::io;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mptcplab_link::Nanos;

use crate::run_clock::RunClock;

/// The time of the links: since a moment of the run's clock.
#[derive(Clone)]
pub struct LinkTime {
    pub(super) clock: RunClock,
    /// A moment of the clock.
    zero: Nanos,
    /// The latest time at which it stood: frames that come later are not before it.
    pub(super) stood: Nanos,
}

impl LinkTime {
    /// That since this moment of the clock.
    pub fn since(zero: Instant, clock: &RunClock) -> Self {
        Self {
            clock: clock.clone(),
            zero: clock.moment_of(zero),
            stood: 0,
        }
    }

    /// Whether the links stand still.
    pub(super) fn stands(&self) -> bool {
        self.clock.stands()
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.moment().saturating_sub(self.zero)
    }

    /// Begins anew at a later moment of the clock; gives how much later.
    pub(super) fn begin(&mut self, zero: Instant) -> Nanos {
        let zero = self.clock.moment_of(zero);
        zero.saturating_sub(std::mem::replace(&mut self.zero, zero))
    }

    /// Moves the clock, which stands, to a time.
    pub(super) fn advance_to(&mut self, at: Nanos) {
        self.clock.advance_to(self.zero.saturating_add(at));
        self.stood = self.now();
    }
}

/// The links' time beside the clock of the kernel's stamps.
pub(super) struct Clock<'a> {
    time: &'a LinkTime,
    /// The zero of the links' time on CLOCK_REALTIME, nanoseconds since the Unix epoch.
    realtime_zero_ns: u64,
}

impl<'a> Clock<'a> {
    /// Compares the two clocks now. Of a few tries the one counts during which least time passed:
    /// the thread may be held up between the two readings.
    pub(super) fn compare(time: &'a LinkTime) -> io::Result<Self> {
        const TRIES: usize = 5;
        const GOOD_NS: Nanos = 2_000;
        let mut best = (Nanos::MAX, 0);
        for _ in 0..TRIES {
            let before = time.now();
            let realtime = SystemTime::now().duration_since(UNIX_EPOCH);
            let realtime_ns = realtime.map_err(io::Error::other)?.as_nanos() as u64;
            let passed = time.now() - before;
            if passed < best.0 {
                best = (passed, realtime_ns.saturating_sub(before + passed / 2));
            }
            if passed <= GOOD_NS {
                break;
            }
        }
        Ok(Self {
            time,
            realtime_zero_ns: best.1,
        })
    }

    pub(super) fn now(&self) -> Nanos {
        self.time.now()
    }

    /// A stamp of the kernel in the links' time: never later than now, and not before the links stood
    /// still, as a stamp of then is later by the time for which they did.
    pub(super) fn since_zero(&self, realtime_ns: u64) -> Nanos {
        realtime_ns
            .saturating_sub(self.realtime_zero_ns)
            .max(self.time.stood)
            .min(self.now())
    }
}
