//! Handshakes in which other segments come before those that have keys.

use mptcplab_controller::Config;
use mptcplab_wire::Flags;
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::MptcpOption;

use crate::host::{capable, flags, join};
use crate::network::{MILLISECOND, Network};

/// A segment of a host of the network to another one.
fn send(
    network: &mut Network,
    [from, to]: [usize; 2],
    ports: [u16; 2],
    flags: Flags,
    options: Vec<MptcpOption>,
) {
    let destination = (network.hosts[to].ip, ports[1]).into();
    let segment = network.hosts[from].segment(destination, ports[0], flags, options);
    let frame = network.hosts[from].frame(network.hosts[to].mac, segment);
    network.send(from, frame);
    network.run(20 * MILLISECOND);
}

/// Three interfaces of a client and of a server that answer nothing themselves.
fn network() -> Network {
    let mut network = Network::birzeit("disjoint", Config::default());
    for index in 0..network.hosts.len() {
        let gratuitous = network.hosts[index].arp_request(&network.hosts[index].ip.to_string());
        network.send(index, gratuitous);
        network.hosts[index].is_alive = false;
    }
    network.run(100 * MILLISECOND);
    network
}

/// The port is used again, and the server still has the old connection: it answers the SYN with a
/// challenge ACK (RFC 5961, section 4), the client resets that, and sends its SYN again.
#[test]
fn keys_are_found_behind_a_challenge_ack() {
    let mut network = network();
    let (client, server) = ([0, 1], [1, 0]);
    let (to, back) = ([1000, 80], [80, 1000]);
    send(
        &mut network,
        client,
        to,
        flags(true, false),
        vec![capable(None, None)],
    );
    send(&mut network, server, back, flags(false, true), Vec::new());
    let reset = Flags {
        rst: true,
        ..Flags::default()
    };
    send(&mut network, client, to, reset, Vec::new());
    send(
        &mut network,
        client,
        to,
        flags(true, false),
        vec![capable(None, None)],
    );
    let keys = [0, 1].map(|host| network.hosts[host].key);
    send(
        &mut network,
        server,
        back,
        flags(true, true),
        vec![capable(Some(keys[1]), None)],
    );
    send(&mut network, client, to, flags(false, true), Vec::new());
    send(
        &mut network,
        client,
        to,
        flags(false, true),
        vec![capable(Some(keys[0]), Some(keys[1]))],
    );
    // Joins of both ends are told to the connection at once.
    send(
        &mut network,
        [2, 3],
        to,
        flags(true, false),
        vec![join(Key(keys[1]).token())],
    );
    send(
        &mut network,
        [5, 4],
        back,
        flags(true, false),
        vec![join(Key(keys[0]).token())],
    );
    let connections = network.controller.connections();
    assert_eq!(connections.len(), 1);
    assert_eq!(connections[0].subflows.len(), 3);
}

#[test]
fn segments_without_keys_are_copied_sixteen_times() {
    let mut network = network();
    send(
        &mut network,
        [0, 1],
        [1000, 80],
        flags(true, false),
        vec![capable(None, None)],
    );
    network.sent.clear();
    for count in 1..=40 {
        send(
            &mut network,
            [0, 1],
            [1000, 80],
            flags(false, true),
            Vec::new(),
        );
        // The rule is changed once: it copies no more.
        let changes = network.sent.get(&14).copied().unwrap_or(0);
        assert_eq!(changes, usize::from(count >= 16), "{count}");
    }
}
