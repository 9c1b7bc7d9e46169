//! Load of ports, from their counters.

use mptcplab_openflow::multipart::PortStats;

/// A counter that a switch does not keep.
const NOT_KEPT: u64 = u64::MAX;

/// The load of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    /// The last reading: time of the port, bytes that went out.
    last: Option<(u64, u64)>,
    /// Bytes that had come in by then, and when that was heard of.
    received: (u64, u64),
    /// Bits a second that went out between the last two readings.
    pub(crate) sent_bps: u64,
}

impl Load {
    /// Takes the bytes that have come in; where they are more than before, gives the time of the reading
    /// before, after which something came.
    pub(crate) fn received_after(&mut self, now_ns: u64, statistics: &PortStats) -> Option<u64> {
        let bytes = statistics.rx_bytes;
        let (before, at_ns) = std::mem::replace(&mut self.received, (bytes, now_ns));
        (bytes != NOT_KEPT && bytes > before).then_some(at_ns)
    }

    /// Takes a reading. Where the counter went backwards the port is another one.
    pub(crate) fn read(&mut self, statistics: &PortStats) {
        let (now_ns, bytes) = (statistics.duration.as_nanos(), statistics.tx_bytes);
        if bytes == NOT_KEPT {
            return;
        }
        if let Some((then_ns, then_bytes)) = self.last {
            let elapsed_ns = now_ns.checked_sub(then_ns).filter(|elapsed| *elapsed > 0);
            self.sent_bps = match (elapsed_ns, bytes.checked_sub(then_bytes)) {
                (Some(elapsed_ns), Some(sent)) => {
                    let bits = u128::from(sent) * 8 * 1_000_000_000;
                    u64::try_from(bits / u128::from(elapsed_ns)).unwrap_or(u64::MAX)
                }
                _ => 0,
            };
        }
        self.last = Some((now_ns, bytes));
    }
}

#[cfg(test)]
mod tests {
    use mptcplab_openflow::Elapsed;

    use super::*;

    #[test]
    fn load_is_what_went_out_between_two_readings() {
        let reading = |seconds, tx_bytes| PortStats {
            tx_bytes,
            duration: Elapsed {
                seconds,
                nanoseconds: 0,
            },
            ..PortStats::default()
        };
        let mut load = Load::default();
        load.read(&reading(1, 1_000));
        assert_eq!(load.sent_bps, 0);
        load.read(&reading(3, 251_000));
        assert_eq!(load.sent_bps, 1_000_000);
        // The switch began anew.
        load.read(&reading(1, 10));
        assert_eq!(load.sent_bps, 0);
    }
}
