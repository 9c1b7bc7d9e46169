//! Links and packets for the tests.

use mptcplab_link::{Delivery, DirectionConfig, Duplex, Link, LinkConfig, Nanos, Rate};

pub(crate) const MS: Nanos = 1_000_000;

/// 1250 bytes at this rate take 100 µs.
pub(crate) const RATE: Rate = Rate::Fixed {
    bits_per_second: 100_000_000,
};
pub(crate) const BYTES: u32 = 1250;
pub(crate) const TIME: Nanos = 100_000;

/// A full-duplex link, both directions alike.
pub(crate) fn full(direction: DirectionConfig) -> Link<u32> {
    seeded(direction, 1)
}

pub(crate) fn seeded(direction: DirectionConfig, seed: u64) -> Link<u32> {
    let config = LinkConfig {
        duplex: Duplex::Full,
        directions: [direction.clone(), direction],
    };
    Link::new(&config, seed).expect("a good configuration")
}

/// Offers packets numbered from 0 at one time; all must be taken.
pub(crate) fn offer(link: &mut Link<u32>, direction: usize, now: Nanos, sizes: &[u32]) {
    for (number, &ip_bytes) in (0..).zip(sizes) {
        link.offer(direction, now, ip_bytes, number)
            .expect("the packet is taken");
    }
}

/// Packets that are due by a time.
pub(crate) fn due(link: &mut Link<u32>, now: Nanos) -> Vec<Delivery<u32>> {
    let mut due = Vec::new();
    link.poll(now, &mut due);
    due
}

/// Times and packets of everything still on the link.
pub(crate) fn arrivals(link: &mut Link<u32>) -> Vec<(Nanos, u32)> {
    due(link, Nanos::MAX)
        .into_iter()
        .map(|delivery| (delivery.at, delivery.packet))
        .collect()
}

/// Times of everything still on the link.
pub(crate) fn times(link: &mut Link<u32>) -> Vec<Nanos> {
    due(link, Nanos::MAX)
        .into_iter()
        .map(|delivery| delivery.at)
        .collect()
}
