//! Data: mappings, acknowledgements, DATA_FIN, and what happens when they are missing.
//!
//! Behaviours of packetdrill's scripts in `dss/` and `syscalls/`:
//!
//! | script | test |
//! |---|---|
//! | `dss_ssn_specified_client` | `a_client_takes_data_before_it_sends_any` |
//! | `dss_ssn_specified_server` | `a_server_acknowledges_data_and_maps_its_own` |
//! | `dss_fin_server` | `a_data_fin_is_acknowledged_and_answered` |
//! | `mpc_with_data_client` | `the_first_data_of_a_client_carries_the_keys` |
//! | `mpc_with_data_server` | `a_server_takes_data_beside_the_keys` |
//! | `connect_close` | `a_client_that_closes_at_once_sends_a_data_fin` |
//! | `connect_close_ack_ooo` | `a_data_fin_is_acknowledged_by_a_segment_out_of_order_too` |
//! | `connect_close_full` | `subflows_are_closed_when_both_directions_are` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::endpoint::Event;
use mptcplab_wire::checksum::data_pseudo_header;
use mptcplab_wire::option::{Capable, DataNumber, Dss, Mapping, MptcpOption};

#[test]
fn a_client_takes_data_before_it_sends_any() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    let data = bench.data(&flow, 1, 1, 1, 1, 1000);
    bench.inject(data);
    assert_eq!(bench.read_dss(&bench.out[0].clone()), (Some(1001), None));
    bench.next();
    assert_eq!(bench.read(id), 1000);
    bench.write(id, 100);
    // The peer has shown that it has the keys: no MP_CAPABLE with the first data.
    let sent = bench.next();
    assert_eq!(
        bench.read_dss(&sent),
        (Some(1001), Some((1, 1, 100, false)))
    );
}

#[test]
fn a_server_acknowledges_data_and_maps_its_own() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    for round in 0..2_u32 {
        bench.write(id, 1000);
        let sent = bench.next();
        let from = 1 + 1000 * round;
        assert_eq!(
            bench.read_dss(&sent),
            (Some(1), Some((u64::from(from), from, 1000, false)))
        );
        // A mapping of no bytes on an acknowledgement means nothing.
        let option = bench.dss(u64::from(from) + 1000, Some((1, 1, 0)), false);
        bench.inject(flow.with(".", 1, from + 1000, option));
    }
    assert!(!bench.fell_back());
    let data = bench.data(&flow, 1, 2001, 2001, 1, 10);
    bench.inject(data);
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(11), None));
    assert_eq!(bench.read(id), 10);
}

#[test]
fn numbers_of_four_bytes_are_understood() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let mut segment = flow.with(
        ".",
        1,
        1,
        MptcpOption::Dss(Dss {
            data_fin: false,
            acknowledgement: Some(DataNumber::Short(
                bench.key.initial_data_sequence().wrapping_add(1) as u32,
            )),
            mapping: Some(Mapping {
                data_sequence: DataNumber::Short(
                    PEER_KEY.initial_data_sequence().wrapping_add(1) as u32
                ),
                subflow_sequence: 1,
                bytes: 20,
                checksum: None,
            }),
        }),
    );
    segment.payload = payload(20);
    bench.inject(segment);
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(21), None));
    assert_eq!(bench.read(id), 20);
}

#[test]
fn a_data_fin_is_acknowledged_and_answered() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.inject(flow.with(".", 1, 1, bench.dss(1, Some((1, 0, 1)), true)));
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(2), None));
    assert!(bench.has(|event| *event == Event::Finished { id }));
    // The peer closes the subflow; this end still can say that it is done.
    bench.inject(flow.with("F.", 1, 1, bench.dss(1, None, false)));
    let ack = bench.next();
    assert_eq!(flow.acknowledgement_of(&ack), 2);
    assert!(!ack.flags.fin);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    let fin = bench.next();
    assert_eq!(bench.read_dss(&fin), (Some(2), Some((1, 0, 1, true))));
    assert!(!fin.flags.fin);
    bench.inject(flow.with(".", 2, 1, bench.dss(2, None, false)));
    let fin = bench.next();
    assert!(fin.flags.fin);
    assert!(bench.closed());
}

