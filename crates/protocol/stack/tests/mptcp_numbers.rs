//! Data sequence numbers and acknowledgements of 4 bytes: the sender may choose them (RFC 8684,
//! section 3.3.1).

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::{CloseReason, Event, MptcpConfig};
use mptcplab_wire::option::{DataNumber, Dss, MptcpOption};

const DATA_BYTES: u32 = 1_000_000;

/// Seeds with which the low 4 bytes of the numbers of both ends wrap within the data.
const SEEDS: [u64; 2] = [29_746, 52_662];

fn world(config: MptcpConfig) -> World {
    let paths = vec![
        Path::new(20 * MS, 10_000_000),
        Path::new(5 * MS, 10_000_000),
    ];
    World::with_seeds(paths, [config.clone(), config], SEEDS)
}

/// The data numbers that a host sent: sequence numbers and acknowledgements.
fn numbers(world: &World, host: usize) -> [Vec<DataNumber>; 2] {
    let sent = world.sent.iter().filter(|(_, from, ..)| *from == host);
    let options = sent.flat_map(|(.., segment)| &segment.options.mptcp);
    let dss: Vec<Dss> = options
        .filter_map(|option| match option {
            MptcpOption::Dss(dss) => Some(*dss),
            _ => None,
        })
        .collect();
    let mappings = dss.iter().filter_map(|dss| dss.mapping);
    [
        mappings.map(|mapping| mapping.data_sequence).collect(),
        dss.iter().filter_map(|dss| dss.acknowledgement).collect(),
    ]
}

/// Whether the numbers, which must have 4 bytes, lie on both sides of 2^32.
fn wraps(numbers: &[DataNumber]) -> bool {
    let number = |number: &DataNumber| match number {
        DataNumber::Short(number) => *number,
        DataNumber::Long(_) => panic!("a number of 8 bytes"),
    };
    let mut all = numbers.iter().map(number);
    all.clone().any(|number| number > u32::MAX - DATA_BYTES)
        && all.any(|number| number < DATA_BYTES)
}

#[test]
fn numbers_of_four_bytes_wrap_and_mean_the_same_data() {
    for checksum in [false, true] {
        let mut world = world(MptcpConfig {
            short_numbers: true,
            checksum,
            ..generous()
        });
        let ids = world.establish(mptcp());
        let data = pattern(DATA_BYTES as usize);
        for from in [CLIENT, SERVER] {
            let (received, _) = world.transfer(from, ids, &data, 60 * SECOND);
            assert!(received == data, "{} bytes came", received.len());
        }
        assert_eq!(world.subflows(CLIENT, ids[CLIENT]).len(), 2);
        for host in [CLIENT, SERVER] {
            let [sequence, acknowledgements] = numbers(&world, host);
            assert!(wraps(&sequence) && wraps(&acknowledgements));
        }
        for (host, id) in [CLIENT, SERVER].into_iter().zip(ids) {
            world.shutdown(host, id);
        }
        world.run_for(5 * SECOND);
        let reason = CloseReason::Finished;
        let closed =
            |event: &Event| matches!(event, Event::Closed { reason: why, .. } if *why == reason);
        assert_eq!(world.count(CLIENT, closed) + world.count(SERVER, closed), 2);
    }
}

/// The longest payload that a host sent.
fn longest(world: &World, host: usize) -> usize {
    let sent = world.sent.iter().filter(|(_, from, ..)| *from == host);
    let lengths = sent.map(|(.., segment)| segment.payload.len());
    lengths.max().unwrap_or(0)
}

#[test]
fn acknowledgements_have_four_bytes_until_data_comes_and_segments_are_longer_by_four() {
    let mut world = world(generous());
    let ids = world.establish(mptcp());
    let data = pattern(DATA_BYTES as usize);
    let is_short = |number: &DataNumber| matches!(number, DataNumber::Short(_));
    world.transfer(CLIENT, ids, &data, 60 * SECOND);
    let [sequence, acknowledgements] = numbers(&world, CLIENT);
    assert!(!sequence.iter().any(is_short) && acknowledgements.iter().all(is_short));
    assert!(!numbers(&world, SERVER)[1].is_empty());
    assert_eq!(longest(&world, CLIENT), 1424);
    world.sent.clear();
    world.transfer(SERVER, ids, &data, 60 * SECOND);
    assert_eq!(longest(&world, SERVER), 1420);
    world.sent.clear();
    world.transfer(CLIENT, ids, &data, 60 * SECOND);
    let [_, acknowledgements] = numbers(&world, CLIENT);
    assert!(!acknowledgements.iter().any(is_short));
    assert_eq!(longest(&world, CLIENT), 1420);
}

#[test]
fn psh_ends_what_a_subflow_is_given_at_once() {
    let mut world = world(generous());
    let ids = world.establish(mptcp());
    world.transfer(CLIENT, ids, &pattern(DATA_BYTES as usize), 60 * SECOND);
    let sent = world.sent.iter().filter(|(_, from, ..)| *from == CLIENT);
    let mut lengths = sent.filter(|(.., segment)| !segment.payload.is_empty());
    // Segments that are not full end fragments, one or more of them.
    assert!(lengths.all(|(.., segment)| segment.flags.psh || segment.payload.len() == 1424));
}
