//! Paths of connections and of the subflows that join them.

use mptcplab_controller::{Config, Event, TransferSize};
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::{MptcpOption, Reset};

use crate::host::{capable, join};
use crate::network::{MILLISECOND, Network};

/// Sizes of the transfers of the document's server, port 80.
fn config(bytes: u64) -> Config {
    let size = TransferSize {
        server: "10.0.0.2".parse().unwrap(),
        port: 80,
        bytes,
    };
    Config {
        sizes: vec![size],
        ..Config::default()
    }
}

/// A connection between the first interfaces, and joins from the other two.
fn connect(network: &mut Network) {
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    let token = Key(network.hosts[1].key).token();
    for client in [2, 4] {
        network.syn(client, 1000, client + 1, vec![join(token)]);
        network.run(100 * MILLISECOND);
    }
}

#[test]
fn disjoint_gives_each_subflow_the_next_path() {
    let mut network = Network::birzeit("disjoint", config(10_000));
    connect(&mut network);
    let expected = [[3, 4, 2], [5, 6, 2], [7, 8, 2]];
    assert_eq!(network.paths(0), expected);
    // The handshakes went through: SYN and ACK at the server, SYN/ACK at the client.
    for host in &network.hosts {
        let expected = if host.at.datapath == 2 { 2 } else { 1 };
        assert_eq!(host.received.len(), expected, "{host:?}");
    }
}

#[test]
fn shortest_gives_all_the_same_path() {
    let mut network = Network::birzeit("shortest", config(10_000));
    connect(&mut network);
    assert_eq!(network.paths(0), [[3, 4, 2]; 3]);
}

#[test]
fn mpsshetn_refuses_what_is_beyond_the_threshold_of_the_size() {
    for (bytes, expected) in [(10_000, 1), (50_000, 2), (100_000, 2), (500_000, 2)] {
        let mut network = Network::birzeit("mpsshetn", config(bytes));
        connect(&mut network);
        let paths = network.paths(0);
        assert_eq!(paths.len(), expected, "{bytes}");
        assert_eq!(paths[0], [3, 4, 2]);
        assert!(paths.get(1).is_none_or(|path| path == &[7, 8, 2]));
        // The clients that were refused have a reset, as of the server.
        let refused = network.hosts.iter().filter(|host| {
            host.received.iter().any(|segment| {
                let reset = MptcpOption::Reset(Reset {
                    transient: false,
                    reason: 3,
                });
                segment.flags.rst
                    && segment.acknowledgement == 1001
                    && segment.options.mptcp[..] == [reset]
            })
        });
        assert_eq!(refused.count(), 3 - expected);
    }
}

#[test]
fn a_connection_adds_two_round_trips_of_control_to_its_first_packet() {
    let mut network = Network::birzeit("disjoint", config(10_000));
    // Hosts are known, so that none is asked for.
    for index in 0..6 {
        let gratuitous = network.hosts[index].arp_request(&network.hosts[index].ip.to_string());
        network.send(index, gratuitous);
    }
    network.run(100 * MILLISECOND);
    network.sent.clear();
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    // To the controller, rules and their confirmation, the packet: four times one way; three links.
    network.run(4 * MILLISECOND + 6 * MILLISECOND - 1);
    assert!(network.hosts[1].received.is_empty());
    network.run(1);
    assert_eq!(network.hosts[1].received.len(), 1);
    // Four switches, two rules each and a barrier, and the packet. Beside these ten rules of ways
    // round links, which nothing waits for, and six groups with a barrier each.
    let sent = |kind: u8| network.sent.get(&kind).copied().unwrap_or(0);
    assert_eq!((sent(14), sent(20), sent(13)), (8 + 10, 4 + 6, 1));
    assert_eq!(sent(15), 6);
    // The answer and all that follows need none.
    network.run(6 * MILLISECOND);
    assert_eq!(network.hosts[0].received.len(), 1);
}

#[test]
fn tokens_tell_joins_apart_whose_addresses_are_the_same() {
    let mut network = Network::birzeit("disjoint", config(10_000));
    let mut tokens = Vec::new();
    for port in 0..50_u16 {
        let key = 0x5000 + u64::from(port);
        network.hosts[1].key = key;
        tokens.push(Key(key).token());
        network.syn(0, 1000 + port, 1, vec![capable(None, None)]);
        network.run(50 * MILLISECOND);
    }
    for (port, token) in tokens.iter().enumerate().rev() {
        network.syn(2, 2000 + port as u16, 3, vec![join(*token)]);
    }
    network.run(100 * MILLISECOND);
    let connections = network.controller.connections();
    assert_eq!(connections.len(), 50);
    for (index, connection) in connections.iter().enumerate() {
        let ports: Vec<u16> = connection
            .subflows
            .iter()
            .map(|subflow| subflow.flow.source_port)
            .collect();
        assert_eq!(ports, [1000 + index as u16, 2000 + index as u16]);
    }
}

#[test]
fn a_join_before_its_token_waits_for_it() {
    let mut network = Network::birzeit("disjoint", config(10_000));
    let token = Key(network.hosts[1].key).token();
    network.syn(2, 1000, 3, vec![join(token)]);
    network.run(20 * MILLISECOND);
    assert!(network.controller.connections().is_empty());
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [[3, 4, 2], [5, 6, 2]]);
    let refused = |event: &Event| matches!(event, Event::Refused { .. });
    assert!(!network.events().iter().any(refused));
}
