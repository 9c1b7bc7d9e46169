//! The memory of a copy is about what the session takes it for, by which it bounds its copies.

#[path = "../../engine-sim/tests/sim/support.rs"]
mod support;

use mptcplab_engine_sim::World;
use mptcplab_plan::{Protocol, Way};
use peak_alloc::PeakAlloc;

use support::{Lab, MS, Path, SECOND};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Several uploads over two paths with long queues.
fn lab(flows: usize, delay_ns: u64) -> Lab {
    let path = |rate_bps| Path {
        queue_bytes: 1_000_000,
        ..Path::new(rate_bps, delay_ns)
    };
    let mut lab = Lab::with_paths(1, &[path(50_000_000), path(20_000_000)]);
    for _ in 0..flows {
        lab.bulk_for(Protocol::Mptcp, Way::Up, 10 * SECOND);
    }
    lab
}

#[test]
fn a_copy_takes_about_the_memory_that_is_told() {
    for (flows, delay_ns) in [(1, 5 * MS), (1, 300 * MS), (50, 5 * MS), (50, 300 * MS)] {
        let mut world = World::new(&lab(flows, delay_ns).plan).unwrap();
        for seconds in [0, 1, 3] {
            world.run_until(seconds * SECOND);
            world.take_rows();
            let before = MEMORY.current_usage();
            let copy = world.clone();
            let took = (MEMORY.current_usage() - before) as u64;
            let told = copy.approximate_bytes();
            println!("{flows} flows, {delay_ns} ns, {seconds} s: {took} bytes, told {told}");
            assert!(
                (took / 3..=3 * took).contains(&told),
                "{flows} flows, {delay_ns} ns, {seconds} s: {took} bytes, told {told}"
            );
        }
    }
}
