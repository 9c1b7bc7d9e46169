//! How much the application may write ahead: as in Linux, where the buffers are counted in memory.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::{ConnectionId, Event, SocketOptions};

/// The buffer of a subflow at first: twice ten segments, each 2048 bytes of memory and 256 beside.
const SUBFLOW_BYTES: usize = 2 * 10 * 2304;
/// That of a subflow before its handshake has ended (`tcp_wmem`, the second number).
const INITIAL_BYTES: usize = 16_384;
/// Buffer of a connection beside those of its subflows.
const OWN_BYTES: usize = 4096;
/// The application's data is kept in fragments of this length.
const FRAGMENT: usize = 32_728;
/// Memory of one, which counts against the buffer.
const FRAGMENT_MEMORY: usize = 32_768;

fn fragments(bytes: usize) -> usize {
    bytes.div_ceil(FRAGMENT_MEMORY) * FRAGMENT
}

#[test]
fn tcp_takes_as_many_segments_as_its_buffer_has_memory_for() {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let ids = world.establish(SocketOptions::default());
    let taken = world.write(CLIENT, ids[CLIENT], pattern(1_000_000));
    // 1448 bytes of payload and 832 for the packet around them; the last one is full.
    assert_eq!(taken, 1448 * SUBFLOW_BYTES.div_ceil(1448 + 832));
    assert_eq!(world.write(CLIENT, ids[CLIENT], pattern(1)), 0);
}

#[test]
fn a_connection_takes_whole_fragments_until_its_buffer_is_full() {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    let ids = world.establish(mptcp());
    let taken = world.write(CLIENT, ids[CLIENT], pattern(1_000_000));
    assert_eq!(taken, fragments(OWN_BYTES + INITIAL_BYTES));
    assert_eq!(world.write(CLIENT, ids[CLIENT], pattern(1)), 0);
}

#[test]
fn a_subflow_that_joins_brings_its_buffer() {
    let paths = vec![Path::new(10 * MS, 0), Path::new(10 * MS, 0)];
    let mut world = World::new(paths, generous());
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(10));
    world.run_for(SECOND);
    assert_eq!(world.subflows(CLIENT, ids[CLIENT]).len(), 2);
    let taken = world.write(CLIENT, ids[CLIENT], pattern(1_000_000));
    assert_eq!(taken, fragments(OWN_BYTES + 2 * SUBFLOW_BYTES));
}

#[test]
fn a_subflow_counts_with_its_first_buffer_until_the_next_sum() {
    let mut world = World::new(vec![Path::new(10 * MS, 0); 3], generous());
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(10));
    world.run_for(SECOND);
    assert_eq!(world.subflows(CLIENT, ids[CLIENT]).len(), 3);
    let taken = world.write(CLIENT, ids[CLIENT], pattern(1_000_000));
    assert_eq!(
        taken,
        fragments(OWN_BYTES + 2 * SUBFLOW_BYTES + INITIAL_BYTES)
    );
}

#[test]
fn the_buffer_grows_with_the_window_while_the_application_waits_for_room() {
    let mut world = World::new(vec![Path::new(50 * MS, 0)], generous());
    world.keep_sent = false;
    let ids = world.establish(mptcp());
    let data = pattern(2_000_000);
    world.transfer(CLIENT, ids, &data, 60 * SECOND);
    world.run_for(150 * MS);
    let window = world.subflows(CLIENT, ids[CLIENT])[0].tcp.window_bytes as usize;
    let taken = world.write(CLIENT, ids[CLIENT], pattern(10_000_000));
    let segments = window / 1448;
    assert!(segments > 100, "{segments}");
    // Full windows do not widen it: the last rounds of slow start are not in it.
    assert!(
        taken > 2304 * segments / 3,
        "{taken} for {segments} segments"
    );
    assert!(
        taken <= fragments(OWN_BYTES + 2 * 2304 * segments),
        "{taken}"
    );
}

