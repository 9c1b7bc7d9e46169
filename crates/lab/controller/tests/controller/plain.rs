//! TCP, UDP and IPv6 as every network has them.

use mptcplab_controller::Config;
use mptcplab_wire::keys::Key;

use crate::host::{capable, join};
use crate::network::{MILLISECOND, Network, SECOND};

/// A datagram between two hosts.
fn datagram(network: &Network, from: usize, to: usize) -> Vec<u8> {
    let (from, to) = (&network.hosts[from], &network.hosts[to]);
    let mut frame = [&to.mac[..], &from.mac, &[8, 0, 0x45, 0, 0, 36]].concat();
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0]);
    for ip in [from.ip, to.ip] {
        let std::net::IpAddr::V4(v4) = ip else {
            panic!("IPv4");
        };
        frame.extend(v4.octets());
    }
    frame.extend([4, 0, 8, 0, 0, 16, 0, 0]);
    frame.extend([7; 8]);
    frame
}

#[test]
fn tcp_takes_the_shortest_path_and_both_directions_have_rules() {
    let mut network = Network::birzeit("disjoint", Config::default());
    network.syn(0, 1000, 1, Vec::new());
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [[3, 4, 2]]);
    assert!(!network.controller.connections()[0].is_multipath);
    assert_eq!(network.rules(), 8);
    assert_eq!(network.hosts[1].received.len(), 2);
}

#[test]
fn datagrams_have_one_rule_a_direction_whatever_their_ports() {
    let mut network = Network::birzeit("disjoint", Config::default());
    let frame = datagram(&network, 0, 1);
    network.send(0, frame.clone());
    network.run(100 * MILLISECOND);
    assert_eq!(network.rules(), 4);
    let before = network.hosts[1].frames;
    let mut other = frame;
    other[35] = 9;
    network.send(0, other);
    network.run(100 * MILLISECOND);
    assert_eq!(network.hosts[1].frames, before + 1);
    assert_eq!(network.rules(), 4);
    network.run(12 * SECOND);
    assert_eq!(network.rules(), 0);
}

#[test]
fn ipv6_is_served_as_ipv4_is() {
    let mut network = Network::birzeit("disjoint", Config::default());
    network.hosts.clear();
    for index in 0..3 {
        network.add_host(1, 11 + index, &format!("fd00::{index}:1"));
        network.add_host(2, 11 + index, &format!("fd00::{index}:2"));
    }
    for host in &mut network.hosts {
        host.mac[4] = host.at.port as u8;
    }
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    let token = Key(network.hosts[1].key).token();
    network.syn(2, 1000, 3, vec![join(token)]);
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [[3, 4, 2], [5, 6, 2]]);
    assert_eq!(network.hosts[1].received.len(), 2);
    assert_eq!(network.controller.topology().hosts.len(), 4);
}

#[test]
fn a_server_that_speaks_tcp_alone_makes_the_connection_one_of_tcp() {
    let mut network = Network::birzeit("disjoint", Config::default());
    network.hosts[1].is_alive = false;
    let gratuitous = network.hosts[1].arp_request("10.0.0.2");
    network.send(1, gratuitous);
    network.run(100 * MILLISECOND);
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert!(network.controller.connections()[0].is_multipath);
    let to = (network.hosts[0].ip, 1000).into();
    let flags = crate::host::flags(true, true);
    let answer = network.hosts[1].segment(to, 80, flags, Vec::new());
    let frame = network.hosts[1].frame(network.hosts[0].mac, answer);
    network.send(1, frame);
    network.run(100 * MILLISECOND);
    assert!(!network.controller.connections()[0].is_multipath);
}

#[test]
fn two_hosts_of_one_switch_need_no_link() {
    let mut network = Network::birzeit("disjoint", Config::default());
    let other = network.add_host(1, 17, "10.0.0.7");
    network.syn(0, 1000, other, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [Vec::<u64>::new()]);
    assert_eq!(network.hosts[other].received.len(), 2);
}
