//! Load of ports, from their counters.

use mptcplab_openflow::multipart::PortStats;

/// A counter that a switch does not keep.
const NOT_KEPT: u64 = u64::MAX;
/// The part of a time by which the time of a port may be off. Its inverse.
const PART_OFF: u64 = 10;

/// The load of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    last: Option<Reading>,
    /// Bytes that had come in by the last reading, and when that was heard of.
    received: (u64, u64),
    /// Bits a second that went out between the last two readings.
    pub(crate) sent_bps: u64,
    /// Bits a second that came in between the last two readings.
    pub(crate) received_bps: u64,
    /// When the last two readings were heard of, the earlier one first.
    pub(crate) read_ns: [u64; 2],
    /// Whether the port's time between the two is that in which they were heard of, and the bytes that
    /// came in are no fewer than before.
    pub(crate) is_sound: bool,
}

/// Counters of a port.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// The time of the port.
    port_ns: u64,
    sent: u64,
    received: u64,
}

impl Load {
    /// Takes the bytes that have come in; where they are more than before, gives the time of the reading
    /// before, after which something came.
    pub(crate) fn received_after(&mut self, now_ns: u64, statistics: &PortStats) -> Option<u64> {
        let bytes = statistics.rx_bytes;
        let (before, at_ns) = std::mem::replace(&mut self.received, (bytes, now_ns));
        (bytes != NOT_KEPT && bytes > before).then_some(at_ns)
    }

    /// Takes a reading. Where a counter went backwards the port is another one.
    pub(crate) fn read(&mut self, now_ns: u64, statistics: &PortStats) {
        let reading = Reading {
            port_ns: statistics.duration.as_nanos(),
            sent: statistics.tx_bytes,
            received: statistics.rx_bytes,
        };
        self.read_ns = [self.read_ns[1], now_ns];
        self.is_sound = false;
        if let Some(last) = self.last.replace(reading) {
            let elapsed_ns = reading.port_ns.saturating_sub(last.port_ns);
            self.is_sound = is_about(elapsed_ns, self.read_ns[1] - self.read_ns[0])
                && reading.received >= last.received
                && reading.received != NOT_KEPT;
            self.sent_bps = rate_bps(elapsed_ns, last.sent, reading.sent);
            self.received_bps = rate_bps(elapsed_ns, last.received, reading.received);
        }
    }
}

/// Whether a time is another one, as nearly as the ways of messages let it be.
fn is_about(one_ns: u64, other_ns: u64) -> bool {
    one_ns.abs_diff(other_ns) <= other_ns / PART_OFF
}

/// Bits a second between two readings of a counter; 0 where it says nothing.
fn rate_bps(elapsed_ns: u64, before: u64, bytes: u64) -> u64 {
    let more = bytes.checked_sub(before).filter(|_| bytes != NOT_KEPT);
    let bits = u128::from(more.unwrap_or(0)) * 8 * 1_000_000_000;
    let rate_bps = bits.checked_div(u128::from(elapsed_ns)).unwrap_or(0);
    u64::try_from(rate_bps).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use mptcplab_openflow::Elapsed;

    use super::*;

    #[test]
    fn load_is_what_went_between_two_readings() {
        let reading = |seconds, tx_bytes, rx_bytes| PortStats {
            tx_bytes,
            rx_bytes,
            duration: Elapsed {
                seconds,
                nanoseconds: 0,
            },
            ..PortStats::default()
        };
        let mut load = Load::default();
        load.read(5, &reading(1, 1_000, NOT_KEPT));
        assert_eq!((load.sent_bps, load.received_bps), (0, 0));
        load.read(7, &reading(3, 251_000, NOT_KEPT));
        assert_eq!((load.sent_bps, load.received_bps), (1_000_000, 0));
        assert_eq!(load.read_ns, [5, 7]);
        // The switch began anew.
        load.read(8, &reading(1, 10, 10));
        assert_eq!((load.sent_bps, load.received_bps), (0, 0));
        load.read(9, &reading(2, 10, 1_010));
        assert_eq!((load.sent_bps, load.received_bps), (0, 8_000));
    }

    #[test]
    fn readings_are_sound_where_both_times_agree_and_no_counter_goes_backwards() {
        const SECOND: u64 = 1_000_000_000;
        let reading = |port_ns, rx_bytes| PortStats {
            rx_bytes,
            duration: Elapsed::from_nanos(port_ns),
            ..PortStats::default()
        };
        let is_sound = |now_ns, port_ns, rx_bytes| {
            let mut load = Load::default();
            load.read(SECOND, &reading(5 * SECOND, 1_000));
            assert!(!load.is_sound);
            load.read(now_ns, &reading(port_ns, rx_bytes));
            load.is_sound
        };
        assert!(is_sound(2 * SECOND, 6 * SECOND, 1_000));
        assert!(is_sound(2 * SECOND, 6 * SECOND + SECOND / 10, 2_000));
        assert!(!is_sound(2 * SECOND, 6 * SECOND + SECOND / 9, 2_000));
        assert!(!is_sound(2 * SECOND, 6 * SECOND - SECOND / 9, 2_000));
        assert!(!is_sound(2 * SECOND, 4 * SECOND, 2_000));
        assert!(!is_sound(2 * SECOND, 6 * SECOND, 999));
        assert!(!is_sound(2 * SECOND, 6 * SECOND, NOT_KEPT));
    }
}
