//! Echo requests through hosts, routers and links.

use crate::support::{Lab, MS, Path, SECOND};
use mptcplab_link::Rate;
use mptcplab_plan::{Protocol, Workload};
use serde_json::Value;

const PING: Workload = Workload::Ping {
    interval_ns: 100 * MS,
    count: 3,
    payload_bytes: 56,
};

/// Whether a round trip has what the path takes, and twice what a host takes to handle a packet.
fn is_seen_after(path_ns: u64, rtt_ns: &Value) -> bool {
    let hosts_ns = rtt_ns.as_u64().unwrap() - path_ns;
    (2 * 17_000..=2 * 45_000).contains(&hosts_ns)
}

#[test]
fn an_echo_takes_both_delays_and_both_serialisations() {
    let mut lab = Lab::with_paths(1, &[Path::new(8_400_000, 10 * MS)]);
    lab.traffic(Protocol::Tcp, PING);
    let run = lab.run();
    // 84 bytes at 8.4 Mbit/s are 80 µs.
    let path_ns = 2 * (10 * MS + 80_000);
    let latencies = run.table("latencies");
    let rows: Vec<_> = latencies
        .iter()
        .map(|row| {
            (
                row["sequence"].as_u64(),
                row["t_ns"].as_u64(),
                is_seen_after(path_ns, &row["rtt_ns"]),
            )
        })
        .collect();
    let row = |n| (Some(n), Some(n * 100 * MS), true);
    assert_eq!(rows, [row(0), row(1), row(2)]);
}

#[test]
fn the_run_ends_with_the_last_answer() {
    let mut lab = Lab::with_paths(1, &[Path::new(8_400_000, 10 * MS)]);
    lab.traffic(Protocol::Tcp, PING);
    let run = lab.run();
    let last = run.table("events").into_iter().next_back().unwrap();
    assert_eq!(last["label"], "ended");
    let path_ns = 200 * MS + 2 * (10 * MS + 80_000);
    assert!(is_seen_after(path_ns, &last["t_ns"]));
    assert_eq!(run.rows.last().unwrap()["record"], "done");
}

/// A link of limited rate has a shortest delay, one of unlimited rate has none.
#[test]
fn a_packet_takes_five_microseconds_at_the_least() {
    for (rate, path_ns) in [(1_000_000_000, 2 * (672 + 5_000)), (0, 0)] {
        let mut lab = Lab::with_paths(1, &[Path::new(1_000_000_000, 0)]);
        for direction in &mut lab.plan.links[0].config.directions {
            direction.rate = match rate {
                0 => Rate::Unlimited,
                bits_per_second => Rate::Fixed { bits_per_second },
            };
        }
        lab.traffic(Protocol::Tcp, PING);
        for row in lab.run().table("latencies") {
            assert!(is_seen_after(path_ns, &row["rtt_ns"]), "{row}");
        }
    }
}

#[test]
fn lost_requests_are_given_up_two_seconds_after_the_last() {
    let mut lab = Lab::with_paths(1, &[Path::new(8_400_000, 10 * MS)]);
    lab.plan.links[0].config.directions[0].up = false;
    lab.traffic(Protocol::Tcp, PING);
    let run = lab.run();
    let latencies = run.table("latencies");
    assert_eq!(latencies.len(), 3);
    assert!(latencies.iter().all(|row| row["rtt_ns"] == Value::Null));
    let last = run.table("events").into_iter().next_back().unwrap();
    assert_eq!(last["t_ns"], 200 * MS + 2 * SECOND);
}

/// Client – r0 – … – server.
fn chain(routers: usize) -> Lab {
    let mut lab = Lab::new(1);
    let (client, server) = (lab.node("client", false), lab.node("server", false));
    let mut before = client;
    for number in 0..routers {
        let router = lab.node(&format!("r{number}"), true);
        let link = lab.link(
            before,
            router,
            &format!("l{number}"),
            Path::new(1_000_000_000, MS).config(),
        );
        assert_eq!(link, number);
        before = router;
    }
    lab.link(
        before,
        server,
        "last",
        Path::new(1_000_000_000, MS).config(),
    );
    lab.add_routes();
    lab
}

#[test]
fn a_packet_passes_as_many_routers_as_its_hop_limit_allows() {
    for (routers, answered) in [(63, true), (64, false)] {
        let mut lab = chain(routers);
        lab.traffic(Protocol::Tcp, PING);
        let run = lab.run();
        let all = run
            .table("latencies")
            .iter()
            .all(|row| row["rtt_ns"].is_u64());
        assert_eq!(all, answered, "{routers} routers");
    }
}

#[test]
fn a_source_address_leaves_by_its_own_interface() {
    let mut lab = Lab::with_paths(
        1,
        &[
            Path::new(1_000_000_000, MS),
            Path::new(1_000_000_000, 5 * MS),
        ],
    );
    let source = lab.address(1, 0);
    let target = lab.address(1, 1);
    let ping = lab.traffic(Protocol::Tcp, PING);
    (ping.source, ping.target) = (Some(source), target);
    // From the address of one interface there is no way to the network of the other.
    let other = lab.traffic(Protocol::Tcp, PING);
    other.source = Some(source);
    let run = lab.run();
    let answered = |name: &str| {
        let rows = run.table("latencies").into_iter();
        rows.filter(|row| row["traffic"] == name && row["rtt_ns"].is_u64())
            .count()
    };
    assert_eq!((answered("t0"), answered("t1")), (3, 0));
}

#[test]
fn a_cable_that_is_pulled_takes_the_addresses_and_gives_them_back_after_their_delay() {
    use mptcplab_plan::Action;
    let mut lab = Lab::with_paths(1, &[Path::new(1_000_000_000, MS)]);
    lab.plan.nodes[0].interfaces[0].address_delay_ns = 300 * MS;
    lab.traffic(
        Protocol::Tcp,
        Workload::Ping {
            interval_ns: 100 * MS,
            count: 20,
            payload_bytes: 56,
        },
    );
    for (at_ns, up) in [(550 * MS, false), (850 * MS, true)] {
        let change = mptcplab_link::LinkChange {
            up: Some(up),
            ..Default::default()
        };
        lab.event(
            at_ns,
            Action::Link {
                link: 0,
                change,
                carrier: Some(up),
            },
        );
    }
    let run = lab.run();
    let events: Vec<_> = run
        .table("events")
        .into_iter()
        .filter(|row| row["kind"] == "address" && row["subject"] == "client.p0")
        .map(|row| {
            (
                row["t_ns"].as_u64().unwrap(),
                row["label"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        events,
        [
            (0, "10.0.0.1 is usable"),
            (550 * MS, "10.0.0.1 has gone"),
            (1150 * MS, "10.0.0.1 is usable"),
        ]
    );
    let mut lost: Vec<_> = run
        .table("latencies")
        .into_iter()
        .filter(|row| row["rtt_ns"] == Value::Null)
        .map(|row| row["sequence"].as_u64().unwrap())
        .collect();
    lost.sort_unstable();
    assert_eq!(lost, [6, 7, 8, 9, 10, 11]);
}
