//! Hosts that lie, forge and flood.

use mptcplab_controller::{Config, Event, Limits, PortRef};

use crate::host::capable;
use crate::network::{MILLISECOND, Network, SECOND};

const TARGET: &str = "10.0.0.2";

/// Hosts that know each other, and one that is hostile, at the port 15 of the switch 7.
fn network() -> (Network, usize) {
    let mut network = Network::birzeit("disjoint", Config::default());
    let hostile = network.add_host(7, 15, "10.0.0.66");
    for host in [0, 1] {
        let gratuitous = network.hosts[host].arp_request(&network.hosts[host].ip.to_string());
        network.send(host, gratuitous);
    }
    network.run(100 * MILLISECOND);
    (network, hostile)
}

fn place_of(network: &Network, ip: &str) -> Option<PortRef> {
    let ip: std::net::IpAddr = ip.parse().expect("an address");
    let hosts = network.controller.topology().hosts;
    hosts.iter().find(|(own, _)| *own == ip).map(|(_, at)| *at)
}

fn count(network: &Network, is_one: impl Fn(&Event) -> bool) -> usize {
    network
        .events()
        .iter()
        .filter(|event| is_one(event))
        .count()
}

#[test]
fn an_address_in_use_cannot_be_taken_over() {
    let (mut network, hostile) = network();
    // Its own interface with another's address, and another's interface.
    network.hosts[hostile].ip = TARGET.parse().unwrap();
    let claim = network.hosts[hostile].arp_request(TARGET);
    network.hosts[hostile].mac = network.hosts[1].mac;
    let copy = network.hosts[hostile].arp_request(TARGET);
    network.hosts[hostile].is_alive = false;
    for _ in 0..20 {
        network.send(hostile, claim.clone());
        network.send(hostile, copy.clone());
        network.run(SECOND);
        assert_eq!(place_of(&network, TARGET), Some(PortRef::new(2, 11)));
    }
    // The holder was asked rarely.
    assert!(network.hosts[1].frames < 10, "{}", network.hosts[1].frames);
    // Packets in its name go nowhere.
    network.syn(hostile, 1000, 0, vec![capable(None, None)]);
    network.run(SECOND);
    assert!(network.hosts[0].received.is_empty());
    // When the holder is silent, it may be another's.
    network.hosts[1].is_alive = false;
    network.run(20 * SECOND);
    network.send(hostile, claim.clone());
    network.run(SECOND);
    network.send(hostile, claim);
    network.run(SECOND);
    assert_eq!(place_of(&network, TARGET), Some(PortRef::new(7, 15)));
}

#[test]
fn frames_of_discovery_that_a_host_makes_or_sends_again_are_no_links() {
    let (mut network, hostile) = network();
    network.record_lldp(PortRef::new(7, 15));
    network.run(3 * SECOND);
    let recorded = network.recorded.clone();
    assert!(!recorded.is_empty());
    let links = network.controller.topology().links.len();
    for frame in recorded {
        // Its own port's, by this port and by another one; another switch's and port's.
        network.inject(PortRef::new(7, 15), frame.clone());
        network.inject(PortRef::new(4, 15), frame.clone());
        network.run(10 * MILLISECOND);
        for (place, byte) in [(24, 1), (28, 1), (50, 0xff)] {
            let mut forged = frame.clone();
            forged[place] = byte;
            network.send(hostile, forged);
        }
        network.run(10 * MILLISECOND);
    }
    assert_eq!(network.controller.topology().links.len(), links);
    assert!(count(&network, |event| matches!(event, Event::LinkRefused(_))) > 0);
    // A flood of them is dropped by the switch, and no link grows old of it.
    for _ in 0..20 {
        for _ in 0..1_000 {
            network.send(
                hostile,
                vec![1, 0x80, 0xc2, 0, 0, 0x0e, 2, 2, 2, 2, 2, 2, 0x88, 0xcc],
            );
        }
        network.run(SECOND);
    }
    assert_eq!(network.controller.topology().links.len(), links);
}

#[test]
fn a_port_with_hosts_becomes_no_link() {
    let (mut network, hostile) = network();
    let question = network.hosts[hostile].arp_request("10.0.0.1");
    network.send(hostile, question);
    network.run(100 * MILLISECOND);
    // A wire of its own between two of its ports.
    network.join_ports(PortRef::new(7, 15), PortRef::new(4, 15));
    let links = network.controller.topology().links.len();
    network.run(5 * SECOND);
    assert_eq!(network.controller.topology().links.len(), links);
}

/// A flood from one port, and a connection from another one in its middle.
#[test]
fn a_flood_of_syns_blocks_its_port_and_nothing_else() {
    let limits = Limits {
        connections: 500,
        packet_ins_by_port: 100,
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let mut network = Network::birzeit("disjoint", config);
    network.syn(2, 999, 3, vec![capable(None, None)]);
    network.run(SECOND);
    let mut ports = (0..u16::MAX).cycle();
    for round in 0..200 {
        for port in ports.by_ref().take(100) {
            network.syn(0, port, 1, vec![capable(None, None)]);
        }
        network.run(50 * MILLISECOND);
        assert!(network.controller.connections().len() <= 500);
        if round == 100 {
            network.syn(4, 1000, 5, vec![capable(None, None)]);
        }
    }
    assert!(count(&network, |event| matches!(event, Event::PortBlocked(_))) > 5);
    assert_eq!(network.hosts[5].received.len(), 2);
    let connections = network.controller.connections();
    let of = |ip: &str| {
        let ip: std::net::IpAddr = ip.parse().unwrap();
        let own = connections
            .iter()
            .filter(|one| one.subflows[0].flow.source == ip);
        own.count()
    };
    // Those of the others are remembered.
    assert_eq!((of("10.0.1.1"), of("10.0.2.1")), (1, 1));
}

#[test]
fn damaged_segments_do_no_harm_and_open_nothing() {
    let (mut network, _) = network();
    let destination = (network.hosts[1].ip, 80).into();
    let segment = network.hosts[0].segment(
        destination,
        1000,
        crate::host::flags(true, false),
        vec![capable(None, None)],
    );
    let whole = network.hosts[0].frame(network.hosts[1].mac, segment);
    for length in 0..whole.len() {
        network.send(0, whole[..length].to_vec());
        network.run(MILLISECOND);
    }
    assert!(network.controller.connections().is_empty());
    // An option without length: what follows is not read, so that it is TCP.
    let mut without_length = whole.clone();
    without_length[55] = 0;
    network.send(0, without_length);
    network.run(100 * MILLISECOND);
    let connections = network.controller.connections();
    assert_eq!(connections.len(), 1);
    assert!(!connections[0].is_multipath);
}
