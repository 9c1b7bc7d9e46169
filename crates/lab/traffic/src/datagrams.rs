//! The times of UDP datagrams at a constant rate, in bursts where asked for.

use std::net::IpAddr;

use mptcplab_link::Nanos;

const UDP_HEADER_BYTES: u32 = 8;
const IPV4_HEADER_BYTES: u32 = 20;
const IPV6_HEADER_BYTES: u32 = 40;

/// The datagrams that a flow sends one way.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Rate of IP packets in bits a second, while it sends.
    pub rate_bps: u64,
    /// Size of each IP packet.
    pub packet_bytes: u32,
    /// It ends after this time.
    pub duration_ns: Nanos,
    /// Mean lengths of the bursts and of the pauses between them.
    pub on_off_ns: Option<[Nanos; 2]>,
}

impl Pattern {
    /// Payload of each datagram to an address.
    #[must_use]
    pub fn payload_bytes(&self, target: IpAddr) -> u32 {
        self.packet_bytes.saturating_sub(header_bytes(target))
    }
}

/// When datagrams are sent.
///
/// Times are multiples of a packet's time since the begin of the burst: one that is sent late moves
/// no other.
#[derive(Clone, Debug)]
pub struct Schedule {
    rate_bps: u64,
    packet_bytes: u32,
    until: Nanos,
    due: Nanos,
    /// Begin of the present burst, and bytes that were due since.
    began: Nanos,
    sent_bytes: u64,
    bursts: Option<Bursts>,
}

/// Bursts and the pauses between them, both exponentially distributed.
#[derive(Clone, Debug)]
struct Bursts {
    on_mean_ns: Nanos,
    off_mean_ns: Nanos,
    /// End of the burst under way.
    end: Nanos,
}

impl Schedule {
    /// Datagrams to an address that begin at `begin`, with a burst; `draw` gives exponentially
    /// distributed numbers with the mean that it is given.
    pub fn new(
        begin: Nanos,
        target: IpAddr,
        pattern: Pattern,
        mut draw: impl FnMut(Nanos) -> Nanos,
    ) -> Self {
        let bursts = pattern.on_off_ns.map(|[on_mean_ns, off_mean_ns]| Bursts {
            on_mean_ns,
            off_mean_ns,
            end: begin.saturating_add(draw(on_mean_ns)),
        });
        Self {
            rate_bps: pattern.rate_bps.max(1),
            packet_bytes: pattern.payload_bytes(target) + header_bytes(target),
            until: begin.saturating_add(pattern.duration_ns),
            due: begin,
            began: begin,
            sent_bytes: 0,
            bursts,
        }
    }

    /// The end, at which nothing is sent any more.
    #[must_use]
    pub fn until(&self) -> Nanos {
        self.until
    }

    /// The time of the next datagram; `None` where there is none before the end.
    #[must_use]
    pub fn due(&self) -> Option<Nanos> {
        Some(self.due).filter(|&due| due < self.until)
    }

    /// Goes on to the datagram after the one that is due.
    pub fn advance(&mut self, mut draw: impl FnMut(Nanos) -> Nanos) {
        self.sent_bytes += u64::from(self.packet_bytes);
        let bits = u128::from(self.sent_bytes) * 8 * 1_000_000_000;
        let span = bits.div_ceil(u128::from(self.rate_bps));
        let span = Nanos::try_from(span).unwrap_or(Nanos::MAX);
        self.due = self.began.saturating_add(span);
        let Some(bursts) = &mut self.bursts else {
            return;
        };
        if self.due >= bursts.end {
            self.began = bursts.end.saturating_add(draw(bursts.off_mean_ns));
            bursts.end = self.began.saturating_add(draw(bursts.on_mean_ns));
            self.sent_bytes = 0;
            self.due = self.began;
        }
    }
}

/// Warnings about datagrams of one way that have ended.
#[must_use]
pub fn warning(sent: u64, received: u64) -> Option<String> {
    (sent > 0 && received == 0).then(|| {
        format!(
            "none of the {sent} datagrams sent arrived (where the path works, a nat may be in the \
             way: it lets nothing in but answers)"
        )
    })
}

fn header_bytes(target: IpAddr) -> u32 {
    UDP_HEADER_BYTES
        + match target {
            IpAddr::V4(_) => IPV4_HEADER_BYTES,
            IpAddr::V6(_) => IPV6_HEADER_BYTES,
        }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const TARGET: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn due(mut schedule: Schedule, mut draw: impl FnMut(Nanos) -> Nanos) -> Vec<Nanos> {
        let mut times = Vec::new();
        while let Some(due) = schedule.due() {
            times.push(due);
            schedule.advance(&mut draw);
        }
        times
    }

    #[test]
    fn datagrams_of_which_none_arrives_are_told() {
        assert_eq!(warning(0, 0), None);
        assert_eq!(warning(20, 1), None);
        let text = warning(20, 0).unwrap();
        assert!(text.starts_with("none of the 20 datagrams sent arrived"));
    }

    #[test]
    fn packets_of_the_rate_follow_each_other_without_rounding_that_adds_up() {
        let pattern = Pattern {
            rate_bps: 3_000_000_000,
            packet_bytes: 100,
            duration_ns: 1000,
            on_off_ns: None,
        };
        assert_eq!(pattern.payload_bytes(TARGET), 72);
        let times = due(Schedule::new(5, TARGET, pattern, |_| 0), |_| 0);
        // 800 bits take 266.67 ns.
        assert_eq!(times, [5, 272, 539, 805]);
    }

    #[test]
    fn a_burst_ends_with_its_time_and_the_next_begins_after_a_pause() {
        let pattern = Pattern {
            rate_bps: 8_000_000_000,
            packet_bytes: 100,
            duration_ns: 2000,
            on_off_ns: Some([250, 500]),
        };
        let times = due(Schedule::new(0, TARGET, pattern, |mean| mean), |mean| mean);
        assert_eq!(times, [0, 100, 200, 750, 850, 950, 1500, 1600, 1700]);
    }
}
