//! Middleboxes that take options out of a connection that stands, and peers that send more than
//! they may: no wrong byte reaches the application, and no more is kept than was offered.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::{ConnectionId, Event};
use mptcplab_wire::Segment;
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption, Reset};

const DATA_BYTES: usize = 300_000;

fn world(middlebox: impl FnMut(usize, Segment) -> Vec<Segment> + 'static) -> World {
    let mut world = World::new(vec![Path::new(10 * MS, 20_000_000)], generous());
    let mut middlebox = middlebox;
    world.middlebox = Box::new(move |from, segment| {
        middlebox(from, segment)
            .into_iter()
            .map(|segment| (0, segment))
            .collect()
    });
    world
}

/// Sends data from the client and looks on until all must be over. Gives what the server read.
fn upload(world: &mut World) -> (Vec<u8>, [ConnectionId; 2]) {
    let ids = world.establish(mptcp());
    let data = pattern(DATA_BYTES);
    let (mut received, _) = world.transfer(CLIENT, ids, &data, 100 * SECOND);
    world.run_for(200 * SECOND);
    received.extend(world.read(SERVER, ids[SERVER]));
    assert!(data.starts_with(&received), "other bytes came");
    (received, ids)
}

fn was_reset(world: &World, host: usize) -> bool {
    world.count(host, |event| matches!(event, Event::SubflowClosed { .. })) > 0
}

/// Counts the data segments of the client.
fn numbered() -> impl FnMut(usize, &Segment) -> Option<u32> {
    let mut count = 0;
    move |from, segment| {
        (from == CLIENT && !segment.payload.is_empty()).then(|| {
            count += 1;
            count
        })
    }
}

#[test]
fn options_that_vanish_after_data_was_acknowledged_end_the_subflow() {
    let mut number = numbered();
    let mut world = world(move |from, mut segment| {
        if number(from, &segment) > Some(100) {
            segment.options.mptcp.clear();
        }
        vec![segment]
    });
    let (received, ids) = upload(&mut world);
    assert!(received.len() < DATA_BYTES);
    for host in [CLIENT, SERVER] {
        assert!(!world.info(host, ids[host]).fallback);
        assert!(was_reset(&world, host));
    }
}

/// A box that takes DSS from what these hosts send, and nothing else.
fn takes_dss(of: &[usize]) -> impl FnMut(usize, Segment) -> Vec<Segment> + use<> {
    let of = of.to_vec();
    move |from, mut segment| {
        if of.contains(&from) {
            let dss = |option: &MptcpOption| matches!(option, MptcpOption::Dss(_));
            segment.options.mptcp.retain(|option| !dss(option));
        }
        vec![segment]
    }
}

#[test]
fn a_connection_becomes_tcp_behind_a_box_that_lets_mp_capable_through_but_no_dss() {
    for of in [&[CLIENT][..], &[SERVER], &[CLIENT, SERVER]] {
        // The client may write first, or the server, or the server after the client.
        for writes in [&[CLIENT][..], &[SERVER], &[CLIENT, SERVER]] {
            let mut world = world(takes_dss(of));
            let ids = world.establish(mptcp());
            for &from in writes {
                let data = pattern(if from == CLIENT { 1000 } else { DATA_BYTES });
                let (received, time) = world.transfer(from, ids, &data, 100 * SECOND);
                assert!(received == data, "{of:?} {writes:?} {from}");
                assert!(time < SECOND, "{of:?} {writes:?} {time}");
            }
            let data = pattern(DATA_BYTES);
            let (received, _) = world.transfer(CLIENT, ids, &data, 100 * SECOND);
            assert!(received == data, "{of:?} {writes:?}");
            for host in [CLIENT, SERVER] {
                assert!(world.info(host, ids[host]).fallback, "{of:?} {writes:?}");
            }
        }
    }
}

#[test]
fn a_mapping_covers_both_halves_of_a_segment_that_was_split() {
    let mut number = numbered();
    let mut world = world(move |from, mut segment| {
        if number(from, &segment) <= Some(100) || segment.payload.len() < 2 {
            return vec![segment];
        }
        let mut first = segment.clone();
        let middle = segment.payload.len() / 2;
        segment.payload = first.payload.split_off(middle);
        segment.sequence = segment.sequence.wrapping_add(middle as u32);
        segment.options.mptcp.clear();
        first.flags.fin = false;
        vec![first, segment]
    });
    let (received, ids) = upload(&mut world);
    assert_eq!(received.len(), DATA_BYTES);
    assert!(!world.info(SERVER, ids[SERVER]).fallback);
    assert!(!was_reset(&world, SERVER));
}

#[test]
fn there_is_no_fallback_over_data_whose_mapping_was_lost() {
    let mut number = numbered();
    let mut kept: Option<Segment> = None;
    let mut world = world(move |from, mut segment| {
        match number(from, &segment) {
            Some(20) => {
                kept = Some(segment);
                return vec![];
            }
            Some(21) => {
                let mut joined = kept.take().expect("the 20th came before");
                joined.payload = [&joined.payload[..], &segment.payload[..]].concat().into();
                return vec![joined];
            }
            Some(23..) => segment.options.mptcp.clear(),
            _ => {}
        }
        vec![segment]
    });
    let (received, ids) = upload(&mut world);
    assert!(received.len() < DATA_BYTES);
    assert!(!world.info(SERVER, ids[SERVER]).fallback);
}

