//! Records of traffic that fails.

mod traffic_world;

use std::time::Duration;

use mptcplab_engine_kernel::plan::{Protocol, Traffic, Way, Workload};
use mptcplab_engine_kernel::traffic::{self, Ended};
use serde_json::Value;
use traffic_world::{World, inside, traffic};

const LONG: u64 = 60_000_000_000;
const MILLISECOND: u64 = 1_000_000;

fn bulk(protocol: Protocol, duration_ns: Option<u64>) -> Traffic {
    let bytes = if duration_ns.is_none() {
        Some(u64::MAX)
    } else {
        None
    };
    traffic(
        protocol,
        Workload::Bulk {
            way: Way::Up,
            streams: 1,
            duration_ns,
            bytes,
            rate_bps: None,
        },
    )
}

fn only_transfer(world: &World) -> Value {
    let [transfer] = &world.rows("transfers")[..] else {
        panic!("one transfer")
    };
    transfer.clone()
}

fn warning(world: &World) -> String {
    let [warning] = &world.rows("warning")[..] else {
        panic!("one warning, not {:?}", world.rows("warning"))
    };
    warning["text"].as_str().unwrap().to_owned()
}

#[test]
fn an_unknown_congestion_control_is_refused_by_name() {
    if !inside("an_unknown_congestion_control_is_refused_by_name") {
        return;
    }
    let world = World::new();
    let flow = bulk(Protocol::Tcp, Some(MILLISECOND));
    let (mut at_client, mut at_server) = (flow.clone(), flow);
    at_client.congestion_control = "none-such".to_owned();
    at_server.server_congestion_control = "none-such".to_owned();
    for flow in [at_client, at_server] {
        let error = traffic::start(&[flow], &world.context)
            .err()
            .unwrap()
            .to_string();
        let expected = "traffic flow: this kernel has no congestion control \"none-such\"; it has ";
        assert!(
            error.starts_with(expected) && error.contains("reno"),
            "{error}"
        );
    }
}

#[test]
fn a_connection_without_an_answer_says_so() {
    if !inside("a_connection_without_an_answer_says_so") {
        return;
    }
    let world = World::new();
    world.ip(1, "route add blackhole 10.0.1.2/32");
    let flow = bulk(Protocol::Tcp, Some(200 * MILLISECOND));
    assert_eq!(
        traffic::start(&[flow], &world.context).unwrap().wait(LONG),
        Ended::All
    );
    let transfer = only_transfer(&world);
    let error = "connect to 10.0.1.1:5001 from 10.0.1.2: no answer after 0.2 s";
    assert_eq!(transfer["error"], error);
    assert_eq!(transfer["connected_ns"], Value::Null);
    assert_eq!(transfer["end_ns"], Value::Null);
    assert_eq!(transfer["bytes"], 0);
}

#[test]
fn a_connection_that_never_stood_is_not_taken_for_multipath() {
    if !inside("a_connection_that_never_stood_is_not_taken_for_multipath") {
        return;
    }
    let world = World::new();
    world.ip(1, "route add blackhole 10.0.1.2/32");
    let mut flow = bulk(Protocol::Mptcp, Some(200 * MILLISECOND));
    flow.expected_joins = 1;
    traffic::start(&[flow], &world.context).unwrap().wait(LONG);
    assert_eq!(only_transfer(&world)["joins"], Value::Null);
    let expected = "flow: whether it was multipath is not known: the joins of 1 of 1 connections \
                    are unknown: they never stood, or the kernel's events were lost";
    assert_eq!(warning(&world), expected);
}

#[test]
fn a_source_that_is_not_there_says_so() {
    if !inside("a_source_that_is_not_there_says_so") {
        return;
    }
    let world = World::new();
    let mut flow = bulk(Protocol::Tcp, Some(MILLISECOND));
    flow.source = Some("10.0.3.2".parse().unwrap());
    assert_eq!(
        traffic::start(&[flow], &world.context).unwrap().wait(LONG),
        Ended::All
    );
    let error = "connect to 10.0.1.1:5001 from 10.0.3.2: cannot assign requested address";
    assert_eq!(only_transfer(&world)["error"], error);
}

#[test]
fn a_stop_keeps_what_was_delivered() {
    if !inside("a_stop_keeps_what_was_delivered") {
        return;
    }
    for protocol in [Protocol::Tcp, Protocol::Mptcp] {
        let world = World::new();
        let running = traffic::start(&[bulk(protocol, None)], &world.context).unwrap();
        while world.rows("deliveries").is_empty() {
            std::thread::yield_now();
        }
        world.context.stop.request("interrupted");
        assert_eq!(running.wait(LONG), Ended::Stopped("interrupted"));
        let transfer = only_transfer(&world);
        assert_eq!(transfer["error"], "interrupted");
        let delivered = world.rows("deliveries");
        let bytes: u64 = delivered
            .iter()
            .map(|row| row["bytes"].as_u64().unwrap())
            .sum();
        assert_eq!(transfer["bytes"], bytes);
        assert!(transfer["end_ns"].as_u64() >= delivered.last().unwrap()["t_ns"].as_u64());
        assert_eq!(
            world.rows("subflow_samples").len(),
            2,
            "the final states of both ends"
        );
    }
}

