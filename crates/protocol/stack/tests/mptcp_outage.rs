//! Paths that fail or hold the others up.

mod mptcp_world;

use std::collections::BTreeMap;

use mptcp_world::*;
use mptcplab_stack::scheduler::SchedulerKind;
use mptcplab_stack::{BufferLimits, EndpointFlags, Event, HostConfig, HostStack, LocalAddress};
use mptcplab_wire::Segment;
use mptcplab_wire::option::{DataNumber, Mapping, MptcpOption};

fn all_addresses(world: &World) -> Vec<LocalAddress> {
    world.addresses(CLIENT)
}

#[test]
fn an_outage_passes_under_a_coarse_clock() {
    let mut world = World::new(vec![Path::new(10 * MS, 10_000_000)], generous());
    for host in [CLIENT, SERVER] {
        let config = HostConfig {
            clock_granularity_ns: MS,
            mptcp: generous(),
            ..HostConfig::default()
        };
        world.hosts[host] = HostStack::new(config, host as u64 + 1);
        let addresses = world.addresses(host);
        world.set_addresses(host, addresses);
    }
    let ids = world.establish(mptcp());
    let data = pattern(2_000_000);
    let begin = world.now;
    let (mut received, _) = world.transfer(CLIENT, ids, &data, 700 * MS);
    world.paths[0].dead = true;
    let mut steps = 0;
    while world.step(begin + 5 * SECOND) {
        steps += 1;
        assert!(steps < 10_000, "the world spins at {}", world.now);
    }
    world.paths[0].dead = false;
    world.run_for(20 * SECOND);
    let before = received.len();
    received.extend(world.read(SERVER, ids[SERVER]));
    assert!(received.len() > before && data.starts_with(&received));
}

#[test]
fn a_new_subflow_takes_over_what_one_that_died_before_has_with_the_next_timeout_of_data() {
    let paths = vec![Path::new(10 * MS, 20_000_000); 2];
    let mut world = World::new(paths, generous());
    world.keep_sent = false;
    let both = all_addresses(&world);
    world.set_addresses(CLIENT, vec![both[0]]);
    let ids = world.establish(mptcp());
    let data = pattern(10_000_000);
    let (received, _) = world.transfer(CLIENT, ids, &data, SECOND);
    world.paths[0].dead = true;
    world.run_for(75 * SECOND);
    world.read(SERVER, ids[SERVER]);
    assert!(received.len() < data.len() / 2);
    world.set_addresses(CLIENT, both);
    // Two round trips for the join, then 200 ms at the most.
    world.run_for(300 * MS);
    assert!(!world.read(SERVER, ids[SERVER]).is_empty());
}

#[test]
fn a_backup_gets_nothing_as_long_as_another_subflow_is_left() {
    let paths = [20, 40, 10].map(|delay| Path::new(delay * MS, 10_000_000));
    let mut world = World::new(paths.to_vec(), generous());
    let mut addresses = all_addresses(&world);
    addresses[2].endpoint = Some(EndpointFlags {
        backup: true,
        ..SUBFLOW
    });
    world.set_addresses(CLIENT, addresses.clone());
    let ids = world.establish(mptcp());
    let on_backup = |world: &World| {
        let sent = world.sent.iter();
        let data = |path: usize, segment: &Segment| path == 2 && !segment.payload.is_empty();
        sent.filter(|(_, _, path, segment)| data(*path, segment))
            .count()
    };
    let data = pattern(3_000_000);
    world.transfer(CLIENT, ids, &data, SECOND);
    // The second subflow's data in flight must be sent again, while the first is full.
    addresses.remove(1);
    world.set_addresses(CLIENT, addresses.clone());
    world.transfer(CLIENT, ids, &data, SECOND);
    assert!(
        world
            .info(CLIENT, ids[CLIENT])
            .multipath
            .unwrap()
            .bytes_retransmitted
            > 50_000
    );
    assert_eq!(on_backup(&world), 0);
    addresses.remove(0);
    world.set_addresses(CLIENT, addresses);
    world.transfer(CLIENT, ids, &data, SECOND);
    assert!(on_backup(&world) > 100);
}

#[test]
fn an_address_that_returns_keeps_its_new_subflow() {
    let mut world = World::new(vec![Path::new(10 * MS, 20_000_000)], generous());
    let all = all_addresses(&world);
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(1000));
    world.run_for(SECOND);
    world.set_addresses(CLIENT, vec![]);
    world.run_for(2 * SECOND);
    world.set_addresses(CLIENT, all);
    world.run_for(5 * SECOND);
    assert_eq!(world.counter(SERVER, "MPTcpExtRmSubflow"), 0);
    let closed = |event: &Event| matches!(event, Event::SubflowClosed { .. });
    assert_eq!(world.count(CLIENT, closed), 1);
    assert_eq!(world.subflows(CLIENT, ids[CLIENT]).len(), 1);
}

