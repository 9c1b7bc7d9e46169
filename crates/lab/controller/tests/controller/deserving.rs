//! Joins of connections of unknown size, which wait until the connection has carried enough.

use mptcplab_controller::{Config, Event, Limits};
use mptcplab_wire::keys::Key;

use crate::host::{capable, join};
use crate::network::{MILLISECOND, Network, SECOND};

/// A connection between the first interfaces, on the first path.
fn connected(config: Config) -> Network {
    let mut network = Network::birzeit("earliest-completion", config);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [[3, 4, 2]]);
    network
}

/// A MP_JOIN of another interface of the client.
fn ask(network: &mut Network, client: usize, port: u16) {
    let token = Key(network.hosts[1].key).token();
    network.syn(client, port, client + 1, vec![join(token)]);
    network.run(20 * MILLISECOND);
}

/// The server sends so many segments of 1,000 bytes, ten a millisecond.
fn send(network: &mut Network, segments: usize) {
    for _ in 0..segments / 10 {
        for _ in 0..10 {
            network.data(1, [80, 1000], 0);
        }
        network.run(MILLISECOND);
    }
}

/// Times of events of a kind.
fn times(network: &Network, is_kind: impl Fn(&Event) -> bool) -> Vec<u64> {
    let events = network.controller.events_since(0);
    let own = events.filter(|(_, _, event)| is_kind(event));
    own.map(|(_, at_ns, _)| at_ns).collect()
}

fn is_placed(event: &Event) -> bool {
    matches!(event, Event::Placed { .. })
}

fn is_waiting(event: &Event) -> bool {
    matches!(event, Event::Waits { .. })
}

fn is_refused(event: &Event) -> bool {
    matches!(event, Event::Refused { .. })
}

#[test]
fn a_join_waits_until_the_connection_has_carried_enough() {
    let mut network = connected(Config::default());
    ask(&mut network, 2, 1000);
    ask(&mut network, 4, 1000);
    assert_eq!(times(&network, is_waiting).len(), 2);
    send(&mut network, 20);
    network.run(SECOND);
    assert_eq!(network.paths(0).len(), 1);
    assert!(network.hosts[3].received.is_empty());

    send(&mut network, 3_000);
    network.run(2 * SECOND);
    assert_eq!(network.paths(0), [[3, 4, 2], [7, 8, 2]]);
    // The SYN went on: it and the ACK are there, and the client has the answer.
    assert_eq!(network.hosts[3].received.len(), 2);
    assert_eq!(network.hosts[2].received.len(), 1);
    // The path that is left would only hold it up.
    assert_eq!(times(&network, is_refused).len(), 1);
    assert!(network.hosts[4].received[0].flags.rst);

    // It was placed by the answer to one of the questions for counters: a round trip of control
    // after it. The questions come after 50 ms or a quarter of the connection's age.
    let opened_ns = network.controller.connections()[0].opened_ns;
    let placed_ns = times(&network, is_placed)[1];
    let mut asked_ns = times(&network, is_waiting)[0];
    while asked_ns < placed_ns {
        asked_ns += (50 * MILLISECOND).max((asked_ns - opened_ns) / 4);
        if placed_ns == asked_ns + 2 * MILLISECOND {
            return;
        }
    }
    panic!("placed at {placed_ns}, asked at {asked_ns}");
}

#[test]
fn a_join_that_is_sent_again_waits_once() {
    let mut network = connected(Config::default());
    for _ in 0..4 {
        ask(&mut network, 2, 1000);
    }
    send(&mut network, 3_000);
    network.run(2 * SECOND);
    assert_eq!(times(&network, is_waiting).len(), 1);
    let syns = network.hosts[3].received.iter();
    assert_eq!(syns.filter(|segment| segment.flags.syn).count(), 1);
}

#[test]
fn a_size_that_is_told_is_not_waited_for() {
    for (bytes, paths) in [(10_000, 1), (5_000_000, 2)] {
        let size = mptcplab_controller::TransferSize {
            server: "10.0.0.2".parse().unwrap(),
            port: 80,
            bytes,
        };
        let mut network = connected(Config {
            sizes: vec![size],
            ..Config::default()
        });
        ask(&mut network, 2, 1000);
        assert_eq!(network.paths(0).len(), paths);
        assert!(times(&network, is_waiting).is_empty());
    }
}

#[test]
fn joins_that_wait_go_with_their_connection() {
    let mut network = connected(Config::default());
    ask(&mut network, 2, 1000);
    let waiting = network.controller.table_entries();
    network.run(100 * SECOND);
    assert!(network.controller.connections().is_empty());
    // Hosts are left, and the timers of echo requests, discovery, load and its review.
    let hosts = network.controller.topology().hosts.len();
    let left = network.controller.table_entries();
    assert_eq!(left, hosts + 4, "{waiting} before");
}

#[test]
fn a_port_has_few_joins_that_wait() {
    let limits = Limits {
        held_packets: 32,
        ..Limits::default()
    };
    let mut network = connected(Config {
        limits,
        ..Config::default()
    });
    for port in 1000..1010 {
        ask(&mut network, 2, port);
    }
    assert_eq!(times(&network, is_waiting).len(), 2);
    assert_eq!(times(&network, is_refused).len(), 8);
    ask(&mut network, 4, 1000);
    assert_eq!(times(&network, is_waiting).len(), 3);
}

/// The connection goes on without deserving another path; the host has given its join up.
#[test]
fn a_join_that_is_not_sent_again_is_given_up() {
    let limits = Limits {
        held_packets: 16,
        ..Limits::default()
    };
    let mut network = connected(Config {
        limits,
        ..Config::default()
    });
    ask(&mut network, 2, 1000);
    ask(&mut network, 2, 1001);
    assert_eq!(times(&network, is_refused).len(), 1);
    for _ in 0..30 {
        network.data(1, [80, 1000], 0);
        network.run(3 * SECOND);
    }
    ask(&mut network, 2, 1002);
    assert_eq!(times(&network, is_waiting).len(), 2);
}
