//! Each workload but bulk, over real sockets.

mod traffic_world;

use std::path::Path;

use mptcplab_engine_kernel::plan::{Protocol, Requests, Traffic, Way, Workload};
use mptcplab_engine_kernel::traffic::{self, Ended};
use serde_json::Value;
use traffic_world::{World, inside, traffic};

const LONG: u64 = 60_000_000_000;
const BOTH: [Protocol; 2] = [Protocol::Tcp, Protocol::Mptcp];

fn run(world: &World, flow: &Traffic) {
    let flows = std::slice::from_ref(flow);
    assert_eq!(
        traffic::start(flows, &world.context).unwrap().wait(LONG),
        Ended::All
    );
    assert_eq!(world.rows("warning"), Vec::<Value>::new());
}

fn ipv6(mut flow: Traffic) -> Traffic {
    flow.source = Some("fd01::2".parse().unwrap());
    flow.target = "fd01::1".parse().unwrap();
    flow
}

#[test]
fn http_downloads_one_after_the_other_each_on_its_connection() {
    if !inside("http_downloads_one_after_the_other_each_on_its_connection") {
        return;
    }
    for protocol in BOTH {
        for addresses in [|flow| flow, ipv6] {
            let world = World::new();
            let workload = Workload::Http {
                bytes: 200_000,
                count: 3,
            };
            run(&world, &addresses(traffic(protocol, workload)));
            let transfers = world.rows("transfers");
            assert_eq!(transfers.len(), 3);
            let mut last_end = 0;
            for (index, transfer) in transfers.iter().enumerate() {
                assert_eq!(transfer["index"], index);
                assert_eq!(transfer["error"], Value::Null);
                assert_eq!(transfer["bytes"], 200_000);
                assert_eq!(transfer["way"], "down");
                assert_eq!(transfer["fallback"] == false, protocol == Protocol::Mptcp);
                let start = transfer["start_ns"].as_u64().unwrap();
                assert!(start >= last_end);
                last_end = transfer["end_ns"].as_u64().unwrap();
                assert!(last_end > start);
            }
        }
    }
}

#[test]
fn requests_are_answered_in_turn() {
    if !inside("requests_are_answered_in_turn") {
        return;
    }
    for protocol in BOTH {
        let world = World::new();
        let (request_bytes, response_bytes) = (100, 5_000);
        let workload = Workload::RequestResponse(Requests {
            request_bytes,
            response_bytes,
            interval_ns: 0,
            count: 20,
        });
        run(&world, &traffic(protocol, workload));
        let [transfer] = &world.rows("transfers")[..] else {
            panic!("one transfer")
        };
        assert_eq!(transfer["error"], Value::Null);
        assert_eq!(transfer["bytes"], 20 * 5_000);
        let latencies = world.rows("latencies");
        let sequences: Vec<_> = latencies
            .iter()
            .map(|row| row["sequence"].as_u64())
            .collect();
        assert_eq!(sequences, (0..20).map(Some).collect::<Vec<_>>());
        assert!(latencies.iter().all(|row| row["rtt_ns"].as_u64() > Some(0)));
        assert!(
            latencies
                .iter()
                .all(|row| row["kind"] == "request_response")
        );
    }
}

#[test]
fn echoes_come_back_over_ipv4_and_ipv6() {
    if !inside("echoes_come_back_over_ipv4_and_ipv6") {
        return;
    }
    for addresses in [|flow| flow, ipv6] {
        let world = World::new();
        let workload = Workload::Ping {
            interval_ns: 1_000_000,
            count: 10,
            payload_bytes: 56,
        };
        run(&world, &addresses(traffic(Protocol::Tcp, workload)));
        let latencies = world.rows("latencies");
        assert_eq!(latencies.len(), 10);
        assert!(
            latencies
                .iter()
                .all(|row| row["kind"] == "ping" && !row["rtt_ns"].is_null())
        );
    }
}

#[test]
fn an_echo_without_an_answer_is_lost() {
    if !inside("an_echo_without_an_answer_is_lost") {
        return;
    }
    let world = World::new();
    world.sysctl(1, "ipv4/icmp_echo_ignore_all", "1");
    let workload = Workload::Ping {
        interval_ns: 1_000_000,
        count: 3,
        payload_bytes: 0,
    };
    run(&world, &traffic(Protocol::Tcp, workload));
    let latencies = world.rows("latencies");
    assert_eq!(latencies.len(), 3);
    assert!(latencies.iter().all(|row| row["rtt_ns"].is_null()));
}

#[test]
fn every_echo_is_kept_also_where_their_numbers_wrap() {
    if !inside("every_echo_is_kept_also_where_their_numbers_wrap") {
        return;
    }
    let world = World::new();
    world.sysctl(1, "ipv4/icmp_echo_ignore_all", "1");
    const COUNT: u32 = 65_540;
    let workload = Workload::Ping {
        interval_ns: 0,
        count: COUNT,
        payload_bytes: 0,
    };
    run(&world, &traffic(Protocol::Tcp, workload));
    let latencies = world.rows("latencies");
    assert!(latencies.iter().all(|row| row["rtt_ns"].is_null()));
    let sequences = latencies
        .iter()
        .map(|row| row["sequence"].as_u64().unwrap());
    let mut sequences: Vec<_> = sequences.collect();
    sequences.sort_unstable();
    assert!(sequences.into_iter().eq(0..u64::from(COUNT)));
}

/// An interpreter that has mptcplab and its dependencies.
fn python() -> Option<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.venv/bin/python");
    own.exists().then(|| own.to_string_lossy().into_owned())
}

#[test]
fn files_go_both_ways_over_ftp() {
    let Some(python) = python() else {
        return println!("skipped files_go_both_ways_over_ftp: there is no .venv");
    };
    if !inside("files_go_both_ways_over_ftp") {
        return;
    }
    // SAFETY: the process runs this test only, and has not started a thread that reads it.
    unsafe { std::env::set_var("MPTCPLAB_PYTHON", python) };
    for protocol in BOTH {
        for way in [Way::Up, Way::Down] {
            let world = World::new();
            world.add_endpoint();
            // A join needs time; over fast interfaces the file may be through before.
            let slow = world.slow_down("100mbit");
            let workload = Workload::Ftp {
                way,
                bytes: 4_000_000,
                count: 2,
            };
            run(&world, &traffic(protocol, workload));
            let transfers = world.rows("transfers");
            assert_eq!(transfers.len(), 2, "{transfers:?}");
            for transfer in &transfers {
                assert_eq!(transfer["error"], Value::Null, "{transfer}");
                assert_eq!(transfer["bytes"], 4_000_000);
                if slow {
                    assert_eq!(transfer["joins"] == 1, protocol == Protocol::Mptcp);
                }
                assert_eq!(
                    transfer["fallback"] == false,
                    protocol == Protocol::Mptcp,
                    "{transfer}"
                );
                assert_eq!(transfer["token"].is_u64(), protocol == Protocol::Mptcp);
                let times = ["start_ns", "connected_ns", "first_byte_ns", "end_ns"];
                assert!(
                    times
                        .map(|name| transfer[name].as_u64().unwrap())
                        .is_sorted()
                );
            }
            let delivered = world.rows("deliveries");
            let bytes: u64 = delivered
                .iter()
                .map(|row| row["bytes"].as_u64().unwrap())
                .sum();
            assert_eq!(bytes, 8_000_000);
        }
    }
}