#[test]
fn a_data_fin_that_gets_lost_is_sent_again() {
    let (mut bench, _, id) = Bench::accepted(&[plain_address(0)]);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    let fin = bench.next();
    bench.pass(10 * SECOND);
    let repeated = bench.next();
    assert_eq!(bench.read_dss(&fin), bench.read_dss(&repeated));
    assert_eq!(bench.read_dss(&fin).1, Some((1, 0, 1, true)));
}

#[test]
fn the_first_data_of_a_client_carries_the_keys() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.write(id, 1000);
    let sent = bench.next();
    let MptcpOption::Capable(keys) = only(&sent) else {
        panic!("{sent:?}");
    };
    assert_eq!(keys.data_bytes, Some(1000));
    assert_eq!(keys.receiver_key, Some(PEER_KEY.0));
    bench.inject(flow.with(".", 1, 1001, bench.dss(1001, None, false)));
    bench.write(id, 500);
    let sent = bench.next();
    assert_eq!(
        bench.read_dss(&sent),
        (Some(1), Some((1001, 1001, 500, false)))
    );
    let data = bench.data(&flow, 1, 1501, 1501, 1, 200);
    bench.inject(data);
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(201), None));
}

fn first_data(bench: &Bench, flow: &Flow, bytes: usize) -> mptcplab_wire::Segment {
    let mut first = flow.with(
        ".",
        1,
        1,
        MptcpOption::Capable(Capable {
            sender_key: Some(PEER_KEY.0),
            receiver_key: Some(bench.key.0),
            data_bytes: Some(bytes as u16),
            ..capable()
        }),
    );
    first.payload = payload(bytes);
    first
}

#[test]
fn a_server_takes_data_beside_the_keys() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let first = first_data(&bench, &flow, 100);
    bench.inject(first);
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(101), None));
    bench.write(id, 1000);
    let sent = bench.next();
    assert_eq!(
        bench.read_dss(&sent),
        (Some(101), Some((1, 1, 1000, false)))
    );
    assert_eq!(bench.read(id), 100);
}

#[test]
fn data_beside_the_keys_stands_for_a_lost_third_ack() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let mut flow = Flow::new(0, 5000, 80);
    bench.syn_capable(&mut flow, capable());
    // The second segment overtakes the first: it is no reason to fall back.
    let second = bench.data(&flow, 101, 1, 1, 101, 50);
    bench.inject(second.clone());
    bench.nothing();
    let first = first_data(&bench, &flow, 100);
    bench.inject(first);
    bench.inject(second);
    let id = bench.accepted_id();
    assert_eq!(bench.read(id), 150);
    assert!(!bench.fell_back());
}

#[test]
fn a_client_that_closes_at_once_sends_a_data_fin() {
    let (mut bench, _, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.host.release(bench.now, id);
    bench.flush();
    let fin = bench.next();
    assert_eq!(bench.read_dss(&fin), (Some(1), Some((1, 0, 1, true))));
    assert!(!fin.flags.fin);
}

#[test]
fn a_data_fin_is_acknowledged_by_a_segment_out_of_order_too() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.host.release(bench.now, id);
    bench.flush();
    bench.next();
    bench.inject(flow.with(".", 2, 1, bench.dss(2, None, false)));
    bench.out.clear();
    // It is not sent again.
    bench.pass(30 * SECOND);
    bench.nothing();
}

