//! When data is sent again, or a closed window or DATA_FIN asked for, as nothing was acknowledged
//! at the level of data.
//!
//! Source: `mptcp_reset_rtx_timer`, `__mptcp_set_timeout`, `mptcp_set_datafin_timeout` in Linux
//! 6.18, net/mptcp/protocol.c.

use crate::Nanos;

/// Interval where no subflow has a timer that runs (`TCP_RTO_MIN`).
const MIN_INTERVAL_NS: Nanos = 200_000_000;

/// Intervals are whole ticks, as the timers of Linux have them: at 250 Hz (`CONFIG_HZ`). One that
/// is a fraction of that would count off the timeouts of a subflow before any answer could come.
const TICK_NS: Nanos = 4_000_000;

/// Doublings of the least interval at most: more would go beyond the longest timeout of TCP, 120 s.
const MAX_DOUBLINGS: u32 = 9;

/// Without progress for so long the connection is given up: for as long as TCP tries
/// (`tcp_retries2`: 15).
const TIMEOUT_NS: Nanos = 924_600_000_000;

/// The retransmission timer of data.
#[derive(Clone, Debug)]
pub(super) struct RetransmissionTimer {
    running: Option<Running>,
    /// The time that it is started with.
    interval: Nanos,
    /// How often a DATA_FIN was signalled again (`icsk_retransmits` of the connection).
    retransmits: u32,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    deadline: Nanos,
    /// When it was started, or something was acknowledged.
    since: Nanos,
    /// How often it fired for a DATA_FIN or a closed window without progress.
    backoff: u32,
}

impl Default for RetransmissionTimer {
    fn default() -> Self {
        Self {
            running: None,
            interval: MIN_INTERVAL_NS,
            retransmits: 0,
        }
    }
}

impl RetransmissionTimer {
    /// How often a DATA_FIN was signalled again.
    pub(super) fn retransmits(&self) -> u32 {
        self.retransmits
    }

    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.running.map(|running| running.deadline)
    }

    /// Sets what it is started with from now on, rounded up to ticks; none where no subflow has a
    /// timer that runs.
    pub(super) fn set_interval(&mut self, interval: Option<Nanos>) {
        let set = interval.filter(|interval| *interval > 0);
        let ticks = set.map(|interval| interval.next_multiple_of(TICK_NS));
        self.interval = ticks.unwrap_or(MIN_INTERVAL_NS);
    }

    pub(super) fn start(&mut self, now: Nanos) {
        self.running = Some(Running {
            deadline: now + self.interval,
            since: now,
            backoff: 0,
        });
    }

    pub(super) fn stop(&mut self) {
        self.running = None;
    }

    /// Starts it again, as it has fired.
    pub(super) fn repeat(&mut self, now: Nanos) {
        let interval = self.interval;
        if let Some(running) = &mut self.running {
            running.deadline = now + interval;
        }
    }

    /// Counts a DATA_FIN that is signalled again, and lets it fire later each time. As in Linux the
    /// first one counts already, so that the first pause is twice the least.
    pub(super) fn repeat_fin(&mut self, now: Nanos) {
        self.retransmits += 1;
        if let Some(running) = &mut self.running {
            running.backoff = running.backoff.max(1);
        }
        self.back_off(now);
    }

    /// Lets it fire later, twice as long each time: what waits is not data.
    pub(super) fn back_off(&mut self, now: Nanos) {
        if let Some(running) = &mut self.running {
            let interval = MIN_INTERVAL_NS << running.backoff.min(MAX_DOUBLINGS);
            running.deadline = now + interval;
            running.backoff += 1;
        }
    }

    /// The peer has acknowledged nothing at the level of data for so long that it never will.
    pub(super) fn has_timed_out(&self, now: Nanos) -> bool {
        self.has_timed_out_since(now, 0)
    }

    /// The same of a closed window, where the peer was heard at a time.
    pub(super) fn has_timed_out_since(&self, now: Nanos, heard_at: Nanos) -> bool {
        self.running
            .is_some_and(|running| now - running.since.max(heard_at) >= TIMEOUT_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fires_at_its_interval_until_there_is_progress() {
        let mut timer = RetransmissionTimer::default();
        timer.set_interval(Some(TICK_NS));
        timer.start(0);
        assert_eq!(timer.deadline(), Some(TICK_NS));
        timer.repeat(TICK_NS);
        timer.repeat(2 * TICK_NS);
        assert_eq!(timer.deadline(), Some(3 * TICK_NS));
        timer.set_interval(Some(TICK_NS + 1));
        assert_eq!(timer.deadline(), Some(3 * TICK_NS));
        timer.start(4 * TICK_NS);
        assert_eq!(timer.deadline(), Some(6 * TICK_NS));
        timer.stop();
        assert_eq!(timer.deadline(), None);
    }

    #[test]
    fn however_little_a_subflow_s_timer_has_to_go_a_tick_passes() {
        let mut timer = RetransmissionTimer::default();
        timer.set_interval(Some(1));
        timer.start(0);
        assert_eq!(timer.deadline(), Some(TICK_NS));
    }

    #[test]
    fn without_a_timer_of_a_subflow_the_interval_is_200_ms() {
        let mut timer = RetransmissionTimer::default();
        for none in [None, Some(0)] {
            timer.set_interval(none);
            timer.start(0);
            assert_eq!(timer.deadline(), Some(200_000_000));
        }
    }

    #[test]
    fn for_what_is_not_data_it_doubles_until_it_is_given_up() {
        let mut timer = RetransmissionTimer::default();
        timer.start(0);
        for interval_ms in [200, 400, 800] {
            timer.back_off(0);
            assert_eq!(timer.deadline(), Some(interval_ms * 1_000_000));
        }
        assert!(!timer.has_timed_out(TIMEOUT_NS - 1));
        assert!(timer.has_timed_out(TIMEOUT_NS));
    }
}
