//! Data: mappings, acknowledgements, and data that is sent again.
//!
//! Behaviours of packetdrill's scripts in `dss/`:
//!
//! | script | test |
//! |---|---|
//! | `dss_ssn_specified_client` | `a_client_takes_data_before_it_sends_any` |
//! | `dss_ssn_specified_server` | `a_server_acknowledges_data_and_maps_its_own` |
//! | `mpc_with_data_client` | `the_first_data_of_a_client_carries_the_keys` |
//! | `mpc_with_data_server` | `a_server_takes_data_beside_the_keys` |

mod mptcp_peer;

use mptcp_peer::*;
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
    bench.write(id, 32_000);
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