/// Takes the mapping from every second data segment of the client on a path: what a box does that
/// joins two segments and leaves the options of the first, but without a wait.
fn joins_pairs(path: usize) -> impl FnMut(usize, Segment) -> Vec<Segment> {
    let mut count = 0;
    move |_, mut segment| {
        let here = segment.source.ip() == address(CLIENT, path);
        if here && !segment.payload.is_empty() {
            count += 1;
            for option in &mut segment.options.mptcp {
                match option {
                    MptcpOption::Dss(dss) if count % 2 == 0 => dss.mapping = None,
                    _ => {}
                }
            }
        }
        vec![segment]
    }
}

#[test]
fn the_only_subflow_becomes_tcp_where_segments_are_joined() {
    let mut world = world(joins_pairs(0));
    let ids = world.establish(mptcp());
    let data = pattern(DATA_BYTES);
    let (received, time) = world.transfer(CLIENT, ids, &data, 100 * SECOND);
    assert!(received == data);
    // 300 kB take 120 ms at 20 Mbit/s, and slow start some round trips of 20 ms.
    assert!(time < 300 * MS, "{time}");
    assert!(world.info(CLIENT, ids[CLIENT]).fallback && world.info(SERVER, ids[SERVER]).fallback);
    assert_eq!(world.counter(SERVER, "MPTcpExtMPFailTx"), 1);
    assert_eq!(world.counter(SERVER, "MPTcpExtInfiniteMapRx"), 1);
    assert_eq!(world.info(CLIENT, ids[CLIENT]).multipath, None);
}

#[test]
fn a_subflow_whose_segments_are_joined_is_closed_for_good_where_there_is_another() {
    let paths = vec![
        Path::new(10 * MS, 20_000_000),
        Path::new(10 * MS, 10_000_000),
    ];
    let mut world = World::new(paths, generous());
    let ids = world.establish(mptcp());
    // Both subflows carry data before the box comes.
    let data = pattern(2_000_000);
    let (received, _) = world.transfer(CLIENT, ids, &data, 10 * SECOND);
    assert!(received == data);
    let mut joins = joins_pairs(0);
    world.middlebox = Box::new(move |from, segment| {
        let passed = joins(from, segment).into_iter();
        passed.map(|segment| (0, segment)).collect()
    });
    let (received, time) = world.transfer(CLIENT, ids, &data, 10 * SECOND);
    assert!(received == data);
    // The other path alone takes 1.66 s with its headers, and has some of the data on its way when
    // all that is not acknowledged is sent again.
    assert!(time < 1900 * MS, "{time}");
    world.run_for(100 * SECOND);
    let left = world.subflows(CLIENT, ids[CLIENT]);
    let left: Vec<_> = left
        .iter()
        .map(|subflow| subflow.tcp.tuple.local.ip())
        .collect();
    assert_eq!(left, [address(CLIENT, 1)]);
    // Segments that were on their way are answered by RSTs without options.
    let mut resets = world.sent.iter().filter(|(.., segment)| segment.flags.rst);
    let (_, from, path, reset) = resets.next().expect("a RST");
    let reason = Reset {
        transient: false,
        reason: 6,
    };
    assert_eq!((*from, *path), (SERVER, 0));
    assert_eq!(reset.options.mptcp[..], [MptcpOption::Reset(reason)]);
    assert_eq!(world.counter(CLIENT, "MPTcpExtMPJoinSynTx"), 1);
}

#[test]
fn what_waits_for_an_infinite_mapping_is_no_more_than_was_offered() {
    const SEGMENT: usize = 1400;
    let mut config = generous();
    config.checksum = true;
    let mut world = World::new(vec![Path::new(MS, 0)], config);
    let [client, _] = world.establish(mptcp());
    world.write(CLIENT, client, pattern(1000));
    world.run_for(SECOND);
    // From here on the server's segments are written by hand, after the last that it sent.
    let mut sent = world.sent.iter().rev();
    let last = sent.find(|(_, from, ..)| *from == SERVER);
    let last = last.expect("the server acknowledges").3.clone();
    let data_sequence = world.info(CLIENT, client).multipath.unwrap().receive_next;
    let wrong = Mapping {
        data_sequence: DataNumber::Long(data_sequence),
        subflow_sequence: 1,
        bytes: SEGMENT as u16,
        checksum: Some(1),
    };
    for number in 0..1000 {
        let mut segment = last.clone();
        segment.sequence = segment.sequence.wrapping_add((number * SEGMENT) as u32);
        segment.payload = pattern(SEGMENT);
        segment.options.mptcp.clear();
        segment.options.mptcp.push(MptcpOption::Dss(Dss {
            mapping: (number == 0).then_some(wrong),
            ..Dss::default()
        }));
        world.hosts[CLIENT].receive(world.now, segment.into_packet(64));
        world.flush();
    }
    let kept = world.subflows(CLIENT, client)[0].tcp.bytes_received;
    assert!((60_000..=66_536).contains(&kept), "{kept} bytes");
}
