//! Flows by addresses and ports: one look-up a packet.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hashbrown::HashTable;

use super::flow::Flow;

/// Addresses and ports of a flow, the same for both directions: the lower end stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowKey {
    low: u128,
    high: u128,
    /// Port of the low end, port of the high end, and whether the addresses are of IPv6.
    ports: u64,
}

const IPV6: u64 = 1 << 32;

impl FlowKey {
    /// Returns the key, and whether the sender is the low end.
    #[inline]
    pub(super) fn of(source: &SocketAddr, destination: &SocketAddr) -> (Self, bool) {
        let (from, family) = bits(source.ip());
        let (to, _) = bits(destination.ip());
        let (from_port, to_port) = (source.port(), destination.port());
        let from_low = (from, from_port) <= (to, to_port);
        let (low, high, low_port, high_port) = if from_low {
            (from, to, from_port, to_port)
        } else {
            (to, from, to_port, from_port)
        };
        let ports = family | u64::from(low_port) << 16 | u64::from(high_port);
        (Self { low, high, ports }, from_low)
    }

    /// Returns address and port of the low end (`true`) or of the high end.
    pub(super) fn end(&self, low: bool) -> SocketAddr {
        let (address, port) = if low {
            (self.low, self.ports >> 16)
        } else {
            (self.high, self.ports)
        };
        let address = if self.ports & IPV6 == 0 {
            IpAddr::V4(Ipv4Addr::from_bits(address as u32))
        } else {
            IpAddr::V6(Ipv6Addr::from_bits(address))
        };
        SocketAddr::new(address, port as u16)
    }
}

/// Returns an address as a number, and the mark of its family in [`FlowKey::ports`].
#[inline]
fn bits(address: IpAddr) -> (u128, u64) {
    match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 0),
        IpAddr::V6(v6) => (v6.to_bits(), IPV6),
    }
}

/// Random secrets of the process for hashes: a capture cannot be crafted with addresses that
/// collide in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secrets([u64; 3]);

impl Secrets {
    pub(super) fn new() -> Self {
        let state = RandomState::new();
        // Odd, so that none is zero.
        Self([0, 1, 2].map(|number: u64| state.hash_one(number) | 1))
    }

    #[inline]
    pub(super) fn hash(&self, key: &FlowKey) -> u64 {
        let Self([a, b, c]) = *self;
        let low = fold(
            key.low as u64 ^ a,
            key.high as u64 ^ key.ports.rotate_left(32) ^ b,
        );
        // All zero for IPv4.
        let high = ((key.low >> 64) as u64, (key.high >> 64) as u64);
        fold(low ^ high.0 ^ c, high.1 ^ key.ports ^ a)
    }

    /// Mixes two words into one.
    #[inline]
    pub(super) fn mix(&self, one: u64, other: u64) -> u64 {
        let Self([a, b, _]) = *self;
        fold(one ^ a, other ^ b)
    }
}

/// Returns both halves of a product: each bit of it depends on all that stand below it in the
/// factors.
#[inline]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Flows by their keys, which stand in the flows themselves.
#[derive(Debug)]
pub(super) struct Table {
    indices: HashTable<u32>,
    secrets: Secrets,
}

impl Table {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self {
            indices: HashTable::new(),
            secrets,
        }
    }

    /// Returns the index of the newest flow with this key.
    #[inline]
    pub(super) fn find(&self, hash: u64, key: &FlowKey, flows: &[Flow]) -> Option<u32> {
        self.indices
            .find(hash, |&index| flows[index as usize].key == *key)
            .copied()
    }

    /// Lets the key of flow `index` name this flow from now on.
    pub(super) fn insert(&mut self, hash: u64, index: u32, flows: &[Flow]) {
        let key = flows[index as usize].key;
        let secrets = self.secrets;
        self.indices
            .entry(
                hash,
                |&other| flows[other as usize].key == key,
                |&other| secrets.hash(&flows[other as usize].key),
            )
            .insert(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn both_directions_have_one_key() {
        for (a, b) in [
            ("10.0.0.1:5000", "10.0.0.2:80"),
            ("10.0.0.1:5000", "10.0.0.1:80"),
            ("[fd00::1]:5000", "[fd00::2]:80"),
        ] {
            let (there, from_low) = FlowKey::of(&end(a), &end(b));
            let (back, back_from_low) = FlowKey::of(&end(b), &end(a));
            assert_eq!(there, back);
            assert_ne!(from_low, back_from_low);
            assert_eq!(there.end(from_low), end(a));
            assert_eq!(there.end(!from_low), end(b));
        }
    }

    #[test]
    fn families_are_apart() {
        let (v4, _) = FlowKey::of(&end("0.0.0.1:1"), &end("0.0.0.2:2"));
        let (v6, _) = FlowKey::of(&end("[::1]:1"), &end("[::2]:2"));
        assert_ne!(v4, v6);
    }

    #[test]
    fn each_port_and_address_counts_for_the_hash() {
        let secrets = Secrets::new();
        let mut hashes = std::collections::HashSet::new();
        for low in 1..=50 {
            for port in 1..=50 {
                let a = SocketAddr::from(([10, 0, 0, low], port));
                let b = SocketAddr::from(([10, 0, 1, 1], 80));
                hashes.insert(secrets.hash(&FlowKey::of(&a, &b).0));
                let a = SocketAddr::from(([0xfd00, 0, 0, u16::from(low), 0, 0, 0, 1], port));
                let b = SocketAddr::from(([0xfd00, 0, 0, 1, 0, 0, 0, 2], 80));
                hashes.insert(secrets.hash(&FlowKey::of(&a, &b).0));
            }
        }
        assert_eq!(hashes.len(), 5000);
    }
}
