//! The forwarding table of a node: longest-prefix match, with several equally good routes.

use std::net::IpAddr;

use mptcplab_plan::Prefix;

/// A route of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The network that it leads to.
    pub(crate) to: Prefix,
    /// Interface of the node.
    pub(crate) interface: usize,
    /// Of several routes to the same network only those with the smallest metric count.
    pub(crate) metric: u32,
}

/// A forwarding table.
///
/// A router of a large network has hundreds of networks, and all routers together more than a cache
/// holds if each network has its interfaces: it has the number of a set of interfaces, of which
/// there are few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The longest prefix first.
    groups: Vec<Group>,
    /// Sets of equally good interfaces, each in the order of their adding.
    sets: Vec<Vec<usize>>,
}

/// The networks of one family whose prefixes have the same length.
#[derive(Clone, Debug)]
struct Group {
    is_ipv4: bool,
    length: u8,
    /// The [bits] of each network, sorted.
    networks: Vec<u128>,
    /// The best routes to each network.
    best: Vec<Best>,
}

/// The best routes to a network.
#[derive(Clone, Copy, Debug)]
struct Best {
    metric: u32,
    /// Number of the set of interfaces.
    set: u32,
}

impl Table {
    /// Adds a route; the same one twice is one.
    pub(crate) fn add(&mut self, route: Route) {
        let Prefix { address, length } = route.to;
        let network = bits(address) & mask(length);
        let index = self.group(address.is_ipv4(), length);
        let found = self.groups[index].networks.binary_search(&network);
        let best = found.ok().map(|place| self.groups[index].best[place]);
        let interfaces = match best {
            Some(best) if best.metric < route.metric => return,
            Some(best) if best.metric == route.metric => {
                let others = &self.sets[best.set as usize];
                if others.contains(&route.interface) {
                    return;
                }
                [&others[..], &[route.interface]].concat()
            }
            _ => vec![route.interface],
        };
        let best = Best {
            metric: route.metric,
            set: self.set(interfaces),
        };
        let group = &mut self.groups[index];
        match found {
            Ok(place) => group.best[place] = best,
            Err(place) => {
                group.networks.insert(place, network);
                group.best.insert(place, best);
            }
        }
    }

    /// The index of the group of a family and a length, which is made where there is none.
    fn group(&mut self, is_ipv4: bool, length: u8) -> usize {
        let key = |group: &Group| (u8::MAX - group.length, group.is_ipv4);
        let found = self
            .groups
            .binary_search_by_key(&(u8::MAX - length, is_ipv4), key);
        found.unwrap_or_else(|place| {
            let group = Group {
                is_ipv4,
                length,
                networks: Vec::new(),
                best: Vec::new(),
            };
            self.groups.insert(place, group);
            place
        })
    }

    /// The number of a set of interfaces, which is made where there is none.
    fn set(&mut self, interfaces: Vec<usize>) -> u32 {
        let place = self.sets.iter().position(|other| *other == interfaces);
        place.unwrap_or_else(|| {
            self.sets.push(interfaces);
            self.sets.len() - 1
        }) as u32
    }

    /// The networks with the interfaces of the best routes to each; the longest prefix first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Prefix, &[usize])> {
        self.groups.iter().flat_map(|group| {
            let routes = group.networks.iter().zip(&group.best);
            routes.map(|(&network, best)| {
                let address = address(network, group.is_ipv4);
                let length = group.length;
                (Prefix { address, length }, self.interfaces_of(best.set))
            })
        })
    }

    /// The networks with the interface of the best route to each, of equally good ones the first; the
    /// longest prefix first.
    pub(crate) fn networks(&self) -> impl Iterator<Item = (Prefix, usize)> {
        self.entries().map(|(to, interfaces)| (to, interfaces[0]))
    }

    /// The network that the best route to a destination leads to, and its interface, of equally good
    /// ones the first.
    pub(crate) fn nearest(&self, destination: IpAddr) -> Option<(Prefix, usize)> {
        let mut networks = self.networks();
        networks.find(|(network, _)| network.contains(destination))
    }

    /// The equally good interfaces for a destination.
    pub(crate) fn interfaces(&self, destination: IpAddr) -> &[usize] {
        self.best_set(destination)
            .map_or(&[], |set| self.interfaces_of(set))
    }

    /// The interfaces of a set.
    pub(crate) fn interfaces_of(&self, set: u32) -> &[usize] {
        &self.sets[set as usize]
    }

    /// The number of the set of the equally good interfaces for a destination.
    pub(crate) fn best_set(&self, destination: IpAddr) -> Option<u32> {
        let wanted = bits(destination);
        for group in &self.groups {
            if group.is_ipv4 != destination.is_ipv4() {
                continue;
            }
            let network = wanted & mask(group.length);
            if let Ok(place) = group.networks.binary_search(&network) {
                return Some(group.best[place].set);
            }
        }
        None
    }
}

