//! Links that fail, hosts that move, rules that end, switches that come back.

use mptcplab_controller::{Config, ConnectionId, Event, PortRef};
use mptcplab_wire::keys::Key;

use crate::host::{capable, join};
use crate::network::{MILLISECOND, Network, SECOND};

/// A connection with a subflow on each of the first two paths.
pub(crate) fn connected() -> Network {
    let mut network = Network::birzeit("disjoint", Config::default());
    network.syn(0, 1000, 1, vec![capable(None, None)]);
    network.run(100 * MILLISECOND);
    let token = Key(network.hosts[1].key).token();
    network.syn(2, 1000, 3, vec![join(token)]);
    network.run(100 * MILLISECOND);
    assert_eq!(network.paths(0), [[3, 4, 2], [5, 6, 2]]);
    network
}

/// Whether a segment of data comes through.
fn reaches(network: &mut Network, from: usize, to: usize) -> bool {
    let before = network.hosts[to].received.len();
    network.data(from, [1000, 80], to);
    network.run(20 * MILLISECOND);
    network.hosts[to].received.len() == before + 1
}

#[test]
fn a_failed_link_moves_its_subflows_within_a_control_round_trip() {
    let mut network = connected();
    network.set_link(PortRef::new(3, 2), false);
    // The news, and the rules: once each way.
    network.run(2 * MILLISECOND);
    assert_eq!(network.paths(0), [[7, 8, 2], [5, 6, 2]]);
    assert!(reaches(&mut network, 0, 1));
    assert!(reaches(&mut network, 2, 3));
    // No rule is left on the old path but in the switches that the new one has, too.
    assert_eq!((network.rules_of(3), network.rules_of(4)), (0, 0));
    // Another one: two subflows share what is left.
    network.set_link(PortRef::new(1, 3), false);
    network.run(20 * MILLISECOND);
    assert_eq!(network.paths(0), [[5, 6, 2], [5, 6, 2]]);
    assert!(reaches(&mut network, 0, 1));
    // And none: they wait for a link to come back.
    network.set_link(PortRef::new(6, 2), false);
    network.run(20 * MILLISECOND);
    assert!(!reaches(&mut network, 0, 1));
    network.set_link(PortRef::new(3, 2), true);
    network.run(50 * MILLISECOND);
    assert!(reaches(&mut network, 0, 1));
    assert!(reaches(&mut network, 2, 3));
}

#[test]
fn a_link_is_gone_when_three_frames_of_discovery_are_missed() {
    let mut network = connected();
    network.cut(PortRef::new(3, 2));
    network.run(2_500 * MILLISECOND);
    assert_eq!(network.controller.topology().links.len(), 18);
    network.run(1_600 * MILLISECOND);
    assert_eq!(network.controller.topology().links.len(), 16);
}

#[test]
fn rules_are_gone_when_a_connection_is_silent_and_come_back_when_it_goes_on() {
    let mut network = connected();
    assert_eq!(network.rules(), 16);
    network.run(12 * SECOND);
    assert_eq!((network.rules(), network.detours()), (0, 0));
    let closed = |event: &Event| matches!(event, Event::Closed { .. });
    assert_eq!(
        network
            .events()
            .iter()
            .filter(|event| closed(event))
            .count(),
        1
    );
    // Remembered: the second subflow finds its own path again.
    assert!(reaches(&mut network, 2, 3));
    assert_eq!(network.rules_of(5), 2);
    assert_eq!(network.rules_of(3), 0);
    network.run(100 * SECOND);
    assert!(network.controller.connections().is_empty());
    assert_eq!((network.rules(), network.detours()), (0, 0));
}

#[test]
fn a_switch_that_comes_back_gets_its_rules_again() {
    let mut network = connected();
    let mut out = Vec::new();
    let now_ns = network.now_ns;
    network
        .controller
        .disconnect(now_ns, ConnectionId(5), &mut out);
    network.take_controller(out);
    network.run(100 * MILLISECOND);
    // Its rules go on.
    assert!(reaches(&mut network, 2, 3));
    network.begin_anew(5);
    network.run(100 * MILLISECOND);
    assert_eq!(network.rules_of(5), 2);
    assert!(reaches(&mut network, 2, 3));
    assert_eq!(network.controller.topology().links.len(), 18);
}

#[test]
fn a_host_whose_port_went_down_may_come_by_another_one() {
    let mut network = connected();
    network.set_link(PortRef::new(1, 11), false);
    network.run(10 * MILLISECOND);
    network.hosts[0].at = PortRef::new(1, 15);
    network.run(SECOND);
    let question = network.hosts[0].arp_request("10.0.0.2");
    network.send(0, question);
    network.run(SECOND);
    let hosts = network.controller.topology().hosts;
    assert!(hosts.contains(&("10.0.0.1".parse().unwrap(), PortRef::new(1, 15))));
    assert!(reaches(&mut network, 0, 1));
}

#[test]
fn a_controller_that_was_stopped_waits_for_what_it_has_not_taken() {
    let mut network = Network::birzeit("disjoint", Config::default());
    network.run(3 * SECOND);
    let is_end = |event: &Event| matches!(event, Event::SwitchDown(_) | Event::LinkDown(_));
    for stopped in [3, 10, 100] {
        network.now_ns += stopped * SECOND;
        network.run(3 * SECOND);
        let ends = network
            .events()
            .iter()
            .filter(|event| is_end(event))
            .count();
        assert_eq!(ends, 0, "after {stopped} s");
    }
    // A switch that is silent while the controller is at work is gone all the same.
    network.switches.remove(&8);
    network.run(20 * SECOND);
    assert!(network.events().contains(&Event::SwitchDown(8)));
}

#[test]
fn a_silent_switch_is_missed_in_seconds_however_rarely_links_are_looked_for() {
    for discovery_s in [1, 60] {
        let config = Config {
            discovery_interval_ns: discovery_s * SECOND,
            ..Config::default()
        };
        let mut network = Network::birzeit("disjoint", config);
        network.run(30 * SECOND);
        network.switches.remove(&8);
        for seconds in [4, 4] {
            assert!(!network.events().contains(&Event::SwitchDown(8)));
            network.run(seconds * SECOND);
        }
        assert!(network.events().contains(&Event::SwitchDown(8)));
    }
}
