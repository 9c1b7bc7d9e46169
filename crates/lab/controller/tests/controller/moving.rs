//! Subflows that leave a path that has become slow.

use mptcplab_controller::{Config, Event, PortRef, TransferSize};
use mptcplab_wire::keys::Key;

use crate::host::{capable, join};
use crate::network::{MILLISECOND, Network, SECOND};

const FIRST: [u64; 3] = [3, 4, 2];
const THIRD: [u64; 3] = [7, 8, 2];
/// Bytes of data of a segment.
const SEGMENT: u64 = 1000;
/// Segments that are on their way to a port when it becomes slow.
const ON_THEIR_WAY: u64 = 20;

/// The network with 10 MB to come from the server.
fn network(policy: &str) -> Network {
    let size = TransferSize {
        server: "10.0.0.2".parse().unwrap(),
        port: 80,
        bytes: 10_000_000,
    };
    let config = Config {
        sizes: vec![size],
        ..Config::default()
    };
    Network::birzeit(policy, config)
}

/// A connection with a subflow on the first path, and one on the third.
fn connected(policy: &str) -> Network {
    let mut network = network(policy);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    let token = Key(network.hosts[1].key).token();
    let client = if policy == "disjoint" { 4 } else { 2 };
    if policy == "disjoint" {
        network.syn(2, 1000, 3, vec![join(token)]);
    }
    network.syn(client, 1000, client + 1, vec![join(token)]);
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0).last(), Some(&THIRD.to_vec()));
    network
}

/// The path of the first subflow has 0.5 Mbit/s from now on, in the direction to the client.
fn strangle(network: &mut Network) {
    let now_ns = network.now_ns;
    network.queues.set(now_ns, PortRef::new(2, 1), 500_000);
    for _ in 0..ON_THEIR_WAY {
        network.data(1, [80, 1000], 0);
    }
}

/// The server sends for so many seconds, as fast as 0.5 Mbit/s over the first subflow, and 4 Mbit/s over
/// another one. Gives the number of segments by the first.
fn send(network: &mut Network, seconds: u64, another: Option<usize>) -> u64 {
    let mut sent = 0;
    for turn in 0..seconds * 500 {
        if turn % 9 == 0 {
            network.data(1, [80, 1000], 0);
            sent += 1;
        }
        if let Some(client) = another {
            network.data(client + 1, [80, 1000], client);
        }
        network.run(2 * MILLISECOND);
    }
    network.run(20 * MILLISECOND);
    sent
}

fn moves(network: &Network) -> usize {
    let is_move = |event: &&Event| matches!(event, Event::Moved { .. });
    network.events().iter().filter(is_move).count()
}

#[test]
fn a_subflow_leaves_a_strangled_path_and_loses_nothing_on_it() {
    let mut network = connected("earliest-completion");
    let before = network.hosts[0].received.len() as u64;
    strangle(&mut network);
    let mut sent = send(&mut network, 3, Some(2));
    assert_eq!(moves(&network), 0);
    sent += send(&mut network, 2, Some(2));
    assert_eq!(network.paths(0), [THIRD, THIRD]);
    // It stays there: the first path is remembered as slow.
    sent += send(&mut network, 20, Some(2));
    assert_eq!(moves(&network), 1);
    let received = network.hosts[0].received.len() as u64;
    assert_eq!(received - before, ON_THEIR_WAY + sent);
    // Its rules of the first path age, and end nothing; then all ends.
    assert_eq!(network.rules_of(3), 0);
    assert_eq!(network.rules_of(7), 4);
    network.run(12 * SECOND);
    assert_eq!((network.rules(), network.detours()), (0, 0));
    let ends = network.events();
    let closed = ends.iter().filter_map(|event| match event {
        Event::Closed { bytes, .. } => Some(*bytes),
        _ => None,
    });
    let data = SEGMENT * (ON_THEIR_WAY + sent + 25 * 500);
    let told: Vec<u64> = closed.collect();
    assert!(
        matches!(told[..], [bytes] if bytes.abs_diff(data) < data / 20),
        "{told:?} of {data}"
    );
}

#[test]
fn a_subflow_goes_back_where_a_switch_does_not_take_the_rules_of_the_better_path() {
    let mut network = network("earliest-completion");
    network.syn(0, 1000, 1, Vec::new());
    network.run(100 * MILLISECOND);
    // No rule comes to a switch of the third path any more.
    network.deaf = Some(8);
    strangle(&mut network);
    let sent = ON_THEIR_WAY + send(&mut network, 12, None);
    assert_eq!(network.paths(0), [FIRST]);
    // There and back, and no second time.
    assert_eq!(moves(&network), 2);
    let events = network.events();
    let failed = |event: &&Event| matches!(event, Event::NotInstalled { .. });
    assert_eq!(events.iter().filter(failed).count(), 1);
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Closed { .. }))
    );
    assert_eq!((network.rules_of(3), network.rules_of(7)), (2, 0));
    network.run(5 * SECOND);
    let data = network.hosts[0].received.iter();
    let arrived = data.filter(|segment| !segment.payload.is_empty()).count() as u64;
    // Data that was sent while the rules of both paths were mixed may be lost, and is sent again by TCP.
    assert!(sent - arrived < sent / 10, "{arrived} of {sent}");
}

#[test]
fn a_subflow_stays_where_its_path_is_not_slow() {
    let mut network = connected("earliest-completion");
    send(&mut network, 6, Some(2));
    assert_eq!(moves(&network), 0);
}

/// The server sends 100 segments at once, which 10 Mbit/s carry in 84 ms, whenever frames of discovery
/// are about to pass, and nothing in between.
#[test]
fn a_path_that_is_busy_now_and_then_is_not_slow() {
    let mut network = connected("earliest-completion");
    let at = PortRef::new(2, 1);
    let now_ns = network.now_ns;
    network.queues.set(now_ns, at, 10_000_000);
    for _ in 0..8 {
        let next_ns = network.now_ns / SECOND * SECOND + SECOND - 10 * MILLISECOND;
        network.run(next_ns - network.now_ns);
        for _ in 0..100 {
            network.data(1, [80, 1000], 0);
        }
        network.run(500 * MILLISECOND);
    }
    let links = network.controller.link_views();
    let rates: Vec<_> = links
        .filter(|link| link.link.from == at)
        .map(|link| link.rate_bps)
        .collect();
    assert_eq!(rates, [Some(10_000_000)]);
    assert_eq!(moves(&network), 0);
}

#[test]
fn other_policies_leave_subflows_where_they_are() {
    let mut network = connected("disjoint");
    strangle(&mut network);
    send(&mut network, 6, Some(4));
    assert_eq!(moves(&network), 0);
    assert_eq!(network.paths(0)[0], FIRST);
}

#[test]
fn a_connection_of_tcp_takes_a_free_path() {
    let mut network = network("earliest-completion");
    network.syn(0, 1000, 1, Vec::new());
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [FIRST]);
    strangle(&mut network);
    send(&mut network, 5, None);
    assert_eq!(network.paths(0), [THIRD]);
    assert_eq!(moves(&network), 1);
}
