//! Switches and their controller.

use std::collections::BTreeSet;
use std::net::IpAddr;

use mptcplab_plan::{
    Controller, EndpointFlags, Interface, InterfaceRef, Link, Prefix, Protocol, Sizes, Switch, Way,
    Workload,
};
use serde_json::Value;

use crate::support::{Lab, MS, Path, Run, SECOND};

pub(crate) const MEGABIT: u64 = 1_000_000;
/// Addresses of the client's interfaces, and of the server's only one.
pub(crate) const CLIENT: [&str; 3] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
pub(crate) const SERVER: &str = "10.0.0.9";

/// A client by three links and a server by one on two switches, between which are paths of these
/// rates over one more switch each; their links are `path0-1`, `path0-2`, `path1-1` and so on.
pub(crate) fn lab(policy: &str, rates: &[u64], client: [&str; 3], server: &str) -> Lab {
    let mut lab = Lab::new(1);
    let (client_node, server_node) = (lab.node("client", false), lab.node("server", false));
    let [left, right] = ["left", "right"].map(|name| switch(&mut lab, name));
    let fast = 1000 * MEGABIT;
    for (number, address) in client.iter().enumerate() {
        let ends = [(client_node, Some(*address)), (left, None)];
        join(&mut lab, &format!("client{number}"), ends, fast);
    }
    join(
        &mut lab,
        "server",
        [(right, None), (server_node, Some(server))],
        fast,
    );
    for (number, &rate) in rates.iter().enumerate() {
        let middle = switch(&mut lab, &format!("middle{number}"));
        let [first, second] = [1, 2].map(|half| format!("path{number}-{half}"));
        join(&mut lab, &first, [(left, None), (middle, None)], rate);
        join(&mut lab, &second, [(middle, None), (right, None)], rate);
    }
    lab.plan.controller = Some(Controller {
        policy: Some(policy.to_owned()),
        policy_source: None,
        argv: None,
        address: None,
        discovery_ns: 0,
        link_probe_ns: 1_000_000_000,
        tcp_fallback: false,
        channel_delay_ns: 0,
        channel_rate_bps: None,
        sizes: Sizes::Told,
    });
    for interface in &mut lab.plan.nodes[client_node].interfaces {
        interface.endpoint = Some(EndpointFlags {
            subflow: true,
            ..EndpointFlags::default()
        });
    }
    lab
}

/// Paths of 10, 0.1 and 6 Mbit/s, as in the Birzeit study.
pub(crate) fn three_paths(policy: &str) -> Lab {
    lab(
        policy,
        &[10 * MEGABIT, MEGABIT / 10, 6 * MEGABIT],
        CLIENT,
        SERVER,
    )
}

fn switch(lab: &mut Lab, name: &str) -> usize {
    let node = lab.node(name, false);
    lab.plan.nodes[node].switch = Some(Switch {
        datapath_id: node as u64,
        is_open_vswitch: false,
    });
    node
}

/// Joins two nodes, hosts among them by an interface with this address.
fn join(lab: &mut Lab, name: &str, ends: [(usize, Option<&str>); 2], rate_bps: u64) {
    let ends = ends.map(|(node, address)| {
        let interfaces = &mut lab.plan.nodes[node].interfaces;
        let addresses = address.map(|address| Prefix {
            address: address.parse().unwrap(),
            length: 24,
        });
        interfaces.push(Interface {
            name: name.to_owned(),
            addresses: Vec::from_iter(addresses),
            gateways: Vec::new(),
            mtu: 1500,
            address_delay_ns: 0,
            endpoint: None,
        });
        let interface = interfaces.len() - 1;
        InterfaceRef { node, interface }
    });
    lab.plan.links.push(Link {
        name: name.to_owned(),
        ends,
        config: Path::new(rate_bps, MS).config(),
        offload: false,
        middleboxes: Vec::new(),
    });
}

pub(crate) fn link(lab: &Lab, name: &str) -> usize {
    let mut links = lab.plan.links.iter();
    links.position(|link| link.name == name).unwrap()
}

/// Decisions of the controller about subflows: the address of the client, and how.
pub(crate) fn decisions(run: &Run) -> Vec<(String, String)> {
    let events = run.table("events").into_iter();
    let own = events.filter(|row| row["kind"] == "controller");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    own.map(|row| {
        let subject = text(&row["subject"]);
        (
            subject.split(':').next().unwrap().to_owned(),
            text(&row["label"]),
        )
    })
    .collect()
}

/// Paths that carried more than the controller's own frames.
fn used(run: &Run) -> BTreeSet<String> {
    let samples = run.table("link_samples").into_iter();
    let busy = samples.filter(|row| row["delivered_bytes"].as_u64().unwrap() > 20_000);
    let names = busy.map(|row| row["link"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("path")).collect()
}

fn connected_ns(run: &Run) -> u64 {
    run.transfer()["connected_ns"].as_u64().unwrap()
}

pub(crate) fn over(path: usize) -> String {
    format!("over path{path}-1, path{path}-2")
}

#[test]
fn tcp_takes_the_first_path() {
    let mut lab = three_paths("shortest");
    lab.bulk_bytes(Protocol::Tcp, Way::Down, 300_000);
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 300_000);
    assert_eq!(used(&run), ["path0-1", "path0-2"].map(str::to_owned).into());
    assert_eq!(decisions(&run), [(CLIENT[0].to_owned(), over(0))]);
    assert_eq!(run.warnings(), Vec::<&str>::new());
}