#[test]
fn subflows_are_closed_when_both_directions_are() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.host.release(bench.now, id);
    bench.flush();
    bench.next();
    bench.inject(flow.with(".", 1, 1, bench.dss(2, None, false)));
    bench.nothing();
    bench.inject(flow.with(".", 1, 1, bench.dss(2, Some((1, 0, 1)), true)));
    let fin = bench.next();
    assert!(fin.flags.fin);
    assert_eq!(bench.read_dss(&fin).0, Some(2));
    bench.inject(flow.with(".", 1, 2, bench.dss(2, None, false)));
    bench.inject(flow.with("F.", 1, 2, bench.dss(2, None, false)));
    let last = bench.next();
    assert_eq!(flow.acknowledgement_of(&last), 2);
    bench.pass(60 * SECOND);
    assert!(bench.host.is_idle());
}

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
fn data_that_a_dead_subflow_did_not_deliver_goes_on_another() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    bench.write(id, 100);
    bench.next();
    bench.inject(first.with(".", 1, 101, bench.dss(101, None, false)));
    bench.write(id, 200);
    bench.next();
    let second = bench.join(1, 6000, 1, false);
    bench.inject(first.segment("R.", 1, 101));
    let again = bench.next();
    assert_eq!(again.destination, second.peer);
    assert_eq!(
        bench.read_dss(&again),
        (Some(1), Some((101, 1, 200, false)))
    );
}

#[test]
fn data_that_tcp_delivered_and_the_connection_lost_is_sent_again() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.write(id, 100);
    bench.next();
    bench.inject(flow.with(".", 1, 101, bench.dss(101, None, false)));
    bench.write(id, 200);
    bench.next();
    // Acknowledged by TCP, and not at the level of data.
    bench.inject(flow.with(".", 1, 301, bench.dss(101, None, false)));
    bench.pass(10 * SECOND);
    let again = bench.next();
    assert_eq!(
        bench.read_dss(&again),
        (Some(1), Some((101, 301, 200, false)))
    );
}

#[test]
fn a_closed_window_is_probed() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    // The handshake offered 30 000 bytes.
    bench.write(id, 40_000);
    let mut sent = 0;
    while let Some(segment) = bench.out.pop_front() {
        sent += segment.payload.len();
        let (ack, dack) = (1 + sent as u32, 1 + sent as u64);
        let mut answer = flow.with(".", 1, ack, bench.dss(dack, None, false));
        answer.window = 30_000 - sent as u16;
        bench.inject(answer);
    }
    assert_eq!(sent, 30_000);
    bench.pass(2 * SECOND);
    let probe = bench.next();
    assert!(probe.payload.is_empty());
    let mut open = flow.with(".", 1, 30_001, bench.dss(30_001, None, false));
    open.window = 30_000;
    bench.out.clear();
    bench.inject(open);
    assert!(!bench.next().payload.is_empty());
}

/// A mapping of the peer with its checksum, right or wrong.
fn checked(
    bench: &Bench,
    flow: &Flow,
    data: u64,
    sequence: u32,
    bytes: usize,
    right: bool,
) -> mptcplab_wire::Segment {
    let number = PEER_KEY.initial_data_sequence().wrapping_add(data);
    let mut mapping = Mapping {
        data_sequence: DataNumber::Long(number),
        subflow_sequence: sequence,
        bytes: bytes as u16,
        checksum: None,
    };
    let mut sum = data_pseudo_header(number, &mapping);
    sum.add(&payload(bytes));
    mapping.checksum = Some(sum.finish() ^ u16::from(!right));
    let MptcpOption::Dss(dss) = bench.dss(1, None, false) else {
        unreachable!("dss gives a DSS");
    };
    let mut segment = flow.with(
        ".",
        sequence,
        1,
        MptcpOption::Dss(Dss {
            mapping: Some(mapping),
            ..dss
        }),
    );
    segment.payload = payload(bytes);
    segment
}

