//! The timestamps option (RFC 7323): round trips of retransmitted data, and protection against
//! old segments (PAWS).

use mptcplab_wire::Timestamps;
use strength_reduce::StrengthReducedU64;

use crate::Nanos;

/// A timestamp is worth this long at least, as in Linux.
const TICK_NS: Nanos = 1_000_000;

/// TS.Recent is no longer believed after 24 days (RFC 7323, section 5.5).
const RECENT_FOR_NS: Nanos = 24 * 24 * 3600 * 1_000_000_000;

/// State of the option on a connection that uses it.
#[derive(Clone, Debug)]
pub(crate) struct TimestampState {
    /// TS.Recent.
    recent: u32,
    recent_at: Nanos,
    /// Prepared to divide by.
    tick_ns: StrengthReducedU64,
    /// TSval at time zero, so that connections differ.
    origin: u32,
}

impl TimestampState {
    pub(crate) fn new(granularity_ns: Nanos, origin: u32) -> Self {
        Self {
            recent: 0,
            recent_at: 0,
            tick_ns: StrengthReducedU64::new(granularity_ns.max(TICK_NS)),
            origin,
        }
    }

    /// TSval for a segment sent now.
    pub(crate) fn value(&self, now: Nanos) -> u32 {
        ((now / self.tick_ns) as u32).wrapping_add(self.origin)
    }

    /// The option for a segment sent now.
    pub(crate) fn option(&self, now: Nanos) -> Timestamps {
        Timestamps {
            value: self.value(now),
            echo: self.recent,
        }
    }

    /// Takes TSval of a segment that is next in order as TS.Recent (section 4.3).
    pub(crate) fn set_recent(&mut self, now: Nanos, value: u32) {
        self.recent = value;
        self.recent_at = now;
    }

    /// Whether TSval is older than TS.Recent, which is young enough to be believed.
    pub(crate) fn is_old(&self, now: Nanos, value: u32) -> bool {
        is_before(value, self.recent) && now.saturating_sub(self.recent_at) < RECENT_FOR_NS
    }

    /// Whether TSval is newer than TS.Recent.
    pub(crate) fn is_newer(&self, value: u32) -> bool {
        is_before(self.recent, value)
    }

    /// The time from which on segments have a later timestamp than TSecr.
    pub(crate) fn echo_end(&self, now: Nanos, echo: u32) -> Nanos {
        let ticks = u64::from(self.value(now).wrapping_sub(echo));
        match (now / self.tick_ns).checked_sub(ticks) {
            Some(tick) => (tick + 1) * self.tick_ns.get(),
            None => Nanos::MAX,
        }
    }

    /// Time since TSecr was sent, in whole ticks. None where it was not sent within the last
    /// minutes.
    pub(crate) fn elapsed_ns(&self, now: Nanos, echo: u32) -> Option<Nanos> {
        let ticks = self.value(now).wrapping_sub(echo);
        (ticks < 1 << 20).then(|| u64::from(ticks) * self.tick_ns.get())
    }

    /// The shortest time that can be told from none.
    pub(crate) fn tick_ns(&self) -> Nanos {
        self.tick_ns.get()
    }
}

/// Whether `a` is before `b` in the order of RFC 7323, section 5.2.
pub(crate) fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_a_millisecond_or_the_clock_s() {
        let fine = TimestampState::new(1, 5);
        assert_eq!(fine.value(3_999_999), 8);
        let coarse = TimestampState::new(10_000_000, 5);
        assert_eq!(coarse.value(39_999_999), 8);
    }

    #[test]
    fn an_older_value_is_old_for_24_days() {
        let mut state = TimestampState::new(1, 0);
        state.set_recent(0, 2);
        assert!(state.is_old(0, 1));
        assert!(state.is_old(0, u32::MAX));
        assert!(!state.is_old(0, 2));
        assert!(!state.is_old(RECENT_FOR_NS, 1));
    }

    #[test]
    fn an_echo_of_nothing_sent_lately_tells_no_time() {
        let state = TimestampState::new(1, 1000);
        assert_eq!(state.elapsed_ns(7_000_000, 1002), Some(5_000_000));
        assert_eq!(state.elapsed_ns(7_000_000, 1007), Some(0));
        assert_eq!(state.elapsed_ns(7_000_000, 1008), None);
        assert_eq!(state.echo_end(7_000_000, 1002), 3_000_000);
        assert_eq!(state.echo_end(7_000_000, 1008), Nanos::MAX);
    }
}
