//! Where a packet leaves a node: longest-prefix match, and several equally good ways.

use std::collections::HashMap;
use std::net::IpAddr;

use foldhash::fast::FixedState;
use mptcplab_plan::Prefix;

/// Destinations whose ways are remembered; beyond them all are forgotten.
const REMEMBERED: usize = 65_536;

/// A way out of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The network that it leads to.
    pub(crate) to: Prefix,
    /// Interface of the node.
    pub(crate) interface: usize,
    /// Of several ways to the same network only those with the smallest metric count.
    pub(crate) metric: u32,
}

/// A routing table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The longest prefix first, then the smallest metric, then in the order of their adding.
    ways: Vec<Way>,
    /// The equally good interfaces for destinations that were asked for.
    known: HashMap<IpAddr, Vec<usize>, FixedState>,
}

impl Table {
    /// Adds a way; the same one twice is one.
    pub(crate) fn add(&mut self, way: Way) {
        let way = Way {
            to: network(way.to),
            ..way
        };
        if self.ways.contains(&way) {
            return;
        }
        let key = |way: &Way| (u8::MAX - way.to.length, way.metric);
        let place = self.ways.partition_point(|other| key(other) <= key(&way));
        self.ways.insert(place, way);
        self.known.clear();
    }

    /// The interface for a destination; of several equally good ones that at `choice` modulo their
    /// number.
    pub(crate) fn interface(
        &mut self,
        destination: IpAddr,
        choice: impl FnOnce() -> u64,
    ) -> Option<usize> {
        if self.known.len() == REMEMBERED {
            self.known.clear();
        }
        let ways = &self.ways;
        let interfaces = self
            .known
            .entry(destination)
            .or_insert_with(|| best(ways, destination));
        match interfaces[..] {
            [] => None,
            [only] => Some(only),
            [..] => Some(interfaces[(choice() % interfaces.len() as u64) as usize]),
        }
    }
}

/// The interfaces of the best ways to a destination.
fn best(ways: &[Way], destination: IpAddr) -> Vec<usize> {
    let mut matching = ways.iter().filter(|way| contains(way.to, destination));
    let Some(first) = matching.next() else {
        return Vec::new();
    };
    let equal = matching.filter(|way| way.to == first.to && way.metric == first.metric);
    std::iter::once(first)
        .chain(equal)
        .map(|way| way.interface)
        .collect()
}

/// The prefix with all bits behind its length zero.
pub(crate) fn network(prefix: Prefix) -> Prefix {
    let length = prefix.length;
    let address = match prefix.address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32)));
            IpAddr::V4((u32::from(address) & mask.unwrap_or(0)).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128)));
            IpAddr::V6((u128::from(address) & mask.unwrap_or(0)).into())
        }
    };
    Prefix { address, length }
}

/// Whether an address lies in a network.
pub(crate) fn contains(prefix: Prefix, address: IpAddr) -> bool {
    prefix.address.is_ipv4() == address.is_ipv4()
        && network(Prefix {
            address,
            length: prefix.length,
        })
        .address
            == network(prefix).address
}

/// The network of all addresses of the family of `address`.
pub(crate) fn everything(address: IpAddr) -> Prefix {
    network(Prefix { address, length: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        let (address, length) = text.split_once('/').unwrap();
        Prefix {
            address: address.parse().unwrap(),
            length: length.parse().unwrap(),
        }
    }

    fn table(ways: &[(&str, usize, u32)]) -> Table {
        let mut table = Table::default();
        for &(to, interface, metric) in ways {
            let to = prefix(to);
            table.add(Way {
                to,
                interface,
                metric,
            });
        }
        table
    }

    fn interface(table: &mut Table, destination: &str, choice: u64) -> Option<usize> {
        table.interface(destination.parse().unwrap(), || choice)
    }

    #[test]
    fn the_longest_prefix_wins_over_the_metric() {
        let mut table = table(&[
            ("0.0.0.0/0", 0, 0),
            ("10.1.0.0/16", 1, 5),
            ("10.1.2.0/24", 2, 9),
        ]);
        assert_eq!(interface(&mut table, "10.1.2.3", 0), Some(2));
        assert_eq!(interface(&mut table, "10.1.3.3", 0), Some(1));
        assert_eq!(interface(&mut table, "192.0.2.1", 0), Some(0));
    }

    #[test]
    fn the_smallest_metric_wins_between_equal_prefixes() {
        let mut table = table(&[("0.0.0.0/0", 0, 101), ("0.0.0.0/0", 1, 100)]);
        assert_eq!(interface(&mut table, "10.0.0.1", 1), Some(1));
    }

    #[test]
    fn equally_good_ways_are_chosen_by_the_number() {
        let mut table = table(&[
            ("10.9.0.0/24", 1, 0),
            ("10.9.0.0/24", 3, 0),
            ("10.8.0.0/24", 2, 0),
        ]);
        let chosen: Vec<_> = (0..4)
            .map(|choice| interface(&mut table, "10.9.0.7", choice))
            .collect();
        assert_eq!(chosen, [Some(1), Some(3), Some(1), Some(3)]);
    }

    #[test]
    fn families_do_not_mix() {
        let mut table = table(&[("::/0", 0, 0), ("10.0.0.0/8", 1, 0)]);
        assert_eq!(interface(&mut table, "2001:db8::1", 0), Some(0));
        assert_eq!(interface(&mut table, "192.0.2.1", 0), None);
    }

    #[test]
    fn host_bits_of_a_prefix_do_not_matter() {
        let mut table = table(&[("10.0.1.77/24", 4, 0), ("2001:db8:0:1::9/64", 5, 0)]);
        assert_eq!(interface(&mut table, "10.0.1.1", 0), Some(4));
        assert_eq!(interface(&mut table, "2001:db8:0:1::1", 0), Some(5));
        assert_eq!(interface(&mut table, "2001:db8:0:2::1", 0), None);
    }
}
