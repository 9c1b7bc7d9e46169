//! The round trip as a receiver sees it.

use crate::Nanos;

/// The estimate by which a receiver tunes its buffer: from the timestamps that the peer echoes, and
/// from the time that a whole window takes to come. The handshake tells it nothing.
///
/// Source: `tcp_rcv_rtt_measure_ts`, `tcp_rcv_rtt_measure` and `tcp_rcv_rtt_update` in Linux 6.18,
/// net/ipv4/tcp_input.c.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceiveRtt {
    rtt_ns: Nanos,
    /// The timestamp that was echoed last.
    echo: Option<u32>,
    /// A time, and the end of the window that was offered then.
    window: Option<(Nanos, u64)>,
}

impl ReceiveRtt {
    /// The round trip; 0 before the first sample.
    pub(crate) fn get_ns(&self) -> Nanos {
        self.rtt_ns
    }

    /// A segment has come that echoes a timestamp. Only the first one that echoes it gives a
    /// sample, `elapsed_ns`, which is 0 where it gives none: it is short, and may have waited at
    /// the peer, or the clock shows no difference. `all_read` says whether the application left
    /// nothing: otherwise only a shorter sample counts.
    pub(crate) fn on_echo(&mut self, echo: u32, elapsed_ns: Nanos, all_read: bool) {
        if self.echo.replace(echo) == Some(echo) || elapsed_ns == 0 {
            return;
        }
        if self.rtt_ns == 0 || elapsed_ns < self.rtt_ns {
            self.rtt_ns = elapsed_ns;
        } else if all_read {
            self.rtt_ns = self.rtt_ns - self.rtt_ns / 8 + elapsed_ns / 8;
        }
    }

    /// Data has come in order, up to `end`; so much was offered last. A window takes a round trip
    /// at least: its time counts where no sample was shorter.
    pub(crate) fn on_data(&mut self, now: Nanos, end: u64, window_bytes: u64) {
        match self.window {
            Some((_, window_end)) if end < window_end => return,
            Some((begin, _)) => {
                let taken_ns = (now - begin).max(1000);
                if self.rtt_ns == 0 || taken_ns < self.rtt_ns {
                    self.rtt_ns = taken_ns;
                }
            }
            None => {}
        }
        self.window = Some((now, end + window_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_round_trip_counts_at_once_and_a_longer_one_an_eighth() {
        let mut rtt = ReceiveRtt::default();
        for (echo, elapsed_ns, expected) in [(1, 80, 80), (2, 160, 90), (3, 40, 40), (3, 8, 40)] {
            rtt.on_echo(echo, elapsed_ns, true);
            assert_eq!(rtt.get_ns(), expected);
        }
    }

    #[test]
    fn a_segment_without_a_sample_tells_nothing_and_those_that_follow_with_its_echo_neither() {
        let mut rtt = ReceiveRtt::default();
        rtt.on_echo(1, 0, true);
        rtt.on_echo(1, 1_000_000, true);
        assert_eq!(rtt.get_ns(), 0);
        rtt.on_echo(2, 3_000_000, true);
        assert_eq!(rtt.get_ns(), 3_000_000);
    }

    #[test]
    fn while_data_is_unread_only_a_shorter_sample_counts() {
        let mut rtt = ReceiveRtt::default();
        for (echo, elapsed_ns, expected) in [(1, 80, 80), (2, 160, 80), (3, 40, 40)] {
            rtt.on_echo(echo, elapsed_ns, false);
            assert_eq!(rtt.get_ns(), expected);
        }
    }

    #[test]
    fn a_window_takes_a_round_trip_at_least() {
        let mut rtt = ReceiveRtt::default();
        rtt.on_data(0, 1001, 64_000);
        rtt.on_data(40_000, 64_001, 64_000);
        assert_eq!(rtt.get_ns(), 0);
        rtt.on_data(50_000, 65_001, 64_000);
        assert_eq!(rtt.get_ns(), 50_000);
        rtt.on_data(150_000, 129_001, 71_000);
        assert_eq!(rtt.get_ns(), 50_000);
        rtt.on_data(180_000, 200_001, 100_000);
        assert_eq!(rtt.get_ns(), 30_000);
    }
}