#[test]
fn each_subflow_takes_the_next_disjoint_path() {
    let rates = [10 * MEGABIT, 2 * MEGABIT, 6 * MEGABIT];
    let mut lab = lab("disjoint", &rates, CLIENT, SERVER);
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 2_000_000);
    let run = lab.run();
    assert_eq!(run.transfer()["joins"], 2);
    let expected = [0, 1, 2].map(|number| (CLIENT[number].to_owned(), over(number)));
    assert_eq!(decisions(&run), expected);
    assert_eq!(used(&run).len(), 6);
}

#[test]
fn a_path_whose_bandwidth_is_far_below_is_left_out() {
    let mut lab = three_paths("mpsshetn");
    // Of this size the gap may be 0.6: 6 of 10 Mbit/s are near enough, 0.1 are not.
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 150_000);
    let run = lab.run();
    assert_eq!(run.transfer()["joins"], 1);
    let expected = [
        (CLIENT[0].to_owned(), over(0)),
        (CLIENT[1].to_owned(), over(2)),
        (CLIENT[2].to_owned(), "refused".to_owned()),
    ];
    assert_eq!(decisions(&run), expected);
}

#[test]
fn setting_up_a_subflow_takes_two_round_trips_to_the_controller() {
    let at = |channel_delay_ns, channel_rate_bps| {
        let mut lab = three_paths("shortest");
        let controller = lab.plan.controller.as_mut().unwrap();
        controller.channel_delay_ns = channel_delay_ns;
        controller.channel_rate_bps = channel_rate_bps;
        lab.bulk_bytes(Protocol::Tcp, Way::Down, 100_000);
        let run = lab.run();
        assert_eq!(run.warnings(), Vec::<&str>::new());
        connected_ns(&run)
    };
    // The packet, its rules, their confirmation, and the packet back.
    assert_eq!(at(3 * MS, None) - at(0, None), 4 * 3 * MS);
    assert!(at(0, Some(MEGABIT)) > at(0, None) + MS);
}

/// Two transfers, the second when the rules of the first have long gone.
fn ends_of_two_transfers(change: impl FnOnce(&mut Controller)) -> Vec<bool> {
    let mut lab = lab("shortest", &[10 * MEGABIT], CLIENT, SERVER);
    change(lab.plan.controller.as_mut().unwrap());
    for start_ns in [SECOND, 30 * SECOND] {
        lab.bulk_bytes(Protocol::Mptcp, Way::Down, 100_000).start_ns = start_ns;
    }
    lab.plan.time_limit_ns = 60 * SECOND;
    let run = lab.run();
    let transfers = run.transfers().into_iter();
    transfers.map(|row| row["bytes"] == 100_000).collect()
}

#[test]
fn a_channel_that_was_closed_is_opened_again() {
    // Echo replies stand behind packets that the controller gets, until it gives the switch up.
    let slow = |controller: &mut Controller| controller.channel_rate_bps = Some(64_000);
    assert_eq!(ends_of_two_transfers(slow), [true, true]);
}

#[test]
fn messages_under_way_when_the_run_begins_arrive_in_time() {
    let far = |controller: &mut Controller| controller.channel_delay_ns = 600 * MS;
    assert_eq!(ends_of_two_transfers(far), [true, true]);
}

#[test]
fn a_full_link_is_there() {
    let mut lab = lab("disjoint", &[MEGABIT / 10, 10 * MEGABIT], CLIENT, SERVER);
    lab.bulk_for(Protocol::Tcp, Way::Up, 40 * SECOND);
    let run = lab.run();
    assert_eq!(decisions(&run), [(CLIENT[0].to_owned(), over(0))]);
}

#[test]
fn pings_pass_switches_over_both_families() {
    for (client, server) in [
        (CLIENT, SERVER),
        (["fd00::1", "fd00::2", "fd00::3"], "fd00::9"),
    ] {
        let mut lab = lab("shortest", &[10 * MEGABIT], client, server);
        for node in &mut lab.plan.nodes {
            for interface in &mut node.interfaces {
                let is_ipv6 = |prefix: &&mut Prefix| prefix.address.is_ipv6();
                for prefix in interface.addresses.iter_mut().filter(is_ipv6) {
                    prefix.length = 64;
                }
            }
        }
        let target: IpAddr = server.parse().unwrap();
        let ping = Workload::Ping {
            interval_ns: 10 * MS,
            count: 3,
            payload_bytes: 56,
        };
        lab.traffic(Protocol::Tcp, ping).target = target;
        let run = lab.run();
        let latencies = run.table("latencies");
        assert_eq!(latencies.len(), 3);
        for row in latencies {
            // Four links of a millisecond, there and back.
            let rtt_ns = row["rtt_ns"].as_u64().expect("an answer");
            assert!((8 * MS..9 * MS).contains(&rtt_ns), "{rtt_ns}");
        }
    }
}

#[test]
fn one_seed_is_one_run() {
    let mut lab = three_paths("disjoint");
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 500_000);
    assert_eq!(lab.simulate().0, lab.simulate().0);
}
