//! One seed, one run: the same rows, byte for byte, however the world is stepped.

use mptcplab_engine_sim::World;
use mptcplab_link::{Jitter, Loss, Reordering};
use mptcplab_plan::{Protocol, Way, Workload};
use sha2::{Digest, Sha256};

use crate::support::{Lab, MS, Path, SECOND};

/// Two rough paths, and every kind of traffic.
pub(crate) fn busy(seed: u64) -> Lab {
    let mut lab = Lab::with_paths(
        seed,
        &[
            Path::new(10_000_000, 10 * MS),
            Path::new(5_000_000, 30 * MS),
        ],
    );
    for direction in &mut lab.plan.links[0].config.directions {
        direction.loss = Loss::Random { probability: 0.005 };
        direction.jitter = Jitter::Normal { sd_ns: MS };
        direction.reordering = Some(Reordering {
            probability: 0.01,
            extra_ns: 5 * MS,
        });
        direction.duplication = 0.01;
    }
    lab.bulk_for(Protocol::Tcp, Way::Up, 5 * SECOND);
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 2_000_000);
    lab.traffic(
        Protocol::Tcp,
        Workload::Http {
            bytes: 30_000,
            count: 5,
        },
    );
    lab.traffic(
        Protocol::Tcp,
        Workload::Datagrams {
            way: Way::Both,
            rate_bps: 1_000_000,
            packet_bytes: 500,
            duration_ns: 4 * SECOND,
            on_off_ns: Some([50 * MS, 50 * MS]),
        },
    );
    lab.traffic(
        Protocol::Tcp,
        Workload::Ping {
            interval_ns: 100 * MS,
            count: 30,
            payload_bytes: 56,
        },
    );
    lab
}

fn rows_of_world(lab: &Lab, mut advance: impl FnMut(&mut World)) -> Vec<u8> {
    let mut world = World::new(&lab.plan).unwrap();
    let mut rows = Vec::new();
    while !world.has_ended() {
        advance(&mut world);
        rows.extend(world.take_rows());
    }
    rows
}

#[test]
fn the_rows_do_not_depend_on_how_the_world_is_stepped() {
    let lab = busy(1);
    let by_steps = rows_of_world(&lab, |world| {
        world.step();
    });
    for interval in [1_234_567, 10 * MS] {
        let by_time = rows_of_world(&lab, |world| world.run_until(world.now() + interval));
        // A run that is stepped by time may see a little more after its end.
        assert!(by_time.starts_with(&by_steps));
    }
    assert!(lab.run().lines.starts_with(&by_steps));
}

#[test]
fn a_seed_gives_the_same_rows_and_another_seed_others() {
    assert_eq!(busy(1).run().lines, busy(1).run().lines);
    assert_ne!(busy(1).run().lines, busy(2).run().lines);
}
/// A change of behaviour, wanted or not, changes this number; nothing else does, on no machine.
#[test]
fn the_rows_of_a_seed_are_these() {
    let mut hash = Sha256::new();
    for seed in [1, 2, 3] {
        hash.update(busy(seed).run().lines);
    }
    let first = hash.finalize()[..8]
        .iter()
        .fold(0, |number, &byte| number << 8 | u64::from(byte));
    assert_eq!(format!("{first:016x}"), "5395333464ad83bd");
}
