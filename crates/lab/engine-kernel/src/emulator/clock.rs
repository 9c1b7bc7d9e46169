//! The run's clock and the clock of the kernel's stamps.

use std::io;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mptcplab_link::Nanos;

/// The run's clock beside the one of the kernel's stamps.
pub(super) struct Clock {
    zero: Instant,
    /// The run's zero on CLOCK_REALTIME, nanoseconds since the Unix epoch.
    realtime_zero_ns: u64,
}

impl Clock {
    /// Compares the two clocks now. Of a few tries the one counts during which least time passed:
    /// the thread may be held up between the two readings.
    pub(super) fn compare(zero: Instant) -> io::Result<Self> {
        const TRIES: usize = 5;
        const GOOD_NS: Nanos = 2_000;
        let mut best = (Nanos::MAX, 0);
        for _ in 0..TRIES {
            let before = zero.elapsed().as_nanos() as Nanos;
            let realtime = SystemTime::now().duration_since(UNIX_EPOCH);
            let realtime_ns = realtime.map_err(io::Error::other)?.as_nanos() as u64;
            let passed = zero.elapsed().as_nanos() as Nanos - before;
            if passed < best.0 {
                best = (passed, realtime_ns.saturating_sub(before + passed / 2));
            }
            if passed <= GOOD_NS {
                break;
            }
        }
        Ok(Self {
            zero,
            realtime_zero_ns: best.1,
        })
    }

    pub(super) fn now(&self) -> Nanos {
        self.zero.elapsed().as_nanos() as Nanos
    }

    /// A stamp of the kernel on the run's clock, never later than now.
    pub(super) fn since_zero(&self, realtime_ns: u64) -> Nanos {
        realtime_ns
            .saturating_sub(self.realtime_zero_ns)
            .min(self.now())
    }
}