#[test]
fn redundant_sends_nothing_again_where_a_subflow_closes() {
    let mut config = generous();
    config.scheduler = SchedulerKind::Redundant;
    let paths = vec![
        Path::new(20 * MS, 10_000_000),
        Path::new(100 * MS, 2_000_000),
    ];
    let mut world = World::new(paths, config);
    world.keep_sent = false;
    let ids = world.establish(mptcp());
    let data = pattern(3_000_000);
    world.transfer(CLIENT, ids, &data, SECOND);
    let sent_again = |world: &World| {
        let info = world.info(CLIENT, ids[CLIENT]).multipath.unwrap();
        info.bytes_retransmitted
    };
    let before = sent_again(&world);
    let addresses = all_addresses(&world);
    world.set_addresses(CLIENT, vec![addresses[0]]);
    world.run_for(SECOND);
    assert_eq!(sent_again(&world) - before, 0);
}

#[test]
fn opportunistic_retransmission_sends_nothing_twice_on_one_path() {
    let mut config = generous();
    config.scheduler = SchedulerKind::LowestRtt;
    config.opportunistic_retransmission = true;
    let mut world = World::new(
        vec![
            Path::new(5 * MS, 20_000_000),
            Path::new(200 * MS, 1_000_000),
        ],
        config,
    );
    world.paths[0].queue = 12;
    let mut options = mptcp();
    options.receive_buffer = BufferLimits {
        initial_bytes: 131_072,
        max_bytes: 131_072,
    };
    let ids = world.establish(options);
    let data = pattern(8_000_000);
    let (received, _) = world.transfer(CLIENT, ids, &data, 60 * SECOND);
    assert!(received == data);
    let mut copies = BTreeMap::<_, u32>::new();
    for (_, from, path, segment) in &world.sent {
        if *from != CLIENT || segment.payload.is_empty() {
            continue;
        }
        for option in &segment.options.mptcp {
            if let MptcpOption::Dss(dss) = option
                && let Some(mapping) = dss.mapping
            {
                let number = format!("{:?}", mapping.data_sequence);
                *copies.entry((*path, number)).or_default() += 1;
            }
        }
    }
    let lost: u64 = (0..2)
        .map(|index| {
            world.subflows(CLIENT, ids[CLIENT])[index]
                .tcp
                .retransmissions
        })
        .sum();
    let again: u64 = copies.values().map(|copies| u64::from(copies - 1)).sum();
    let info = world.info(CLIENT, ids[CLIENT]).multipath.unwrap();
    assert!(info.bytes_retransmitted > 0);
    assert_eq!(again, lost);
}

/// Linux 6.18 records a DATA_FIN that comes with data which it has already, but never acts on it.
#[test]
fn each_copy_of_the_last_data_brings_the_data_fin_with_it() {
    let mut world = World::new(vec![Path::new(20 * MS, 10_000_000); 2], generous());
    let mut options = mptcp();
    for buffer in [&mut options.send_buffer, &mut options.receive_buffer] {
        *buffer = BufferLimits {
            initial_bytes: 400_000,
            max_bytes: 400_000,
        };
    }
    let ids = world.establish(options);
    world.run_for(SECOND);
    let data = pattern(100_000);
    world.middlebox = Box::new(|_, segment| {
        let fin = |option: &MptcpOption| matches!(option, MptcpOption::Dss(dss) if dss.data_fin);
        let is_last = segment.options.mptcp.iter().any(fin);
        (!is_last).then_some((0, segment)).into_iter().collect()
    });
    assert_eq!(world.write(CLIENT, ids[CLIENT], data.clone()), data.len());
    world.shutdown(CLIENT, ids[CLIENT]);
    let (path, last, _) = (0..1000)
        .find_map(|_| {
            world.run_for(MS);
            data_sent(&world).into_iter().find(|&(.., fin)| fin)
        })
        .expect("DATA_FIN is sent with data");
    world.paths[path].dead = true;
    world.middlebox = Box::new(|_, segment| vec![(0, segment)]);
    world.run_for(5 * SECOND);
    assert!(world.read(SERVER, ids[SERVER]) == data);
    let sent = data_sent(&world).into_iter();
    let copies: Vec<_> = sent.filter(|&(_, end, _)| end == last).collect();
    assert!(
        copies.iter().any(|&(other, ..)| other != path),
        "{copies:?}"
    );
    assert!(copies.iter().all(|&(.., fin)| fin), "{copies:?}");
}

/// Path of each segment with data of the client, number behind its data, and whether DATA_FIN
/// follows it.
fn data_sent(world: &World) -> Vec<(usize, u64, bool)> {
    let mut data = Vec::new();
    for (_, from, path, segment) in &world.sent {
        for option in &segment.options.mptcp {
            if let MptcpOption::Dss(dss) = option
                && let Some(Mapping {
                    data_sequence: DataNumber::Long(number),
                    ..
                }) = dss.mapping
                && *from == CLIENT
                && !segment.payload.is_empty()
            {
                data.push((*path, number + segment.payload.len() as u64, dss.data_fin));
            }
        }
    }
    data
}
