//! Paths of which one is far slower than the other, or silent: what it was handed holds the others
//! up, until they send it as well.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::SocketOptions;
use mptcplab_wire::Segment;

fn world(rates_bps: [u64; 2]) -> World {
    let paths = rates_bps.map(|rate| Path::new(5 * MS, rate));
    let mut world = World::new(paths.to_vec(), generous());
    world.keep_sent = false;
    world
}

/// A segment on the slow path takes 0.6 s to arrive, longer than a timeout of data. The fast one,
/// idle meanwhile, sends the first fragment of it too, and so on.
#[test]
fn a_slow_path_holds_a_fast_one_up_for_timeouts_of_data_and_not_for_its_own_round_trips() {
    let mut world = world([10_000_000, 20_000]);
    let ids = world.establish(mptcp());
    // The first data echoes a timestamp that has waited; of a short segment it does not count.
    world.transfer(CLIENT, ids, &pattern(10), SECOND);
    let data = pattern(20_000_000);
    let (received, _) = world.transfer(CLIENT, ids, &data, 12 * SECOND);
    assert!(received.len() > 900_000, "{}", received.len());
    assert!(data.starts_with(&received));
    let fragments = world.counter(CLIENT, "MPTcpExtMPTCPRetrans") / 23;
    assert!((2..20).contains(&fragments), "{fragments}");
    assert_eq!(world.counter(CLIENT, "MPTcpExtSubflowStale"), 0);
}

/// A queue that fills up lets the round trip grow ahead of SRTT: what comes late is probed for, and
/// the timeout keeps ahead.
#[test]
fn a_queue_that_fills_up_brings_no_timeouts() {
    let mut path = Path::new(5 * MS, 100_000);
    path.queue = 100;
    let mut world = World::new(vec![path], generous());
    let ids = world.establish(mptcp());
    world.transfer(CLIENT, ids, &pattern(1_000_000), 60 * SECOND);
    let rtt = world.subflows(CLIENT, ids[CLIENT])[0].tcp.smoothed_rtt_ns;
    assert!(rtt > 3 * SECOND, "{rtt}");
    assert!(world.counter(CLIENT, "TcpExtTCPTimeouts") <= 1);
}

#[test]
fn a_path_that_is_silent_for_five_timeouts_of_data_is_stale_until_it_is_heard_again() {
    let mut world = world([10_000_000, 10_000_000]);
    let ids = world.establish(mptcp());
    let data = pattern(20_000_000);
    let (received, _) = world.transfer(CLIENT, ids, &data, SECOND);
    let before = received.len();
    world.paths[1].dead = true;
    let rest = data.slice(before..);
    let stale = |world: &World| world.counter(CLIENT, "MPTcpExtSubflowStale");
    let recovered = |world: &World| world.counter(CLIENT, "MPTcpExtSubflowRecover");
    world.transfer(CLIENT, ids, &rest, 500 * MS);
    assert_eq!(stale(&world), 0);
    let (received, _) = world.transfer(CLIENT, ids, &rest, 5 * SECOND);
    assert_eq!((stale(&world), recovered(&world)), (1, 0));
    assert!(received.len() > 4_000_000, "{}", received.len());
    world.paths[1].dead = false;
    world.transfer(CLIENT, ids, &rest, 10 * SECOND);
    assert_eq!((stale(&world), recovered(&world)), (1, 1));
}

/// Segments that leave at once when so much is written after a second of rest.
fn burst_after_rest(options: SocketOptions, bytes: usize) -> usize {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let ids = world.establish(options);
    world.transfer(CLIENT, ids, &pattern(2_000_000), SECOND);
    world.run_for(400 * MS);
    world.sent.clear();
    world.write(CLIENT, ids[CLIENT], pattern(bytes));
    let has_data = |segment: &Segment| !segment.payload.is_empty();
    let sent = world.sent.iter();
    sent.filter(|(_, host, _, segment)| *host == CLIENT && has_data(segment))
        .count()
}

/// Each segment that a connection hands to a subflow before the first leaves halves its window
/// again (`tcp_skb_entail` in Linux 6.18), until the initial one is left. TCP sends the first as
/// soon as it is full.
#[test]
fn the_window_of_a_subflow_that_rested_is_halved_for_each_segment_that_is_handed_over() {
    assert_eq!(burst_after_rest(mptcp(), 100_000), 10);
    assert!(burst_after_rest(SocketOptions::default(), 100_000) > 20);
}
