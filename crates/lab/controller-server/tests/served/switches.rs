//! Switches that connect, discovery, and subflows of a connection.

use mptcplab_controller_server::Config;
use mptcplab_wire::keys::Key;

use crate::certificates::Authority;
use crate::host::{capable, join};
use crate::network::Network;
use crate::serving::{Serving, config};

/// Two subflows of a connection find their paths.
pub(crate) fn connect_hosts(network: &mut Network, serving: &Serving) {
    serving.wait("link_up", 3, || network.turn());
    network.syn(0, 1, capable(None, None));
    serving.wait("placed", 1, || network.turn());
    let token = Key(network.hosts[1].key).token();
    // Keys are seen in the third packet of the handshake.
    while network.hosts[1].received.len() < 2 {
        network.turn();
    }
    network.syn(2, 3, join(token));
    serving.wait("placed", 2, || network.turn());
    while network.hosts[3].received.is_empty() {
        network.turn();
    }
    let placed: Vec<String> = serving
        .lines()
        .into_iter()
        .filter(|line| line.starts_with("placed"))
        .collect();
    assert_eq!(
        placed,
        [
            "placed connection=1 subflow=10.0.0.1:1000-10.0.0.2:80 protocol=6 \
             path=0000000000000001:1-0000000000000003:1",
            "placed connection=1 subflow=10.0.1.1:1000-10.0.1.2:80 protocol=6 \
             path=0000000000000001:2-0000000000000002:1,0000000000000002:2-0000000000000003:2",
        ]
    );
}

#[test]
fn subflows_take_disjoint_paths_over_switches_that_connect_by_tcp() {
    let serving = Serving::start(&config());
    let mut network = Network::new();
    (1..=3).for_each(|datapath| network.connect(datapath, &serving, None));
    connect_hosts(&mut network, &serving);
    assert_eq!(serving.count("not_master"), 0);
    let lines = serving.end();
    let ends = lines
        .iter()
        .filter(|line| line.ends_with("reason=\"the controller ends\""));
    assert_eq!(ends.count(), 3, "{lines:#?}");
}

#[test]
fn subflows_take_disjoint_paths_over_switches_that_connect_by_tls() {
    let authority = Authority::new();
    let tls = Some(authority.server());
    let serving = Serving::start(&Config { tls, ..config() });
    let mut network = Network::new();
    for datapath in 1..=3 {
        let client = authority.client(Some(&authority));
        network.connect(datapath, &serving, Some(client));
    }
    connect_hosts(&mut network, &serving);
    serving.end();
}

#[test]
fn a_switch_that_connects_again_is_served_again() {
    let serving = Serving::start(&config());
    let mut network = Network::new();
    (1..=3).for_each(|datapath| network.connect(datapath, &serving, None));
    serving.wait("link_up", 3, || network.turn());
    network.disconnect(2);
    serving.wait("switch_down switch=0000000000000002", 1, || network.turn());
    network.connect(2, &serving, None);
    serving.wait("switch_up switch=0000000000000002", 2, || network.turn());
    // Its generation of masters goes on, too.
    assert_eq!(serving.count("not_master"), 0);
    connect_hosts(&mut network, &serving);
    serving.end();
}

#[test]
fn a_datapath_has_one_channel() {
    let serving = Serving::start(&config());
    let mut network = Network::new();
    network.connect(1, &serving, None);
    serving.wait("switch_up", 1, || network.turn());
    // Another switch that says it is the same.
    let mut other = Network::new();
    other.connect(1, &serving, None);
    serving.wait("channel_closed channel=2", 1, || {
        network.turn();
        other.turn();
    });
    assert!(!other.is_connected(1) || network.is_connected(1));
    assert_eq!(serving.count("switch_down"), 0);
    serving.end();
}

#[test]
fn two_hundred_switches_are_served_at_once() {
    let serving = Serving::start(&config());
    let mut network = Network::of(200);
    (1..=200).for_each(|datapath| network.connect(datapath, &serving, None));
    serving.wait("switch_up", 200, || network.turn());
    connect_hosts(&mut network, &serving);
    assert_eq!(serving.count("channel_closed"), 0);
    serving.end();
}