fn with_checksums(
    addresses: &[mptcplab_stack::endpoint::LocalAddress],
) -> (Bench, Flow, mptcplab_stack::endpoint::ConnectionId) {
    let mut bench = Bench::new(config(), addresses);
    let mut flow = Flow::new(0, 5000, 80);
    let answer = bench.syn_capable(
        &mut flow,
        Capable {
            checksum: true,
            ..capable()
        },
    );
    assert!(matches!(
        only(&answer),
        MptcpOption::Capable(Capable { checksum: true, .. })
    ));
    let third = flow.with(".", 1, 1, bench.keys());
    bench.inject(third);
    let id = bench.accepted_id();
    (bench, flow, id)
}

#[test]
fn checksums_that_one_end_asks_for_are_sent_and_verified() {
    let (mut bench, flow, id) = with_checksums(&[plain_address(0)]);
    let right = checked(&bench, &flow, 1, 1, 100, true);
    bench.inject(right);
    assert_eq!(bench.read(id), 100);
    bench.out.clear();
    bench.write(id, 50);
    let sent = bench.next();
    let MptcpOption::Dss(Dss {
        mapping: Some(mapping),
        ..
    }) = only(&sent)
    else {
        panic!("{sent:?}");
    };
    let DataNumber::Long(number) = mapping.data_sequence else {
        panic!("{mapping:?}");
    };
    let mut sum = data_pseudo_header(number, &mapping);
    sum.add(&sent.payload);
    assert_eq!(mapping.checksum, Some(sum.finish()));
}

#[test]
fn a_wrong_checksum_on_the_only_subflow_ends_in_plain_tcp() {
    let (mut bench, flow, id) = with_checksums(&[plain_address(0)]);
    let wrong = checked(&bench, &flow, 1, 1, 100, false);
    bench.inject(wrong);
    assert_eq!(bench.read(id), 0);
    let answer = bench.next();
    let number = PEER_KEY.initial_data_sequence().wrapping_add(1);
    let fail = MptcpOption::Fail {
        data_sequence: number,
    };
    assert!(answer.options.mptcp.contains(&fail), "{answer:?}");
    // The infinite mapping, with the next data.
    let mut infinite = flow.with(
        ".",
        101,
        1,
        MptcpOption::Dss(Dss {
            data_fin: false,
            acknowledgement: None,
            mapping: Some(Mapping {
                data_sequence: DataNumber::Long(number),
                subflow_sequence: 1,
                bytes: 0,
                checksum: Some(0),
            }),
        }),
    );
    infinite.payload = payload(50);
    bench.inject(infinite);
    assert!(bench.fell_back());
    assert_eq!(bench.read(id), 150);
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

#[test]
fn a_wrong_checksum_on_one_of_several_subflows_closes_that_one() {
    let (mut bench, first, _) = with_checksums(&[plain_address(0), plain_address(1)]);
    bench.join(1, 6000, 1, false);
    let wrong = checked(&bench, &first, 1, 1, 100, false);
    bench.inject(wrong);
    let reset = bench.next();
    assert!(reset.flags.rst && reset.destination == first.peer);
    assert!(matches!(only(&reset), MptcpOption::Fail { .. }));
    assert!(!bench.closed() && !bench.fell_back());
}

#[test]
fn a_data_fin_rides_on_data_that_is_handed_out_after_it_was_asked_for() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.write(id, 40_000);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    let mut sent = 0;
    while sent < 40_000 {
        let segment = bench.next();
        sent += segment.payload.len();
        let (ack, dack) = (1 + sent as u32, 1 + sent as u64);
        if sent == 40_000 {
            let (data, _, bytes, fin) = bench.read_dss(&segment).1.unwrap();
            assert!(fin);
            assert_eq!(data + u64::from(bytes), 40_002);
            bench.inject(flow.with(".", 1, ack, bench.dss(dack + 1, None, false)));
        } else {
            bench.inject(flow.with(".", 1, ack, bench.dss(dack, None, false)));
        }
    }
    // It is acknowledged, and not said again.
    bench.out.clear();
    bench.pass(30 * SECOND);
    bench.nothing();
}
