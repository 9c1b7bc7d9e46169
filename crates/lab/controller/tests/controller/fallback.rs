//! Connections of MPTCP whose SYN goes on without MP_CAPABLE.

use mptcplab_controller::{Config, Event, TransferSize};
use mptcplab_wire::keys::Key;

use crate::host::{capable, join};
use crate::network::{MILLISECOND, Network, SECOND};

/// The network of the document, whose first server is known to send so much at port 80.
fn network(tcp_fallback: bool, bytes: u64) -> Network {
    let size = TransferSize {
        server: "10.0.0.2".parse().expect("an address"),
        port: 80,
        bytes,
    };
    let config = Config {
        tcp_fallback,
        sizes: vec![size],
        ..Config::default()
    };
    Network::birzeit("earliest-completion", config)
}

/// A server that is known, and silent.
fn silence(network: &mut Network) {
    let announced = network.hosts[1].arp_request("10.0.0.2");
    network.send(1, announced);
    network.run(100 * MILLISECOND);
    network.hosts[1].is_alive = false;
}

/// SYNs that the server has got, by whether they have an option of MPTCP.
fn syns(network: &Network, host: usize) -> Vec<bool> {
    let got = network.hosts[host].received.iter();
    let syns = got.filter(|segment| segment.flags.syn && !segment.flags.ack);
    syns.map(|segment| !segment.options.mptcp.is_empty())
        .collect()
}

fn falls_back(network: &Network) -> usize {
    let events = network.events();
    let falls_back = |event: &&Event| matches!(event, Event::FallsBack { .. });
    events.iter().filter(falls_back).count()
}

#[test]
fn a_short_transfer_is_one_of_tcp() {
    let mut network = network(true, 10_000);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(syns(&network, 1), [false]);
    assert_eq!(falls_back(&network), 1);
    assert_eq!(network.paths(0), [[3, 4, 2]]);
    assert_eq!(network.rules(), 8);
    let connections = network.controller.connections();
    assert!(!connections[0].is_multipath);
    assert_eq!(connections[0].expected_bytes, Some(10_000));
    // The answer and what follows went both ways.
    assert_eq!(network.hosts[0].received.len(), 1);
    assert_eq!(network.hosts[1].received.len(), 2);
}

#[test]
fn a_syn_keeps_its_option_where_that_is_not_asked_for_or_does_not_help() {
    for (tcp_fallback, bytes) in [(false, 10_000), (true, 5_000_000)] {
        let mut network = network(tcp_fallback, bytes);
        network.syn(0, 1000, 1, vec![capable(None, None)]);
        network.run(100 * MILLISECOND);
        assert_eq!(syns(&network, 1), [true], "{tcp_fallback} {bytes}");
        assert_eq!(falls_back(&network), 0);
        assert!(network.controller.connections()[0].is_multipath);
    }
}

#[test]
fn a_size_that_was_only_learned_takes_mptcp_from_nobody() {
    let config = Config {
        tcp_fallback: true,
        learn_sizes: true,
        ..Config::default()
    };
    let mut network = Network::birzeit("earliest-completion", config);
    for port in 1000..1003 {
        network.syn(0, port, 1, vec![capable(None, None)]);
        network.run(100 * MILLISECOND);
        for _ in 0..10 {
            network.data(1, [80, port], 0);
        }
        network.run(20 * SECOND);
    }
    let connections = network.controller.connections();
    let last = connections.last().expect("a connection");
    assert!(last.expected_bytes.is_some_and(|bytes| bytes < 10_000));
    assert_eq!(syns(&network, 1), [true; 3]);
}

#[test]
fn ipv6_is_no_different() {
    let size = TransferSize {
        server: "fd00::2".parse().expect("an address"),
        port: 80,
        bytes: 10_000,
    };
    let config = Config {
        tcp_fallback: true,
        sizes: vec![size],
        ..Config::default()
    };
    let mut network = Network::birzeit("earliest-completion", config);
    let client = network.add_host(1, 15, "fd00::1");
    let server = network.add_host(2, 15, "fd00::2");
    network.syn(client, 1000, server, vec![capable(None, None)]);
    network.run(200 * MILLISECOND);
    assert_eq!(syns(&network, server), [false]);
    assert!(!network.controller.connections()[0].is_multipath);
}

#[test]
fn one_that_is_sent_again_before_the_rules_are_there_goes_on_in_the_same_way() {
    let mut network = network(true, 10_000);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(MILLISECOND);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(syns(&network, 1), [false; 2]);
    assert_eq!(falls_back(&network), 1);
}

#[test]
fn one_that_comes_when_the_rules_are_gone_is_decided_anew() {
    let mut network = network(true, 10_000);
    silence(&mut network);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(20 * SECOND);
    assert_eq!(network.rules(), 0);
    network.hosts[1].is_alive = true;
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(syns(&network, 1), [false]);
    assert_eq!(falls_back(&network), 2);
}

/// The first SYN is lost behind the switches; the next one meets the rules, and the server answers it as
/// one of MPTCP. Then it is that.
#[test]
fn one_that_meets_the_rules_keeps_its_option_and_the_connection_is_known_by_the_answer() {
    let mut network = network(true, 10_000);
    silence(&mut network);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(SECOND);
    network.hosts[1].is_alive = true;
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(syns(&network, 1), [true]);
    let connections = network.controller.connections();
    assert_eq!(connections.len(), 1);
    assert!(connections[0].is_multipath);
    // Its joins are told to it: this one is refused, as it is too short for another path.
    network.syn(2, 1000, 3, vec![join(Key(network.hosts[1].key).token())]);
    network.run(100 * MILLISECOND);
    let refused = |event: &Event| matches!(event, Event::Refused { connection: 1, .. });
    assert!(network.events().iter().any(refused));
}

#[test]
fn an_unusual_syn_is_left_alone() {
    let mut network = network(true, 10_000);
    // With the key of its sender, as version 0 had it.
    network.syn(0, 1000, 1, vec![capable(Some(1), None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(syns(&network, 1), [true]);
    assert_eq!(falls_back(&network), 0);
}
