//! Bulk transfers over real sockets.

mod traffic_world;

use std::collections::HashSet;
use std::process::Command;

use mptcplab_engine_kernel::plan::{Protocol, Way, Workload};
use mptcplab_engine_kernel::traffic::{self, Ended};
use serde_json::Value;
use traffic_world::{World, inside, traffic};

const LONG: u64 = 60_000_000_000;
const SECOND: u64 = 1_000_000_000;
/// Transfers until one is not disturbed.
const ATTEMPTS: usize = 3;

fn sized(way: Way, streams: u32, bytes: u64) -> Workload {
    Workload::Bulk {
        way,
        streams,
        duration_ns: None,
        bytes: Some(bytes),
        rate_bps: None,
    }
}

fn lasting(way: Way, duration_ns: u64) -> Workload {
    Workload::Bulk {
        way,
        streams: 1,
        duration_ns: Some(duration_ns),
        bytes: None,
        rate_bps: None,
    }
}

fn delivered(rows: &[Value]) -> u64 {
    rows.iter().map(|row| row["bytes"].as_u64().unwrap()).sum()
}

#[test]
fn a_size_is_delivered_both_ways_over_both_protocols() {
    if !inside("a_size_is_delivered_both_ways_over_both_protocols") {
        return;
    }
    for protocol in [Protocol::Tcp, Protocol::Mptcp] {
        let world = World::new();
        let mut flow = traffic(protocol, sized(Way::Both, 2, 3_000_000));
        flow.server_congestion_control = "reno".to_owned();
        let running = traffic::start(&[flow], &world.context).unwrap();
        assert_eq!(running.wait(LONG), Ended::All);
        let transfers = world.rows("transfers");
        assert_eq!(transfers.len(), 4);
        for transfer in &transfers {
            assert_eq!(transfer["error"], Value::Null);
            assert_eq!(transfer["bytes"], 3_000_000);
            assert_eq!(transfer["joins"].is_null(), protocol == Protocol::Tcp);
            assert_eq!(transfer["token"].is_null(), protocol == Protocol::Tcp);
            assert_ne!(transfer["fallback"], true);
            let times = ["start_ns", "connected_ns", "first_byte_ns", "end_ns"];
            let times = times.map(|name| transfer[name].as_u64().unwrap());
            assert!(times.is_sorted(), "{times:?}");
        }
        assert_eq!(delivered(&world.rows("deliveries")), 12_000_000);
        let finals = world.rows("subflow_samples");
        assert_eq!(
            finals.len(),
            8,
            "one subflow at either end of each transfer"
        );
        assert!(
            finals
                .iter()
                .all(|row| row["final"] == true && row["interface"] == "wifi")
        );
        for row in &finals {
            let own = if row["node"] == "client" {
                "cubic"
            } else {
                "reno"
            };
            assert_eq!(row["congestion_control"], own, "{row}");
        }
        let connections = world.rows("connection_samples").len();
        assert_eq!(connections, if protocol == Protocol::Mptcp { 8 } else { 0 });
    }
}

#[test]
fn a_duration_ends_the_transfer_exactly_then() {
    if !inside("a_duration_ends_the_transfer_exactly_then") {
        return;
    }
    for way in [Way::Up, Way::Down] {
        // The kernel closes the subflows once both ends are; on a busy machine one may be gone
        // before the final states are read.
        let complete = (0..ATTEMPTS).any(|_| finals_of_three_seconds(way) == 2);
        assert!(complete, "{way:?}: no final state of the second subflow");
    }
}

/// Runs a transfer of three seconds, checks what is exact, and gives how many subflows of the
/// client have a final state.
fn finals_of_three_seconds(way: Way) -> usize {
    let world = World::new();
    world.add_endpoint();
    // Long enough for the join on a busy machine.
    let mut flow = traffic(Protocol::Mptcp, lasting(way, 3 * SECOND));
    flow.expected_joins = 1;
    assert_eq!(
        traffic::start(&[flow], &world.context).unwrap().wait(LONG),
        Ended::All
    );
    let [transfer] = &world.rows("transfers")[..] else {
        panic!("one transfer")
    };
    let (start, end) = (transfer["start_ns"].as_u64().unwrap(), &transfer["end_ns"]);
    assert_eq!(end.as_u64(), Some(start + 3 * SECOND));
    assert_eq!(transfer["error"], Value::Null);
    assert_eq!(transfer["joins"], 1);
    let deliveries = world.rows("deliveries");
    assert_eq!(Some(delivered(&deliveries)), transfer["bytes"].as_u64());
    assert!(
        deliveries
            .iter()
            .all(|row| row["t_ns"].as_u64() < end.as_u64())
    );
    let finals = world.rows("subflow_samples");
    let client: Vec<_> = finals
        .iter()
        .filter(|row| row["node"] == "client")
        .collect();
    assert!(client.iter().all(|row| row["token"] == transfer["token"]));
    let interfaces: HashSet<_> = client.iter().map(|row| row["interface"].as_str()).collect();
    assert_eq!(interfaces.len(), client.len(), "{finals:?}");
    client.len()
}

#[test]
fn nothing_is_left_under_way_when_the_time_is_over() {
    if !inside("nothing_is_left_under_way_when_the_time_is_over") {
        return;
    }
    for (protocol, way) in [(Protocol::Tcp, Way::Up), (Protocol::Mptcp, Way::Down)] {
        let world = World::new();
        if !world.slow_down("2mbit") {
            return println!("skipped: this machine has no slow interfaces");
        }
        let flow = traffic(protocol, lasting(way, SECOND));
        let running = traffic::start(&[flow], &world.context).unwrap();
        assert_eq!(running.wait(LONG), Ended::All);
        for node in &world.context.nodes {
            let list = || Command::new("ss").args(["-Htan"]).output().unwrap().stdout;
            let sockets = String::from_utf8(node.netns.run(list).unwrap()).unwrap();
            assert_eq!(sockets, "", "on {}", node.name);
        }
        // 250,000 bytes, headers included, and the burst.
        let bytes = world.rows("transfers")[0]["bytes"].as_u64().unwrap();
        assert!((1..=270_000).contains(&bytes), "{bytes}");
    }
}
