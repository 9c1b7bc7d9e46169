//! Traffic of transfers that are over: it is a part of the loads that were measured, and of none to come.

use std::collections::BTreeMap;

use crate::place::{Link, PortRef};

/// Transfers of a port that are remembered.
const MOST: usize = 64;

/// The frames of transfers that each port has received, until they are older than the loads.
#[derive(Clone, Debug, Default)]
pub(crate) struct PastTraffic {
    received: BTreeMap<PortRef, Vec<Received>>,
}

/// The frames of a transfer.
#[derive(Clone, Copy, Debug)]
struct Received {
    from_ns: u64,
    to_ns: u64,
    bytes: u64,
}

impl PastTraffic {
    /// Takes bytes of frames that have gone over a path between two times, of each direction.
    pub(crate) fn add(&mut self, path: &[Link], times_ns: [u64; 2], bytes: [u64; 2]) {
        let [from_ns, to_ns] = times_ns;
        for (port, bytes) in path
            .iter()
            .flat_map(|link| [(link.to, bytes[0]), (link.from, bytes[1])])
        {
            let own = self.received.entry(port).or_default();
            if own.len() < MOST {
                own.push(Received {
                    from_ns,
                    to_ns,
                    bytes,
                });
            }
        }
    }

    /// The most bits a second of them that a port of a rate can have received between two times.
    pub(crate) fn most_bps(
        &self,
        port: PortRef,
        times_ns: [u64; 2],
        rate_bps: impl FnOnce() -> Option<u64>,
    ) -> u64 {
        const SECOND: u128 = 1_000_000_000;
        let [from_ns, to_ns] = times_ns;
        let Some(own) = self.received.get(&port) else {
            return 0;
        };
        let rate_bps = u128::from(rate_bps().unwrap_or(u64::MAX));
        let bits = own.iter().map(|one| {
            let both_ns = to_ns
                .min(one.to_ns)
                .saturating_sub(from_ns.max(one.from_ns));
            (u128::from(one.bytes) * 8).min(rate_bps * u128::from(both_ns) / SECOND)
        });
        let bps = (bits.sum::<u128>() * SECOND).checked_div(u128::from(to_ns - from_ns));
        bps.map_or(0, |bps| u64::try_from(bps).unwrap_or(u64::MAX))
    }

    /// Forgets those that were over before a time.
    pub(crate) fn forget_before(&mut self, time_ns: u64) {
        self.received.retain(|_, own| {
            own.retain(|one| one.to_ns >= time_ns);
            !own.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_port_has_received_no_more_than_the_bytes_of_a_transfer_and_what_it_can() {
        let link = Link {
            from: PortRef::new(1, 1),
            to: PortRef::new(2, 2),
        };
        let mut past = PastTraffic::default();
        past.add(&[link], [SECOND, 2 * SECOND], [125_000, 1_000]);
        let bps = |past: &PastTraffic, port, from, to| {
            past.most_bps(port, [from, to], || Some(4_000_000))
        };
        assert_eq!(bps(&past, link.to, 0, 2 * SECOND), 500_000);
        assert_eq!(bps(&past, link.from, 0, 2 * SECOND), 4_000);
        // In a hundredth of a second no more can have come.
        let almost = 2 * SECOND - SECOND / 100;
        assert_eq!(bps(&past, link.to, almost, almost + SECOND), 40_000);
        assert_eq!(bps(&past, link.to, 2 * SECOND, 3 * SECOND), 0);
        assert_eq!(bps(&past, link.to, SECOND, SECOND), 0);
        assert_eq!(bps(&past, PortRef::new(3, 1), 0, SECOND), 0);
        past.forget_before(2 * SECOND + 1);
        assert!(past.received.is_empty());
    }
}