#[test]
fn the_limit_of_the_run_ends_its_traffic() {
    if !inside("the_limit_of_the_run_ends_its_traffic") {
        return;
    }
    let world = World::new();
    let running = traffic::start(&[bulk(Protocol::Tcp, None)], &world.context).unwrap();
    assert_eq!(running.wait(300 * MILLISECOND), Ended::Limit);
    assert_eq!(
        only_transfer(&world)["error"],
        "the time limit of the run was reached"
    );
}

#[test]
fn a_flow_after_the_end_of_the_run_is_reported() {
    if !inside("a_flow_after_the_end_of_the_run_is_reported") {
        return;
    }
    let world = World::new();
    let mut flow = bulk(Protocol::Tcp, None);
    flow.start_ns = LONG;
    let running = traffic::start(&[flow], &world.context).unwrap();
    assert_eq!(running.wait(MILLISECOND), Ended::Limit);
    assert_eq!(warning(&world), "flow: the run ended before it started");
    assert!(world.rows("transfers").is_empty());
}

/// Runs an MPTCP transfer that expects a join, and returns its row and the warning.
fn expect_join(world: &World) -> (Value, String) {
    let mut flow = bulk(Protocol::Mptcp, Some(200 * MILLISECOND));
    flow.expected_joins = 1;
    assert_eq!(
        traffic::start(&[flow], &world.context).unwrap().wait(LONG),
        Ended::All
    );
    let warning = warning(world);
    let start = "flow: NOT MULTIPATH: 1 of 1 connections had fewer joins";
    assert!(warning.starts_with(start), "{warning}");
    (only_transfer(world), warning)
}

#[test]
fn a_missing_join_is_a_loud_warning_with_the_reason() {
    if !inside("a_missing_join_is_a_loud_warning_with_the_reason") {
        return;
    }
    let world = World::new();
    let (transfer, warning) = expect_join(&world);
    assert_eq!(transfer["fallback"], false);
    assert_eq!(transfer["joins"], 0);
    assert!(
        warning.contains("it has no endpoint that opens subflows"),
        "{warning}"
    );

    let world = World::new();
    world.add_endpoint();
    world.ip(0, "mptcp limits set subflows 0");
    assert!(
        expect_join(&world)
            .1
            .contains("its limit of subflows is zero")
    );

    let world = World::new();
    world.add_endpoint();
    world.ip(1, "mptcp limits set subflows 0");
    let warning = expect_join(&world).1;
    assert!(
        warning.contains("MPJoinSynRx") && warning.contains("limit"),
        "{warning}"
    );

    let world = World::new();
    world.add_endpoint();
    world.ip(1, "link set eth arp off");
    let warning = expect_join(&world).1;
    assert!(
        warning.contains("join did not reach the server"),
        "{warning}"
    );
}

#[test]
fn a_fallback_to_tcp_is_recorded_and_reported() {
    if !inside("a_fallback_to_tcp_is_recorded_and_reported") {
        return;
    }
    for (node, part) in [
        (0, "switched off at the client"),
        (1, "switched off at the server"),
    ] {
        let world = World::new();
        world.add_endpoint();
        world.sysctl(node, "mptcp/enabled", "0");
        let (transfer, warning) = expect_join(&world);
        assert_eq!(transfer["error"], Value::Null);
        assert_eq!(transfer["fallback"], true);
        assert_eq!(transfer["token"], Value::Null);
        assert_eq!(transfer["joins"], 0);
        assert!(warning.contains(part), "{warning}");
        let finals = world.rows("subflow_samples");
        assert_eq!(finals.len(), 2, "a TCP connection has two ends");
        assert!(
            finals.iter().all(|row| row["token"].is_null()),
            "{finals:?}"
        );
        assert!(
            finals.iter().all(|row| row["bytes_sent"].is_u64()),
            "{finals:?}"
        );
    }
}

#[test]
fn a_join_counts_also_after_its_subflow_has_gone() {
    if !inside("a_join_counts_also_after_its_subflow_has_gone") {
        return;
    }
    let world = World::new();
    world.add_endpoint();
    let running = traffic::start(&[bulk(Protocol::Mptcp, None)], &world.context).unwrap();
    let subflows = || {
        let netns = &world.context.nodes[0].netns;
        let list = || {
            std::process::Command::new("ss")
                .args(["-Htn"])
                .output()
                .unwrap()
                .stdout
        };
        String::from_utf8(netns.run(list).unwrap())
            .unwrap()
            .lines()
            .count()
    };
    // A join that never comes fails the test; it does not hold it up for ever.
    let until = |reached: fn(usize) -> bool| {
        for _ in 0..1000 {
            if reached(subflows()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{} subflows", subflows());
    };
    until(|count| count >= 2);
    world.ip(0, "mptcp endpoint flush");
    until(|count| count <= 1);
    world.context.stop.request("interrupted");
    running.wait(LONG);
    assert_eq!(only_transfer(&world)["joins"], 1);
}
