//! Time that a new decision of `earliest-completion` takes: of connections whose sizes, and paths
//! whose rates, delays and loads never repeat, so that nothing is remembered; the first subflow
//! alone, and with all that join it. Of 10,000 connections there is the mean time of a processor,
//! which does not count what else the machine does, and the longest of a single decision. Beside it
//! stands what the stack takes to prepare a transfer beforehand, over paths that nothing uses.

use std::hint::black_box;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_controller::{Flow, Link, PathView, Policy, PortRef, Request, SubflowView, policy};

/// Sizes of transfers, bytes; rates of paths, bit/s; delays, ns: evenly on logarithmic scales.
const SIZES: (f64, f64) = (10e3, 50e6);
const RATES: (f64, f64) = (2e6, 100e6);
const DELAYS: (f64, f64) = (1e6, 50e6);
/// The longest queue, ns, and the most that others load a path with, as a part of its rate.
const QUEUE: f64 = 5e6;
const LOAD: f64 = 0.8;
/// Subflows of others on a path, and those of them that are new, are fewer.
const SUBFLOWS: f64 = 6.0;
const NEW: f64 = 3.0;
/// Connections of a workload.
const CONNECTIONS: u64 = 10_000;
/// Decisions of a workload that took the longest, and times that they are taken again, as a program
/// may be interrupted.
const LONGEST: usize = 200;
const AGAIN: usize = 20;
/// Transfers that are prepared.
const PREPARED: u64 = 300;

/// Numbers from 0 to 1 by SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, (least, most): (f64, f64)) -> f64 {
        least * (most / least).powf(self.next())
    }
}

/// A connection that is new, and its paths.
struct Connection {
    bytes: u64,
    paths: Vec<PathView>,
}

impl Connection {
    /// The one of a number, with so many paths.
    fn new(number: u64, paths: u32) -> Self {
        let mut random = Random(number);
        let path = |port| {
            let rate_bps = random.between(RATES);
            let new = random.next() * NEW;
            PathView {
                links: vec![Link {
                    from: PortRef::new(1, port),
                    to: PortRef::new(2, port),
                }],
                bandwidth_bps: Some(rate_bps as u64),
                delay_ns: Some(random.between(DELAYS) as u64),
                queueing_ns: (random.next() * QUEUE) as u64,
                is_busy: false,
                load_bps: (random.next() * LOAD * rate_bps) as u64,
                subflows: (new + random.next() * (SUBFLOWS - NEW)) as usize,
                new_subflows: new as usize,
            }
        };
        let paths = (0..paths).map(path).collect();
        Self {
            bytes: random.between(SIZES) as u64,
            paths,
        }
    }

    /// The same where nothing else uses its paths.
    fn alone(number: u64, paths: u32) -> Self {
        let mut connection = Self::new(number, paths);
        for path in &mut connection.paths {
            (path.load_bps, path.subflows, path.new_subflows) = (0, 0, 0);
        }
        connection
    }

    /// Asks for the paths of its first subflow, and of as many as there are paths.
    fn place(&self, policy: &mut dyn Policy, most: usize) -> Vec<SubflowView> {
        let flow = flow();
        let mut paths = self.paths.clone();
        let mut subflows: Vec<SubflowView> = Vec::new();
        for _ in 0..most {
            let request = Request {
                connection: flow,
                flow,
                is_multipath: true,
                is_moved: false,
                bytes: Some(self.bytes),
                carried_bytes: 0,
                subflows: &subflows,
                disjoint: &paths,
                equal_cost: &paths,
            };
            let Some(links) = policy.choose(&request).map(|path| path.links.clone()) else {
                break;
            };
            if let Some(path) = paths.iter_mut().find(|path| path.links == links) {
                path.subflows += 1;
                path.new_subflows += 1;
            }
            subflows.push(SubflowView {
                flow,
                opener_at: PortRef::new(1, 100),
                links,
            });
        }
        subflows
    }
}

fn flow() -> Flow {
    let address = IpAddr::from([10, 0, 0, 1]);
    Flow {
        source: address,
        destination: address,
        protocol: 6,
        source_port: 1,
        destination_port: 2,
    }
}

fn ours() -> Box<dyn Policy> {
    policy("earliest-completion", 0).expect("a policy")
}

/// Seconds of a processor that this thread has had, as Linux tells them.
fn processor_s() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran_ns = told.split(' ').next().and_then(|ns| ns.parse::<u64>().ok());
    ran_ns.unwrap_or(0) as f64 / 1e9
}

/// Prints the mean time of a processor that a connection of a workload takes, with so many subflows
/// at most, and the longest that its first subflow does.
#[expect(clippy::disallowed_methods, reason = "the time is what is measured")]
fn print_workload(paths: u32, most: usize, count: u64) {
    let mut policy = ours();
    let begin_s = processor_s();
    for number in 0..count {
        black_box(Connection::new(number, paths).place(policy.as_mut(), most));
    }
    let mean_s = (processor_s() - begin_s) / count as f64;
    let spent = |number| {
        let connection = Connection::new(number, paths);
        let mut policy = ours();
        let begin = Instant::now();
        black_box(connection.place(policy.as_mut(), 1));
        begin.elapsed()
    };
    let mut each: Vec<(Duration, u64)> = (0..count).map(|number| (spent(number), number)).collect();
    each.sort_unstable_by(|one, other| other.cmp(one));
    each.truncate(LONGEST);
    for _ in 0..AGAIN {
        for (least, number) in &mut each {
            *least = spent(*number).min(*least);
        }
    }
    println!(
        "{count} connections, {paths} paths, {most} subflows: {:.1} µs of a processor each, \
         a first subflow {:?} at most",
        mean_s * 1e6,
        each.iter()
            .map(|(least, _)| *least)
            .max()
            .unwrap_or_default()
    );
}

/// Prints the mean and the longest time of a processor in which so many transfers are prepared.
fn print_preparations(paths: u32, count: u64) {
    let mut policy = ours();
    let mut each_s = Vec::new();
    for number in 0..count {
        let connection = Connection::alone(number, paths);
        let begin_s = processor_s();
        policy.prepare(&Request {
            connection: flow(),
            flow: flow(),
            is_multipath: true,
            is_moved: false,
            bytes: Some(connection.bytes),
            carried_bytes: 0,
            subflows: &[],
            disjoint: &connection.paths,
            equal_cost: &connection.paths,
        });
        each_s.push(processor_s() - begin_s);
    }
    println!(
        "{count} transfers over {paths} paths: prepared in {:.1} ms of a processor each, {:.1} ms at \
         most",
        each_s.iter().sum::<f64>() / count as f64 * 1e3,
        each_s.iter().copied().fold(0.0, f64::max) * 1e3,
    );
}

fn decisions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decisions");
    group.throughput(Throughput::Elements(1));
    for paths in [2, 3, 8] {
        for most in [1, paths as usize] {
            let mut number = 0;
            let mut policy = ours();
            let name = format!("{paths} unequal paths, {most} subflows at most");
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    number += 1;
                    black_box(Connection::new(number, paths).place(policy.as_mut(), most));
                });
            });
        }
    }
    group.finish();
    // A test run takes each once.
    let count = match std::env::args().any(|one| one == "--test") {
        true => 1,
        false => CONNECTIONS,
    };
    for paths in [2, 3, 8] {
        for most in [1, paths as usize] {
            print_workload(paths, most, count);
        }
    }
    for paths in [1, 2, 3, 4] {
        print_preparations(paths, count.min(PREPARED));
    }
}

criterion_group!(benches, decisions);
criterion_main!(benches);
