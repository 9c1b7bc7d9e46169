//! MP_JOIN.
//!
//! Behaviours of packetdrill's scripts in `mp_join/`:
//!
//! | script | test |
//! |---|---|
//! | `mp_join_client_v4` | `a_client_joins_and_sends_no_data_before_the_fourth_packet` |
//! | `mp_join_server_v4` | `a_server_takes_a_join_and_uses_it_as_a_backup_where_asked_to` |
//! | `mp_join_server_bad_token` | `a_join_of_no_known_connection_is_reset` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::{ConnectionId, EndpointFlags, Event, LocalAddress};
use mptcplab_wire::keys::{join_hmac, join_hmac_in_ack, join_hmac_in_syn_ack};
use mptcplab_wire::option::{Join, MptcpOption};
use mptcplab_wire::{Segment, Unreachable};

fn subflow_address(index: u8) -> LocalAddress {
    LocalAddress {
        endpoint: Some(EndpointFlags {
            subflow: true,
            ..EndpointFlags::default()
        }),
        ..plain_address(index)
    }
}

/// A client that has had data acknowledged, and the SYN of its join from a second address.
fn joining() -> (Bench, Flow, Flow, ConnectionId, Segment) {
    let (mut bench, first, id) =
        Bench::connected(config(), &[plain_address(0), subflow_address(1)]);
    bench.write(id, 2);
    bench.next();
    bench.inject(first.with(".", 1, 3, bench.dss(3, None, false)));
    let syn = bench.next();
    assert_eq!(syn.source.ip(), host_address(1));
    assert_eq!(syn.destination, first.peer);
    let mut flow = Flow::new(0, 80, 0);
    flow.host = syn.source;
    (bench, first, flow, id, syn)
}

fn syn_fields(bench: &Bench, syn: &Segment) -> (u8, u32) {
    match only(syn) {
        MptcpOption::Join(Join::Syn {
            backup: false,
            address_id,
            token,
            nonce,
        }) => {
            assert_eq!(token, PEER_KEY.token());
            assert_ne!(bench.key.token(), token);
            (address_id, nonce)
        }
        other => panic!("{other:?}"),
    }
}

fn syn_ack(bench: &Bench, nonce: u32) -> MptcpOption {
    MptcpOption::Join(Join::SynAck {
        backup: false,
        address_id: 1,
        hmac: join_hmac_in_syn_ack(&join_hmac(PEER_KEY, bench.key, PEER_NONCE, nonce)),
        nonce: PEER_NONCE,
    })
}

#[test]
fn a_client_joins_and_sends_no_data_before_the_fourth_packet() {
    let (mut bench, first, mut flow, id, syn) = joining();
    let (address_id, nonce) = syn_fields(&bench, &syn);
    assert_eq!(address_id, 1);
    let answer = syn_ack(&bench, nonce);
    bench.answer(&mut flow, &syn, Some(answer));
    let third = bench.next();
    let hmac = join_hmac_in_ack(&join_hmac(bench.key, PEER_KEY, nonce, PEER_NONCE));
    assert_eq!(only(&third), MptcpOption::Join(Join::Ack { hmac }));
    let established = |bench: &Bench| {
        let events = bench.events.iter();
        let initiated = events.filter(|event| {
            matches!(
                event,
                Event::SubflowEstablished {
                    initiated_here: true,
                    ..
                }
            )
        });
        initiated.count()
    };
    assert_eq!(established(&bench), 2);
    // The first subflow is gone: only the new one could carry data, and may not yet.
    bench.inject(first.segment("R.", 1, 3));
    bench.write(id, 100);
    bench.nothing();
    bench.inject(flow.with(".", 1, 1, bench.dss(3, None, false)));
    let data = bench.next();
    assert_eq!(data.source, flow.host);
    assert_eq!(bench.read_dss(&data), (Some(1), Some((3, 1, 100, false))));
    assert_eq!(established(&bench), 2);
}

#[test]
fn the_third_ack_is_sent_again_until_it_is_answered() {
    let (mut bench, _, mut flow, _, syn) = joining();
    let (_, nonce) = syn_fields(&bench, &syn);
    let answer = syn_ack(&bench, nonce);
    bench.answer(&mut flow, &syn, Some(answer));
    let third = bench.next();
    bench.pass(SECOND - 1);
    bench.nothing();
    bench.pass(1);
    assert_eq!(only(&bench.next()), only(&third));
    bench.pass(2 * SECOND);
    assert_eq!(only(&bench.next()), only(&third));
    bench.inject(flow.with(".", 1, 1, bench.dss(3, None, false)));
    bench.pass(3600 * SECOND);
    bench.nothing();
}

#[test]
fn a_syn_ack_with_a_wrong_hmac_is_reset() {
    let (mut bench, _, mut flow, _, syn) = joining();
    let (_, nonce) = syn_fields(&bench, &syn);
    let answer = syn_ack(&bench, nonce.wrapping_add(1));
    bench.answer(&mut flow, &syn, Some(answer));
    let reset = bench.next();
    assert!(reset.flags.rst && reset.source == flow.host);
    assert_eq!(reason_of(&reset), Some(1));
    assert!(!bench.closed());
}

#[test]
fn a_syn_ack_without_a_join_is_reset() {
    let (mut bench, _, mut flow, _, syn) = joining();
    bench.answer(&mut flow, &syn, None);
    assert!(bench.next().flags.rst);
}