/// Of several equally good interfaces that at `choice` modulo their number.
pub(crate) fn choose(interfaces: &[usize], choice: impl FnOnce() -> u64) -> Option<usize> {
    match *interfaces {
        [] => None,
        [only] => Some(only),
        [..] => Some(interfaces[(choice() % interfaces.len() as u64) as usize]),
    }
}

/// An address as a number, from the highest bit on.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => u128::from(address),
    }
}

/// The address that a number is.
fn address(bits: u128, is_ipv4: bool) -> IpAddr {
    if is_ipv4 {
        IpAddr::from(((bits >> 96) as u32).to_be_bytes())
    } else {
        IpAddr::from(bits.to_be_bytes())
    }
}

/// The bits that a prefix of this length covers.
fn mask(length: u8) -> u128 {
    let rest = 128_u32.saturating_sub(u32::from(length));
    u128::MAX.checked_shl(rest).unwrap_or(0)
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

    fn table(routes: &[(&str, usize, u32)]) -> Table {
        let mut table = Table::default();
        for &(to, interface, metric) in routes {
            let to = prefix(to);
            table.add(Route {
                to,
                interface,
                metric,
            });
        }
        table
    }

    fn interface(table: &Table, destination: &str, choice: u64) -> Option<usize> {
        choose(table.interfaces(destination.parse().unwrap()), || choice)
    }

    #[test]
    fn the_longest_prefix_wins_over_the_metric() {
        let table = table(&[
            ("0.0.0.0/0", 0, 0),
            ("10.1.0.0/16", 1, 5),
            ("10.1.2.0/24", 2, 9),
        ]);
        assert_eq!(interface(&table, "10.1.2.3", 0), Some(2));
        assert_eq!(interface(&table, "10.1.3.3", 0), Some(1));
        assert_eq!(interface(&table, "192.0.2.1", 0), Some(0));
    }

    #[test]
    fn the_smallest_metric_wins_between_equal_prefixes() {
        let table = table(&[("0.0.0.0/0", 0, 101), ("0.0.0.0/0", 1, 100)]);
        assert_eq!(interface(&table, "10.0.0.1", 1), Some(1));
    }

    #[test]
    fn equally_good_routes_are_chosen_by_the_number() {
        let table = table(&[
            ("10.9.0.0/24", 1, 0),
            ("10.9.0.0/24", 3, 0),
            ("10.8.0.0/24", 2, 0),
        ]);
        let chosen: Vec<_> = (0..4)
            .map(|choice| interface(&table, "10.9.0.7", choice))
            .collect();
        assert_eq!(chosen, [Some(1), Some(3), Some(1), Some(3)]);
    }

    #[test]
    fn families_do_not_mix() {
        let table = table(&[("::/0", 0, 0), ("10.0.0.0/8", 1, 0)]);
        assert_eq!(interface(&table, "2001:db8::1", 0), Some(0));
        assert_eq!(interface(&table, "192.0.2.1", 0), None);
    }

    #[test]
    fn host_bits_of_a_prefix_do_not_matter() {
        let table = table(&[("10.0.1.77/24", 4, 0), ("2001:db8:0:1::9/64", 5, 0)]);
        assert_eq!(interface(&table, "10.0.1.1", 0), Some(4));
        assert_eq!(interface(&table, "2001:db8:0:1::1", 0), Some(5));
        assert_eq!(interface(&table, "2001:db8:0:2::1", 0), None);
    }
}
