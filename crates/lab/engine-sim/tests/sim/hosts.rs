//! Settings of hosts that only the simulator has.

use mptcplab_plan::{Protocol, Way};

use crate::support::{Lab, MS, Path, Run};

/// Ten segments over 10 Mbit/s and 10 ms, with room for four packets in the queue.
fn lab() -> Lab {
    let path = Path {
        rate_bps: 10_000_000,
        delay_ns: 10 * MS,
        queue_bytes: 6_000,
    };
    let mut lab = Lab::with_paths(1, &[path]);
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 10 * 1448);
    lab
}

fn smallest_round_trip_us(run: &Run) -> u64 {
    let samples = run.table("subflow_samples");
    let of_client = samples
        .iter()
        .find(|row| row["node"] == "client" && row["final"] == true);
    of_client.unwrap()["min_rtt_us"].as_u64().unwrap()
}

fn dropped(run: &Run) -> u64 {
    let samples = run.table("link_samples").into_iter();
    let counts = samples.filter_map(|row| row["dropped_queue"].as_u64());
    counts.max().unwrap()
}

#[test]
fn a_coarse_clock_measures_round_trips_in_its_ticks() {
    let mut lab = lab();
    let hosts_us = smallest_round_trip_us(&lab.run()) - 20_096;
    assert!((2 * 17..=2 * 45).contains(&hosts_us), "{hosts_us}");
    lab.plan.nodes[0].clock_granularity_ns = 8 * MS;
    assert_eq!(smallest_round_trip_us(&lab.run()), 16_000);
}

#[test]
fn a_host_that_paces_does_not_overflow_a_short_queue_with_its_first_window() {
    let mut lab = lab();
    assert!(dropped(&lab.run()) > 0);
    lab.plan.nodes[0].pacing = true;
    assert_eq!(dropped(&lab.run()), 0);
}