#[test]
fn a_join_that_fails_is_tried_again_after_a_pause() {
    let (mut bench, _, flow, _, syn) = joining();
    let mut refusal = flow.segment("R.", 0, 0);
    refusal.acknowledgement = syn.sequence.wrapping_add(1);
    bench.inject(refusal);
    bench.pass(SECOND - 1);
    bench.nothing();
    bench.pass(1);
    let again = bench.next();
    assert!(again.flags.syn && again.source.ip() == host_address(1));
    assert_ne!(again.source, syn.source);
}

#[test]
fn a_join_without_a_route_leaves_its_data_to_the_others_and_is_not_tried_again() {
    let (mut bench, first, _, id, syn) = joining();
    bench.write(id, 3);
    let sent = bench.next();
    let lost = Unreachable {
        source: syn.source,
        destination: syn.destination,
        sequence: syn.sequence,
    };
    let wrong = Unreachable {
        sequence: syn.sequence.wrapping_add(1),
        ..lost
    };
    bench.host.on_unreachable(bench.now, &wrong);
    bench.flush();
    bench.nothing();
    bench.host.on_unreachable(bench.now, &lost);
    bench.flush();
    // As all that is not acknowledged goes again when a subflow closes.
    let again = bench.next();
    assert_eq!(again.destination, first.peer);
    assert_eq!(
        bench.read_dss(&again).1.unwrap().0,
        bench.read_dss(&sent).1.unwrap().0
    );
    let all = first.sequence_of(&again).wrapping_add(3);
    bench.inject(first.with(".", 1, all, bench.dss(6, None, false)));
    bench.pass(600 * SECOND);
    bench.nothing();
}

#[test]
fn a_server_takes_a_join_and_uses_it_as_a_backup_where_asked_to() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let data = bench.data(&first, 1, 1, 1, 1, 2);
    bench.inject(data);
    bench.next();
    let second = bench.join(1, 6000, 1, true);
    let infos = bench.host.subflows(id);
    let backups: Vec<_> = infos.iter().map(|info| info.backup).collect();
    assert_eq!(backups, [Some(false), Some(true)]);
    assert_eq!(infos[1].remote_id, Some(1));
    bench.write(id, 100);
    assert_eq!(bench.next().destination, first.peer);
    // Without the first, the backup carries what was not acknowledged.
    bench.inject(first.segment("R.", 3, 1));
    let again = bench.next();
    assert_eq!(again.destination, second.peer);
    assert_eq!(bench.read_dss(&again), (Some(3), Some((1, 1, 100, false))));
}

#[test]
fn a_third_ack_with_a_wrong_hmac_or_none_is_reset() {
    for hmac in [Some([7; 20]), None] {
        let (mut bench, _, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
        let mut flow = Flow::new(1, 6000, 80);
        bench.inject(flow.syn(Some(MptcpOption::Join(Join::Syn {
            backup: false,
            address_id: 1,
            token: bench.key.token(),
            nonce: PEER_NONCE,
        }))));
        flow.host_initial = bench.next().sequence;
        let mut third = flow.segment(".", 1, 1);
        let option = hmac.map(|hmac| MptcpOption::Join(Join::Ack { hmac }));
        third.options.mptcp.extend(option);
        bench.inject(third);
        assert!(bench.next().flags.rst);
        assert_eq!(bench.host.subflows(id).len(), 1);
    }
}

#[test]
fn a_segment_with_wrong_numbers_does_not_end_a_join_that_waits_for_its_third_ack() {
    let (mut bench, _, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let mut flow = Flow::new(1, 6000, 80);
    bench.inject(flow.syn(Some(MptcpOption::Join(Join::Syn {
        backup: false,
        address_id: 1,
        token: bench.key.token(),
        nonce: PEER_NONCE,
    }))));
    let syn_ack = bench.next();
    flow.host_initial = syn_ack.sequence;
    let MptcpOption::Join(Join::SynAck { nonce, .. }) = only(&syn_ack) else {
        panic!("{syn_ack:?}");
    };
    bench.inject(flow.segment(".", 1, 7));
    let answer = bench.next();
    assert!(answer.flags.rst && answer.sequence == flow.host_initial.wrapping_add(7));
    bench.inject(flow.segment(".", 1_000_000, 1));
    bench.nothing();
    let hmac = join_hmac_in_ack(&join_hmac(PEER_KEY, bench.key, PEER_NONCE, nonce));
    bench.inject(flow.with(".", 1, 1, MptcpOption::Join(Join::Ack { hmac })));
    bench.next();
    let joined = |event: &&Event| matches!(event, Event::SubflowEstablished { .. });
    assert_eq!(bench.events.iter().filter(joined).count(), 2);
    assert_eq!(bench.host.subflows(id).len(), 2);
}

#[test]
fn a_join_of_no_known_connection_is_reset() {
    let (mut bench, _, _) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let flow = Flow::new(1, 6000, 80);
    bench.inject(flow.syn(Some(MptcpOption::Join(Join::Syn {
        backup: false,
        address_id: 1,
        token: bench.key.token().wrapping_add(1),
        nonce: PEER_NONCE,
    }))));
    let reset = bench.next();
    assert!(reset.flags.rst);
    assert_eq!(reason_of(&reset), Some(1));
}

#[test]
fn joins_beyond_the_limit_are_reset() {
    let (mut bench, _, _) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    for port in 6000..6004 {
        bench.join(1, port, 1, false);
    }
    let flow = Flow::new(1, 6004, 80);
    bench.inject(flow.syn(Some(MptcpOption::Join(Join::Syn {
        backup: false,
        address_id: 1,
        token: bench.key.token(),
        nonce: PEER_NONCE,
    }))));
    let reset = bench.next();
    assert!(reset.flags.rst);
    assert_eq!(reason_of(&reset), Some(3));
}
