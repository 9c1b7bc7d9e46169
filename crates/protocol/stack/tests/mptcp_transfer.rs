//! Data over one and several paths: it arrives once and in order, and uses what the paths have.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::scheduler::SchedulerKind;
use mptcplab_stack::{Event, HostConfig, HostStack, Limits, MptcpConfig, State};

fn established(world: &World, host: usize) -> usize {
    world.count(host, |event| {
        matches!(event, Event::SubflowEstablished { .. })
    })
}

#[test]
fn one_subflow_carries_data_both_ways() {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let ids = world.establish(mptcp());
    assert!(!world.info(CLIENT, ids[CLIENT]).fallback);
    let data = pattern(300_000);
    assert_eq!(world.transfer(CLIENT, ids, &data, 10 * SECOND).0, data);
    assert_eq!(world.transfer(SERVER, ids, &data, 10 * SECOND).0, data);
    assert!(world.info(CLIENT, ids[CLIENT]).multipath.is_some());
}

/// As TCP does, a subflow sends one segment at a time that is not full; what is written meanwhile
/// goes in the next.
#[test]
fn a_small_segment_waits_for_the_one_before_it() {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let ids = world.establish(mptcp());
    world.transfer(CLIENT, ids, &pattern(100_000), SECOND);
    world.run_for(SECOND);
    let before = world.sent.len();
    for _ in 0..3 {
        world.write(CLIENT, ids[CLIENT], pattern(100));
    }
    let payloads = |world: &World| -> Vec<usize> {
        let sent = world.sent[before..].iter();
        let own = sent.filter(|(_, from, ..)| *from == CLIENT);
        own.map(|(.., segment)| segment.payload.len())
            .filter(|bytes| *bytes > 0)
            .collect()
    };
    assert_eq!(payloads(&world), [100]);
    world.run_for(100 * MS);
    assert_eq!(payloads(&world), [100, 200]);
}

#[test]
fn the_client_joins_from_its_other_addresses_once_data_was_acknowledged() {
    let paths = vec![
        Path::new(10 * MS, 0),
        Path::new(20 * MS, 0),
        Path::new(30 * MS, 0),
    ];
    let mut world = World::new(paths, generous());
    let ids = world.establish(mptcp());
    assert_eq!(world.subflows(CLIENT, ids[CLIENT]).len(), 1);
    world.write(CLIENT, ids[CLIENT], pattern(10));
    world.run_for(SECOND);
    assert_eq!(established(&world, CLIENT), 3);
    assert_eq!(established(&world, SERVER), 3);
    assert_eq!(world.counter(SERVER, "MPTcpExtMPJoinAckRx"), 2);
    assert_eq!(world.counter(CLIENT, "MPTcpExtMPJoinSynAckRx"), 2);
}

#[test]
fn two_paths_give_what_both_have() {
    for scheduler in [
        SchedulerKind::Default,
        SchedulerKind::LowestRtt,
        SchedulerKind::RoundRobin {
            segments: 1,
            window_limited: true,
        },
        SchedulerKind::Blest,
        SchedulerKind::Ecf,
    ] {
        let paths = vec![
            Path::new(10 * MS, 20_000_000),
            Path::new(10 * MS, 20_000_000),
        ];
        let mut config = generous();
        config.scheduler = scheduler;
        let mut world = World::new(paths, config);
        world.keep_sent = false;
        let ids = world.establish(mptcp());
        let data = pattern(4_000_000);
        let (received, time) = world.transfer(CLIENT, ids, &data, 60 * SECOND);
        assert!(received == data, "{scheduler:?}");
        let rate = 8 * 4_000_000 * SECOND / time;
        assert!(rate > 30_000_000, "{scheduler:?}: {rate}");
    }
}

#[test]
fn the_redundant_scheduler_sends_all_on_both_paths() {
    let paths = vec![
        Path::new(10 * MS, 20_000_000),
        Path::new(30 * MS, 20_000_000),
    ];
    let mut config = generous();
    config.scheduler = SchedulerKind::Redundant;
    let mut world = World::new(paths, config);
    let ids = world.establish(mptcp());
    let data = pattern(2_000_000);
    assert!(world.transfer(CLIENT, ids, &data, 60 * SECOND).0 == data);
    let info = world.info(CLIENT, ids[CLIENT]).multipath.unwrap();
    assert!(info.bytes_retransmitted > 800_000, "{info:?}");
}

