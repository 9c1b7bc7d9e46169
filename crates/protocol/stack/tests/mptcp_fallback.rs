//! Missing mappings and acknowledgements of data, and the infinite mapping: fallback to TCP, or a
//! reset.

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::Event;
use mptcplab_wire::option::{DataNumber, Dss, MptcpOption};

#[test]
fn data_without_a_mapping_makes_a_connection_plain_tcp() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let mut bare = flow.segment(".", 1, 1);
    bare.payload = payload(500);
    bench.inject(bare);
    assert!(bench.fell_back());
    assert!(bench.next().options.mptcp.is_empty());
    assert_eq!(bench.read(id), 500);
    bench.write(id, 100);
    assert!(is_infinite(&bench, &only(&bench.out[0])));
}

#[test]
fn an_acknowledgement_without_a_data_ack_makes_a_connection_plain_tcp() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.write(id, 1000);
    bench.next();
    bench.inject(flow.segment(".", 1, 1001));
    assert!(bench.fell_back());
    assert_eq!(bench.host.info(id).unwrap().send_queue_bytes, 0);
}

#[test]
fn a_fallback_is_told_by_the_infinite_mapping_on_the_next_data() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.write(id, 1000);
    bench.next();
    bench.inject(flow.segment(".", 1, 1001));
    bench.nothing();
    // It may get lost: a few segments carry it.
    for sent in (0..8).map(|round| 1001 + 10 * round) {
        bench.write(id, 10);
        let segment = bench.next();
        assert!(is_infinite(&bench, &only(&segment)));
        bench.inject(flow.segment(".", 1, sent + 10));
    }
    bench.write(id, 10);
    assert!(bench.next().options.mptcp.is_empty());
}

#[test]
fn an_infinite_mapping_makes_a_connection_plain_tcp() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let mapped = bench.data(&flow, 1, 1, 1, 1, 100);
    bench.inject(mapped);
    bench.inject(infinite_mapping(&bench, &flow, 101));
    assert!(bench.fell_back());
    let mut bare = flow.segment("F.", 151, 1);
    bare.payload = payload(50);
    bench.inject(bare);
    assert_eq!(bench.read(id), 200);
    assert!(bench.has(|event| *event == Event::Finished { id }));
}

#[test]
fn an_infinite_mapping_over_data_out_of_order_resets_the_subflow() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let twice = [(1, 1), (101, 1)];
    for (sequence, data) in twice {
        let mapped = bench.data(&flow, sequence, 1, 1, data, 100);
        bench.inject(mapped);
    }
    bench.out.clear();
    bench.inject(infinite_mapping(&bench, &flow, 201));
    assert_eq!(reason_of(&bench.next()), Some(6));
    assert!(!bench.fell_back());
    assert_eq!(bench.read(id), 100);
}

#[test]
fn a_peer_that_has_not_fallen_back_and_sends_data_again_is_reset() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.write(id, 1000);
    bench.inject(flow.segment(".", 1, 1001));
    assert!(bench.fell_back());
    let first = bench.data(&flow, 1, 1001, 1, 1, 100);
    bench.inject(first);
    assert_eq!(bench.read(id), 100);
    bench.out.clear();
    let again = bench.data(&flow, 101, 1001, 1, 1, 100);
    bench.inject(again);
    assert_eq!(reason_of(&bench.next()), Some(6));
    assert!(bench.closed());
}

/// To a peer that has fallen back unseen, a FIN would be the end of the data.
#[test]
fn the_fin_of_a_peer_that_acknowledged_no_data_is_answered_by_a_reset() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let mapped = bench.data(&flow, 1, 1, 1, 1, 100);
    bench.inject(mapped);
    bench.write(id, 100);
    bench.out.clear();
    bench.inject(flow.segment("F.", 101, 1));
    assert!(bench.next().flags.rst);
    bench.nothing();
}

#[test]
fn the_fin_of_a_peer_that_acknowledged_data_is_answered_by_a_fin() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.write(id, 100);
    bench.inject(flow.with(".", 1, 101, bench.dss(101, None, false)));
    bench.out.clear();
    bench.inject(flow.with("F.", 1, 101, bench.dss(101, None, false)));
    let fin = bench.next();
    assert!(fin.flags.fin && !fin.flags.rst);
}

/// Data of the peer with the infinite mapping.
fn infinite_mapping(bench: &Bench, flow: &Flow, sequence: u32) -> mptcplab_wire::Segment {
    let mapping = Some((u64::from(sequence), sequence, 0));
    let mut segment = flow.with(".", sequence, 1, bench.dss(1, mapping, false));
    segment.payload = payload(50);
    segment
}

/// Whether an option is the host's infinite mapping of all its data.
fn is_infinite(bench: &Bench, option: &MptcpOption) -> bool {
    let number = bench.key.initial_data_sequence().wrapping_add(1);
    matches!(option, MptcpOption::Dss(Dss { mapping: Some(mapping), .. })
        if mapping.bytes == 0 && mapping.data_sequence == DataNumber::Long(number)
            && mapping.subflow_sequence == 1)
}

#[test]
fn a_joined_subflow_without_dss_is_reset() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let second = bench.join(1, 6000, 1, false);
    let mut bare = second.segment(".", 1, 1);
    bare.payload = payload(500);
    bench.inject(bare);
    let reset = bench.next();
    assert!(reset.flags.rst);
    assert_eq!(reason_of(&reset), Some(6));
    assert!(!bench.fell_back());
    bench.write(id, 10);
    assert_eq!(bench.next().destination, first.peer);
}

#[test]
fn the_receiver_of_mp_fail_answers_with_its_own_and_an_infinite_mapping() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.write(id, 1000);
    bench.next();
    let data_sequence = bench.key.initial_data_sequence().wrapping_add(1);
    bench.inject(flow.with(".", 1, 1001, MptcpOption::Fail { data_sequence }));
    assert!(bench.fell_back());
    let answers: Vec<_> = bench
        .out
        .drain(..)
        .flat_map(|segment| segment.options.mptcp)
        .collect();
    assert!(
        answers
            .iter()
            .any(|option| matches!(option, MptcpOption::Fail { .. }))
    );
    let is_told = answers.iter().any(|option| is_infinite(&bench, option));
    assert!(is_told, "{answers:?}");
    bench.write(id, 10);
    assert!(is_infinite(&bench, &only(&bench.out[0])));
}
