//! A copy of a world goes on exactly as the original would have, whenever it was made.

use std::fs;

use mptcplab_engine_sim::World;
use mptcplab_plan::{Capture, Middlebox, Protocol, Way};
use proptest::prelude::*;

use crate::determinism::busy;
use crate::support::{Lab, MS, Path, SECOND};
use crate::switches;

/// Two paths with a box in each.
fn boxed(seed: u64) -> Lab {
    let mut lab = Lab::with_paths(
        seed,
        &[
            Path::new(20_000_000, 10 * MS),
            Path::new(10_000_000, 30 * MS),
        ],
    );
    lab.middlebox(
        0,
        Middlebox::Coalesce {
            payload_bytes: 4_000,
            hold_ns: 5 * MS,
            direction: None,
        },
    );
    lab.middlebox(
        1,
        Middlebox::Corrupt {
            probability: 0.001,
            direction: None,
        },
    );
    for node in &mut lab.plan.nodes {
        node.mptcp.checksum = true;
    }
    lab.bulk_bytes(Protocol::Mptcp, Way::Up, 2_000_000);
    lab
}

/// Switches with a controller that chooses paths by what it measures.
fn switched(seed: u64) -> Lab {
    let mut lab = switches::three_paths("earliest-completion");
    lab.plan.seed = seed;
    lab.bulk_for(Protocol::Mptcp, Way::Up, 2 * SECOND);
    lab
}

fn with_control(seed: u64, name: &str, scheduler: &str) -> Lab {
    let mut lab = Lab::with_paths(
        seed,
        &[Path::new(8_000_000, 10 * MS), Path::new(4_000_000, 40 * MS)],
    );
    for node in &mut lab.plan.nodes {
        node.mptcp.scheduler = Some(scheduler.to_owned());
    }
    let traffic = lab.bulk_bytes(Protocol::Mptcp, Way::Down, 2_000_000);
    traffic.congestion_control = name.to_owned();
    traffic.server_congestion_control = name.to_owned();
    lab
}

/// The rows of a world from here to its end.
fn rest(mut world: World) -> Vec<u8> {
    while !world.has_ended() && world.step() {}
    world.finish().unwrap();
    world.take_rows()
}

/// Copies of a world at these parts of its run, each a copy of the copy before; the original is
/// finished before the copies and in between.
fn copies_go_on_as_the_original(lab: &Lab, at_parts: &[f64]) {
    let all = rest(World::new(&lab.plan).unwrap());
    let steps = {
        let mut world = World::new(&lab.plan).unwrap();
        while !world.has_ended() && world.step() {}
        world.counts().steps
    };
    let mut original = World::new(&lab.plan).unwrap();
    let mut copies = Vec::new();
    for part in at_parts {
        let at = (part * steps as f64) as u64;
        while original.counts().steps < at && !original.has_ended() {
            original.step();
        }
        copies.push(original.clone());
        original = original.clone();
    }
    assert!(rest(original) == all, "the copy of copies");
    for (copy, part) in copies.into_iter().zip(at_parts) {
        assert!(rest(copy) == all, "the copy at {part} of the run");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_copy_goes_on_as_the_original(
        seed in 1..1000_u64,
        which in 0..6_usize,
        mut at_parts in prop::collection::vec(0.0..1.0_f64, 1..6),
    ) {
        at_parts.sort_by(f64::total_cmp);
        let lab = match which {
            0 => busy(seed),
            1 => boxed(seed),
            2 => switched(seed),
            3 => with_control(seed, "cubic", "blest"),
            4 => with_control(seed, "olia", "round-robin"),
            _ => with_control(seed, "wvegas", "ecf"),
        };
        copies_go_on_as_the_original(&lab, &at_parts);
    }
}

#[test]
fn a_copy_writes_no_captures_and_the_same_rows() {
    let name = format!("mptcplab-sim-{}-copies", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut lab = with_control(1, "reno", "default");
    lab.plan.capture = Some(Capture {
        folder: folder.clone(),
        interfaces: lab.plan.links[0].ends.to_vec(),
        snap_length: 65_535,
    });
    let mut original = World::new(&lab.plan).unwrap();
    original.run_until(SECOND);
    let copied = rest(original.clone());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    let files = |folder| -> Vec<_> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    assert!(
        files(&folder)
            .iter()
            .all(|path| path.extension().unwrap() == "part")
    );
    assert!(rest(original) == copied);
    assert!(
        files(&folder)
            .iter()
            .all(|path| path.extension().unwrap() != "part")
    );
    fs::remove_dir_all(&folder).unwrap();
}