#[test]
fn both_ends_close_when_both_have_said_so() {
    let paths = vec![Path::new(10 * MS, 0), Path::new(20 * MS, 0)];
    let mut world = World::new(paths, generous());
    let ids = world.establish(mptcp());
    let data = pattern(100_000);
    assert_eq!(world.transfer(CLIENT, ids, &data, SECOND).0, data);
    world.shutdown(CLIENT, ids[CLIENT]);
    world.run_for(SECOND);
    assert_eq!(
        world.count(SERVER, |event| matches!(event, Event::Finished { .. })),
        1
    );
    // The other direction is still open.
    assert_eq!(world.transfer(SERVER, ids, &data, SECOND).0, data);
    world.shutdown(SERVER, ids[SERVER]);
    world.run_for(SECOND);
    for host in [CLIENT, SERVER] {
        assert_eq!(
            world.count(host, |event| matches!(event, Event::Closed { .. })),
            1
        );
        world.hosts[host].release(world.now, ids[host]);
    }
    world.flush();
    world.run_for(70 * SECOND);
    assert!(world.hosts[CLIENT].is_idle() && world.hosts[SERVER].is_idle());
}

#[test]
fn a_subflow_without_a_free_port_takes_no_place_from_another() {
    let paths = vec![Path::new(10 * MS, 0), Path::new(10 * MS, 0)];
    let mut world = World::new(paths, generous());
    let config = HostConfig {
        local_ports: [50_000, 50_000],
        mptcp: MptcpConfig {
            limits: Limits {
                subflows: 1,
                add_addr_accepted: 0,
                subflows_per_pair: 2,
            },
            ..MptcpConfig::default()
        },
        ..HostConfig::default()
    };
    world.hosts[CLIENT] = HostStack::new(config, 1);
    let both = world.addresses(CLIENT);
    world.set_addresses(CLIENT, both[..1].to_vec());
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(10));
    world.run_for(100 * MS);
    assert_eq!(established(&world, CLIENT), 1);
    world.set_addresses(CLIENT, both);
    world.run_for(100 * MS);
    assert_eq!(established(&world, CLIENT), 2);
}

/// Data that is not acknowledged when a subflow is closed goes again then, and not once more as its
/// FIN is acknowledged.
#[test]
fn what_is_not_acknowledged_goes_again_once_where_a_subflow_is_closed() {
    let mut world = World::new(vec![Path::new(10 * MS, 10_000_000); 2], generous());
    world.keep_sent = false;
    let ids = world.establish(mptcp());
    let data = pattern(20_000_000);
    world.transfer(CLIENT, ids, &data, SECOND);
    let info = |world: &World| world.info(CLIENT, ids[CLIENT]).multipath.expect("MPTCP");
    let before = info(&world);
    let outstanding = before.bytes_sent - before.bytes_acked;
    let second = world.subflows(CLIENT, ids[CLIENT])[1].id;
    world.hosts[CLIENT].close_subflow(world.now, ids[CLIENT], second);
    world.flush();
    world.transfer(CLIENT, ids, &data, SECOND);
    let again = info(&world).bytes_retransmitted - before.bytes_retransmitted;
    assert!(
        (1..=outstanding).contains(&again),
        "{again} of {outstanding}"
    );
}

/// A client that has few ports takes one again whose subflow the server keeps in TIME-WAIT.
#[test]
fn a_new_connection_may_take_the_place_of_a_subflow_in_time_wait() {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let mut config = HostConfig {
        mptcp: generous(),
        ..HostConfig::default()
    };
    config.local_ports = [5000, 5000];
    world.hosts[CLIENT] = HostStack::new(config, 1);
    let locals = world.addresses(CLIENT);
    world.set_addresses(CLIENT, locals);
    let ids = world.establish(mptcp());
    let in_time_wait = |world: &World, id| {
        let subflows = world.subflows(SERVER, id).into_iter();
        subflows
            .filter(|one| one.tcp.state == State::TimeWait)
            .count()
    };
    world.shutdown(SERVER, ids[SERVER]);
    world.run_for(SECOND);
    world.shutdown(CLIENT, ids[CLIENT]);
    world.run_for(SECOND);
    assert_eq!(in_time_wait(&world, ids[SERVER]), 1);
    world.hosts[CLIENT].release(world.now, ids[CLIENT]);
    world.flush();
    world.events = Default::default();
    let sent = world.sent.len();
    let next = world.open(mptcp());
    world.run_for(100 * MS);
    let syns = world.sent[sent..].iter();
    let from_client = syns.filter(|(_, from, _, segment)| *from == CLIENT && segment.flags.syn);
    assert_eq!(from_client.count(), 1);
    assert!(world.accepted().is_some());
    assert!(world.info(CLIENT, next).multipath.is_some());
    assert_eq!(in_time_wait(&world, ids[SERVER]), 0);
}
