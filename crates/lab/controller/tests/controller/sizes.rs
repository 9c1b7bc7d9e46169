//! Sizes of transfers that are learned from those that are over.

use mptcplab_controller::Config;

use crate::host::capable;
use crate::network::{MILLISECOND, Network, SECOND};

fn network() -> Network {
    let config = Config {
        learn_sizes: true,
        ..Config::default()
    };
    Network::birzeit("disjoint", config)
}

/// Opens a connection, and returns the size that is expected of it.
fn open(network: &mut Network, port: u16) -> Option<u64> {
    network.syn(0, port, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    let connections = network.controller.connections();
    connections.last().and_then(|last| last.expected_bytes)
}

/// The server sends 50 segments of 1,000 bytes.
fn send(network: &mut Network, port: u16) {
    for _ in 0..50 {
        network.data(1, [80, port], 0);
    }
}

/// Headers are estimated.
fn is_near(expected: Option<u64>) -> bool {
    expected.is_some_and(|bytes| (47_000..50_000).contains(&bytes))
}

#[test]
fn sizes_are_learned_from_what_switches_have_counted() {
    let mut network = network();
    for port in 1000..1003 {
        open(&mut network, port);
        send(&mut network, port);
        network.run(20 * SECOND);
    }
    let expected = open(&mut network, 2000);
    assert!(is_near(expected), "{expected:?}");
}

/// The rules of the first connection are still there.
#[test]
fn the_silence_of_a_transfer_tells_its_size_before_its_rules_go() {
    let mut network = network();
    open(&mut network, 1000);
    send(&mut network, 1000);
    network.run(100 * MILLISECOND);
    assert_eq!(open(&mut network, 1001), None);
    // Counters are read until they have not changed for half a second.
    network.run(400 * MILLISECOND);
    assert_eq!(open(&mut network, 1002), None);
    network.run(400 * MILLISECOND);
    let expected = open(&mut network, 1003);
    assert!(is_near(expected), "{expected:?}");
    assert!(network.now_ns < 4 * SECOND);
}

#[test]
fn a_transfer_that_goes_on_is_not_over() {
    let mut network = network();
    open(&mut network, 1000);
    send(&mut network, 1000);
    assert_eq!(open(&mut network, 1001), None);
    for _ in 0..20 {
        send(&mut network, 1000);
        network.run(100 * MILLISECOND);
    }
    assert_eq!(open(&mut network, 1002), None);
}
