//! How much processor time a virtual second costs: `cargo bench -p mptcplab-engine-sim [NAME]`.
//!
//! `KiB/conn` is the largest memory that a run takes, its packets included and its rows not, by the
//! connections with both of their ends. A case of 100,000 connections runs where it is named.
//!
//! Data segments are the delivered payload in segments of 1448 bytes (1428 with MPTCP's options),
//! so that neither acknowledgements nor retransmissions count; `again` is the share of
//! retransmissions.

#[path = "../../tests/sim/support.rs"]
mod support;
mod topology;

use std::ops::ControlFlow;
use std::time::Duration;

use cpu_time::ProcessTime;
use mptcplab_engine_sim::{Counts, simulate};
use mptcplab_plan::{Protocol, Way};
use mptcplab_traffic::Content;
use peak_alloc::PeakAlloc;
use support::{Lab, Path, Run, SECOND};

/// A case is run again until it has taken so long.
const LEAST: Duration = Duration::from_secs(1);

/// Begins of the rows that are read here. Others are not kept: their memory is not the simulator's.
const ROWS: [&[u8]; 2] = [br#"{"record":"transfers""#, br#"{"record":"counters""#];

/// Connections of cases that run where they are named alone.
const MANY: usize = 100_000;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() {
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    println!(
        "{:24} {:>7} {:>8} {:>7} {:>12} {:>12} {:>12} {:>9} {:>11}",
        "case",
        "cpu s",
        "goodput",
        "again %",
        "data seg/s",
        "segments/s",
        "steps/s",
        "ns/hop",
        "KiB/conn"
    );
    for case in cases() {
        let wanted = wanted.as_deref().unwrap_or_default();
        let has_many = |name: &str| name.contains(&MANY.to_string());
        let is_wanted = case.name.contains(wanted) && has_many(&case.name) == has_many(wanted);
        if is_wanted {
            measure(&case.name, &(case.lab)(), case.segment_bytes);
        }
    }
}

struct Case {
    name: String,
    lab: Box<dyn Fn() -> Lab>,
    segment_bytes: u64,
}

impl Case {
    fn new(name: impl Into<String>, segment_bytes: u64, lab: impl Fn() -> Lab + 'static) -> Self {
        Self {
            name: name.into(),
            lab: Box::new(lab),
            segment_bytes,
        }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("tcp 1 path 100 s", 1448, one_path),
        Case::new("mptcp 2 paths 100 s", 1428, two_paths),
    ];
    for connections in [10, 100, 1000, MANY] {
        for (kind, protocol, bytes) in [
            ("tcp", Protocol::Tcp, 1448),
            ("mptcp", Protocol::Mptcp, 1428),
        ] {
            let mut add = |name: &str, lab: Box<dyn Fn() -> Lab>| {
                let name = format!("{kind} {name} {connections}");
                cases.push(Case::new(name, bytes, lab));
            };
            add(
                "bottleneck",
                Box::new(move || topology::bottleneck(protocol, connections)),
            );
            if connections == MANY {
                continue;
            }
            add(
                "equal load",
                Box::new(move || topology::equal_load(protocol, connections)),
            );
            for k in [4, 8] {
                add(
                    &format!("fat-tree k={k}"),
                    Box::new(move || topology::fat_tree(protocol, k, connections)),
                );
            }
        }
    }
    cases
}

fn one_path() -> Lab {
    let mut lab = Lab::with_paths(1, &[Path::new(100_000_000, 10_000_000)]);
    lab.bulk_for(Protocol::Tcp, Way::Up, 100 * SECOND);
    lab
}

/// As `lisbon/A1`: 100 Mbit/s of Ethernet, 46 Mbit/s of WiFi behind an access point.
fn two_paths() -> Lab {
    let mut lab = Lab::new(1);
    let (client, server) = (lab.node("client", false), lab.node("server", false));
    let ap = lab.node("ap", true);
    lab.link(
        client,
        ap,
        "wifi",
        Path::new(46_000_000, 2_000_000).config(),
    );
    lab.link(
        server,
        ap,
        "lan",
        Path::new(1_000_000_000, 100_000).config(),
    );
    lab.link(
        client,
        server,
        "eth",
        Path::new(100_000_000, 500_000).config(),
    );
    lab.add_routes();
    lab.open_subflows(client);
    lab.announce(server);
    lab.bulk_for(Protocol::Mptcp, Way::Up, 100 * SECOND);
    lab
}

/// Runs a plan, and keeps some of its rows.
fn run(lab: &Lab) -> (Vec<u8>, Counts) {
    let mut kept = Vec::new();
    let mut sink = |lines: &[u8]| {
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            if ROWS.iter().any(|begin| line.starts_with(begin)) {
                kept.extend_from_slice(line);
            }
        }
        ControlFlow::Continue(())
    };
    let counts = simulate(&lab.plan, &mut sink).expect("the plan can be simulated");
    (kept, counts)
}

fn measure(name: &str, lab: &Lab, segment_bytes: u64) {
    let connections = lab.plan.traffic.len() as f64;
    // Made once, for all that follows.
    Content::new(0);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut runs = 0;
    let begin = ProcessTime::now();
    let (lines, counts, seconds) = loop {
        let (lines, counts) = run(lab);
        runs += 1;
        let elapsed = begin.elapsed();
        if elapsed >= LEAST {
            break (lines, counts, elapsed.as_secs_f64() / f64::from(runs));
        }
    };
    let memory = MEMORY
        .peak_usage()
        .saturating_sub(before)
        .saturating_sub(lines.capacity());
    let run = Run::new(lines, counts);
    let transfers = run.transfers();
    let bytes: u64 = transfers
        .iter()
        .filter_map(|row| row["bytes"].as_u64())
        .sum();
    let virtual_ns = transfers
        .iter()
        .filter_map(|row| row["end_ns"].as_u64())
        .max();
    let counters = run.table("counters").into_iter();
    let again: u64 = counters
        .filter(|row| row["name"] == "TcpRetransSegs")
        .filter_map(|row| row["value"].as_u64())
        .sum();
    let per_second = |count: u64| format!("{:.0}", count as f64 / seconds);
    println!(
        "{name:24} {seconds:7.2} {:8.1} {:7.1} {:>12} {:>12} {:>12} {:9.0} {:11.1}",
        bytes as f64 * 8e3 / virtual_ns.unwrap_or(1) as f64,
        again as f64 * 100.0 / (bytes / segment_bytes + again).max(1) as f64,
        per_second(bytes / segment_bytes),
        per_second(run.counts.segments),
        per_second(run.counts.steps),
        seconds * 1e9 / run.counts.packets.max(1) as f64,
        memory as f64 / 1024.0 / connections,
    );
}
