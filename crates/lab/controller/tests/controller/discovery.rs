//! Links, their delays and rates, and hosts.

use mptcplab_controller::{Config, PortRef};

use crate::network::{LINK_NS, MILLISECOND, Network, SECOND};

#[test]
fn twenty_switches_are_found_in_less_than_two_seconds() {
    // A ring with chords.
    let mut links = Vec::new();
    for one in 1..=20_u64 {
        links.push([one, 1, one % 20 + 1, 2]);
        links.push([one, 3, (one + 6) % 20 + 1, 4]);
    }
    let mut network = Network::new(Config::default(), "shortest", 20, 6, &links);
    network.run(100 * MILLISECOND);
    let topology = network.controller.topology();
    assert_eq!(topology.switches.len(), 20);
    assert!(topology.switches.iter().all(|switch| switch.is_connected));
    assert_eq!(topology.links.len(), 80);
}

#[test]
fn delays_are_those_of_the_links_without_the_control_channels() {
    let mut network = Network::birzeit("shortest", Config::default());
    network.run(3 * SECOND);
    let links = network.controller.topology().links;
    assert_eq!(links.len(), 18);
    for link in links {
        let delay_ns = link.delay_ns.expect("it was measured");
        // The frame's own time on a link of 0.1 Mbit/s is not part of this network.
        assert!(delay_ns <= LINK_NS, "{delay_ns}");
        let at_most = link.rate_bps.is_some_and(|rate| rate >= 6_000_000);
        assert!(!at_most || delay_ns > LINK_NS - MILLISECOND, "{delay_ns}");
    }
}

#[test]
fn rates_are_known_by_either_end() {
    let network = Network::birzeit("shortest", Config::default());
    let links = network.controller.topology().links;
    let rate = |from: u64, to: u64| {
        let between = |link: &&mptcplab_controller::LinkView| {
            (link.link.from.datapath, link.link.to.datapath) == (from, to)
        };
        links.iter().find(between).and_then(|link| link.rate_bps)
    };
    assert_eq!(rate(1, 3), Some(10_000_000));
    assert_eq!(rate(3, 1), Some(10_000_000));
    assert_eq!(rate(2, 6), Some(100_000));
}

#[test]
fn hosts_are_found_by_questions_that_no_link_has() {
    let mut network = Network::birzeit("shortest", Config::default());
    let question = network.hosts[0].arp_request("10.0.0.2");
    network.send(0, question);
    network.run(100 * MILLISECOND);
    let hosts = network.controller.topology().hosts;
    let expected = [
        ("10.0.0.1".parse().unwrap(), PortRef::new(1, 11)),
        ("10.0.0.2".parse().unwrap(), PortRef::new(2, 11)),
    ];
    assert_eq!(hosts, expected);
    // The question went once to each other host, and the answer to the one that asked.
    let frames: Vec<usize> = network.hosts.iter().map(|host| host.frames).collect();
    assert_eq!(frames[0], 1);
    assert_eq!(frames[1], 1);
    // Known by now: the controller answers itself.
    let question = network.hosts[1].arp_request("10.0.0.1");
    network.send(1, question);
    network.run(100 * MILLISECOND);
    assert_eq!(network.hosts[1].frames, 2);
    assert_eq!(network.hosts[0].frames, 1);
}

#[test]
fn link_local_addresses_of_switches_keep_no_link_from_being_found() {
    let (one, other) = (PortRef::new(1, 1), PortRef::new(2, 1));
    for (ip, expected) in [("fe80::1", 2), ("10.0.0.1", 0)] {
        let mut network = Network::new(Config::default(), "shortest", 2, 2, &[]);
        network.add_host(1, 1, ip);
        let to = network.add_host(2, 2, if expected > 0 { "fe80::2" } else { "10.0.0.2" });
        network.run(SECOND);
        network.syn(0, 1000, to, Vec::new());
        network.run(SECOND);
        let topology = network.controller.topology();
        let held = topology.hosts.iter().filter(|(_, at)| *at == one);
        assert_eq!((held.count(), topology.links.len()), (1, 0), "{ip}");
        network.join_ports(one, other);
        network.run(2 * SECOND);
        let topology = network.controller.topology();
        assert_eq!(topology.links.len(), expected, "{ip}");
        let held = topology.hosts.iter().filter(|(_, at)| *at == one);
        assert_eq!(held.count() == 0, expected > 0, "{ip}");
    }
}
