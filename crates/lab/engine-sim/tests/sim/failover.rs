//! Links between switches that fail in mid-transfer.

use mptcplab_link::LinkChange;
use mptcplab_plan::{Action, Protocol, Way, Workload};

use crate::support::{Lab, MS, SECOND};
use crate::switches::{CLIENT, MEGABIT, SERVER, decisions, lab, link, over};

/// Takes the carrier from a link.
fn fail(lab: &mut Lab, name: &str, at_ns: u64) {
    let change = LinkChange {
        up: Some(false),
        ..LinkChange::default()
    };
    let action = Action::Link {
        link: link(lab, name),
        change,
        carrier: Some(false),
    };
    lab.event(at_ns, action);
}

/// Two paths of 10 Mbit/s, and a controller to which messages take so long.
fn two_paths(channel_delay_ns: u64) -> Lab {
    let mut lab = lab("disjoint", &[10 * MEGABIT; 2], CLIENT, SERVER);
    let controller = lab.plan.controller.as_mut().unwrap();
    controller.channel_delay_ns = channel_delay_ns;
    lab
}

#[test]
fn a_subflow_moves_when_its_path_loses_its_carrier() {
    let mut lab = lab("disjoint", &[10 * MEGABIT, 5 * MEGABIT], CLIENT, SERVER);
    lab.bulk_bytes(Protocol::Tcp, Way::Down, 2_000_000);
    fail(&mut lab, "path0-2", 500 * MS);
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 2_000_000);
    let moved = (CLIENT[0].to_owned(), format!("moved, {}", over(1)));
    assert!(decisions(&run).contains(&moved), "{:?}", decisions(&run));
    // Little more than what 5 Mbit/s take for the rest.
    let end_ns = run.transfer()["end_ns"].as_u64().unwrap();
    assert!(end_ns < 4 * SECOND, "{end_ns}");
}

/// All answers come, and those on the other way are late by its two links more, until the rules of
/// the controller are there.
#[test]
fn echoes_take_another_way_at_once_where_a_link_fails() {
    let mut lab = two_paths(20 * MS);
    let ping = Workload::Ping {
        interval_ns: 10 * MS,
        count: 100,
        payload_bytes: 56,
    };
    lab.traffic(Protocol::Tcp, ping).target = SERVER.parse().unwrap();
    // Between the way there of the echo of 500 ms and its way back.
    fail(&mut lab, "path0-2", 504 * MS + MS / 2);
    let run = lab.run();
    // 84 bytes at 1 Gbit/s and at 10 Mbit/s, and a millisecond on each link. The two hosts take some
    // tens of microseconds each.
    let (fast_ns, slow_ns) = (MS + 672, MS + 67_200);
    let round_trip_ns = 2 * (2 * fast_ns + 2 * slow_ns);
    // The first ones wait for their rules, and come in another order.
    let mut latencies = run.table("latencies");
    latencies.sort_by_key(|row| row["sequence"].as_u64());
    assert_eq!(latencies.len(), 100);
    for (index, row) in latencies.iter().enumerate().skip(40) {
        // The first switch of the path hears of it after 20 ms and 20 ms: at 544.5 ms.
        let is_on_other_way = (51..=54).contains(&index);
        let more_ns = if is_on_other_way { 2 * slow_ns } else { 0 };
        assert_eq!(row["sequence"], index);
        let hosts_ns = row["rtt_ns"].as_u64().unwrap() - round_trip_ns - more_ns;
        assert!(hosts_ns < MS / 4, "{index}: {hosts_ns}");
    }
}

/// The transfer ends before the controller can have done anything about the link.
#[test]
fn a_transfer_goes_on_without_the_controller() {
    for failing in ["path0-1", "path0-2"] {
        let mut lab = two_paths(500 * MS);
        lab.bulk_bytes(Protocol::Tcp, Way::Down, 2_000_000);
        fail(&mut lab, failing, 3 * SECOND);
        let run = lab.run();
        assert_eq!(run.transfer()["bytes"], 2_000_000);
        let end_ns = run.transfer()["end_ns"].as_u64().unwrap();
        assert!(end_ns < 4 * SECOND, "{failing}: {end_ns}");
    }
}