#[test]
fn an_application_that_writes_little_leaves_the_buffer_as_it_is() {
    let mut world = World::new(vec![Path::new(50 * MS, 0)], generous());
    let ids = world.establish(mptcp());
    for _ in 0..40 {
        assert_eq!(world.write(CLIENT, ids[CLIENT], pattern(20_000)), 20_000);
        world.run_for(300 * MS);
        world.read(SERVER, ids[SERVER]);
    }
    let taken = world.write(CLIENT, ids[CLIENT], pattern(10_000_000));
    assert_eq!(taken, fragments(OWN_BYTES + INITIAL_BYTES));
}

/// Lets the client open a second subflow, and the server's application finish while the third ACK
/// is on its way. `first_fails`: the first path carries nothing from then on.
fn joined_after_the_end(first_fails: bool) -> (World, Vec<u8>) {
    let paths = vec![Path::new(10 * MS, 0), Path::new(400 * MS, 0)];
    let mut world = World::new(paths, generous());
    let client = world.open(mptcp());
    world.run_for(50 * MS);
    world.write(CLIENT, client, pattern(10));
    while world.counter(SERVER, "MPTcpExtMPJoinSynRx") == 0 {
        assert!(world.step(SECOND));
    }
    let server = world.accepted().unwrap();
    world.paths[0].dead = first_fails;
    assert_eq!(world.write(SERVER, server, pattern(10_000)), 10_000);
    world.shutdown(SERVER, server);
    world.run_for(3 * SECOND);
    let read = world.read(CLIENT, client);
    (world, read)
}

#[test]
fn a_join_is_refused_once_the_application_has_written_all_and_another_subflow_brings_it() {
    let (world, read) = joined_after_the_end(false);
    assert_eq!(read, pattern(10_000));
    assert!(world.counter(SERVER, "MPTcpExtMPJoinRejected") > 0);
    assert_eq!(world.counter(SERVER, "MPTcpExtMPJoinAckHMacFailure"), 0);
}

#[test]
fn a_join_is_welcome_at_the_end_where_no_other_subflow_works() {
    let (world, read) = joined_after_the_end(true);
    assert_eq!(read, pattern(10_000));
    assert_eq!(world.counter(SERVER, "MPTcpExtMPJoinRejected"), 0);
}

/// By a round trip that is too short, what comes at once behind a hole is taken for what comes in
/// one, and the window grows to its limit. Queue and path hold 650 kB: a window of twice that is
/// enough. (The first data echoes a timestamp that has waited for the application; of a short segment
/// it does not count.)
#[test]
fn the_receive_window_grows_by_the_round_trip_that_the_data_takes() {
    let mut path = Path::new(10 * MS, 20_000_000);
    path.queue = 400;
    let mut world = World::new(vec![path], generous());
    let ids = world.establish(mptcp());
    world.transfer(CLIENT, ids, &pattern(10), SECOND);
    world.transfer(CLIENT, ids, &pattern(10_000_000), 5 * SECOND);
    let told = world.sent.iter();
    let told = told.filter(|(_, from, _, segment)| *from == SERVER && !segment.flags.syn);
    let largest = told
        .map(|(.., segment)| u64::from(segment.window) << 10)
        .max();
    let largest = largest.expect("acknowledgements");
    assert!((650_000..2_000_000).contains(&largest), "{largest}");
}

/// Fills the server's window, as its application does not read, and lets a minute pass.
fn closed_window() -> (World, [ConnectionId; 2]) {
    let mut world = World::new(vec![Path::new(10 * MS, 0)], generous());
    world.keep_sent = false;
    let ids = world.establish(mptcp());
    for _ in 0..60 {
        world.write(CLIENT, ids[CLIENT], pattern(1_000_000));
        world.run_for(SECOND);
    }
    (world, ids)
}

fn has_closed(world: &World) -> bool {
    let closed = |event: &Event| matches!(event, Event::Closed { .. });
    world.count(CLIENT, closed) > 0
}

#[test]
fn a_peer_that_keeps_its_window_closed_is_waited_for() {
    let (mut world, _) = closed_window();
    world.run_for(3600 * SECOND);
    assert!(!has_closed(&world));
}

#[test]
fn a_peer_that_dies_with_its_window_closed_is_given_up() {
    let (mut world, _) = closed_window();
    world.paths[0].dead = true;
    world.run_for(1100 * SECOND);
    assert!(has_closed(&world));
}
