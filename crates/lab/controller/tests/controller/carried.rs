//! Transfers of told sizes that are over while their rules are still there.

use mptcplab_controller::{Config, Event, TransferSize};

use crate::host::capable;
use crate::network::{MILLISECOND, Network, SECOND};

const BYTES: u64 = 500_000;
/// Segments of 1,000 bytes in such a transfer: they have fewer options than the controller takes them to
/// have, and count as shorter.
const SEGMENTS: usize = 516;

/// The network of the document, in which transfers of the first server are prepared.
fn network() -> Network {
    let size = TransferSize {
        server: "10.0.0.2".parse().expect("an address"),
        port: 80,
        bytes: BYTES,
    };
    let config = Config {
        sizes: vec![size],
        ..Config::default()
    };
    let mut network = Network::birzeit("earliest-completion", config);
    for (host, other) in [(0, "10.0.0.2"), (1, "10.0.0.1")] {
        let announced = network.hosts[host].arp_request(other);
        network.send(host, announced);
    }
    network.run(100 * MILLISECOND);
    network.controller.prepare();
    network
}

/// A connection of which the server sends so many segments of 1,000 bytes at once, and which is then
/// old enough to be over.
fn transfer(network: &mut Network, port: u16, segments: usize) {
    network.syn(0, port, 1, vec![capable(None, None)]);
    network.run(50 * MILLISECOND);
    for _ in 0..segments {
        network.data(1, [80, port], 0);
    }
    network.run(350 * MILLISECOND);
}

/// Subflows on the link that has the most.
fn most_subflows(network: &Network) -> usize {
    let links = network.controller.link_views();
    links.map(|link| link.subflows).max().unwrap_or(0)
}

/// The time at which the last subflow was given its path.
fn placed_ns(network: &Network) -> u64 {
    let events = network.controller.events_since(0);
    let placed = events.filter(|(_, _, event)| matches!(event, Event::Placed { .. }));
    placed.map(|(_, at_ns, _)| at_ns).max().unwrap_or(0)
}

/// Opens another connection, and returns how long it took until it had a path, from when its packet
/// was at the controller.
fn open(network: &mut Network, port: u16) -> u64 {
    let came_ns = network.now_ns + network.control_ns;
    network.syn(0, port, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    placed_ns(network) - came_ns
}

#[test]
fn a_transfer_that_follows_another_one_has_the_network_for_itself() {
    let mut network = network();
    transfer(&mut network, 1000, SEGMENTS);
    assert_eq!(most_subflows(&network), 1);
    let rules = network.rules();
    // The counters were asked for first: a round trip of control.
    assert_eq!(open(&mut network, 1001), 2 * MILLISECOND);
    assert_eq!(most_subflows(&network), 1);
    assert_eq!(network.rules(), 2 * rules);
    // Of three transfers one is not over, and counts.
    assert_eq!(open(&mut network, 1002), 0);
    assert_eq!(most_subflows(&network), 2);
}

#[test]
fn a_transfer_that_goes_on_counts() {
    let mut network = network();
    transfer(&mut network, 1000, SEGMENTS - 20);
    assert_eq!(open(&mut network, 1001), 2 * MILLISECOND);
    assert_eq!(most_subflows(&network), 2);
    for _ in 0..20 {
        network.data(1, [80, 1000], 0);
    }
    network.run(SECOND);
    assert_eq!(most_subflows(&network), 1);
}

#[test]
fn a_transfer_that_nothing_follows_leaves_its_path_when_counters_are_read() {
    let mut network = network();
    transfer(&mut network, 1000, SEGMENTS);
    network.run(2 * SECOND);
    assert_eq!(most_subflows(&network), 0);
    assert!(network.rules() > 0);
    // A segment that is sent again does not change that, nor do rules that end.
    network.data(1, [80, 1000], 0);
    network.run(20 * SECOND);
    assert_eq!((most_subflows(&network), network.rules()), (0, 0));
    network.data(1, [80, 1000], 0);
    network.run(SECOND);
    assert_eq!(most_subflows(&network), 0);
    assert!(network.rules() > 0);
}

#[test]
fn a_switch_that_tells_nothing_is_not_waited_for() {
    let mut network = network();
    transfer(&mut network, 1000, SEGMENTS);
    network.deaf = Some(1);
    let interval_ns = Config::default().count_interval_ns;
    assert_eq!(open(&mut network, 1001), interval_ns);
}

#[test]
fn sizes_that_were_not_told_are_not_asked_about() {
    let mut network = Network::birzeit("earliest-completion", Config::default());
    transfer(&mut network, 1000, SEGMENTS);
    assert_eq!(open(&mut network, 1001), 0);
    network.run(2 * SECOND);
    assert_eq!(most_subflows(&network), 2);
}
