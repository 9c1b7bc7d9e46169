//! MP_CAPABLE and the fallback of its handshake.
//!
//! Behaviours of packetdrill's scripts in `mp_capable/` and `syscalls/`, each as a test here:
//!
//! | script | test |
//! |---|---|
//! | `v1_mp_capable_bind_no_cs`, `accept_v4` | `a_server_answers_with_its_key_and_speaks_mptcp_after_the_third_ack` |
//! | `v1_mp_capable_connect_no_cs`, `connect_poll`, `connect_send` | `a_client_asks_without_a_key_and_sends_both_in_the_third_ack` |
//! | `v1_bind_tcpfallback_flagB`, `…_flagH`, `…_wrongver` | `a_server_answers_what_it_does_not_speak_by_tcp` |
//! | `v1_bind_tcpfallback_flagB_3rd_ack`, `…_flagH_3rd_ack`, `…_wrongver_3rd_ack` | `a_server_falls_back_when_the_third_ack_is_not_right` |
//! | `v1_connect_tcpfallback_flagB`, `…_flagH`, `…_wrongver` | `a_client_falls_back_when_the_syn_ack_is_not_right` |
//! | `connect_reset_poll`, `connect_reset_send` | `a_refused_connection_is_told` |
//! | `close_before_accept` | `a_connection_whose_only_subflow_was_reset_waits_for_another` |
//! | `zero_len_recvmsg`, `unconnected_read`, `unconnected_shutdown` | `calls_without_effect_do_no_harm` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::{CloseReason, Event, Protocol};
use mptcplab_wire::option::{Capable, MptcpOption};

/// Data flows both ways as in TCP.
fn is_plain_tcp(bench: &mut Bench, flow: &Flow, id: mptcplab_stack::ConnectionId) {
    bench.write(id, 1000);
    let data = bench.next();
    assert!(data.options.mptcp.is_empty(), "{data:?}");
    assert_eq!(data.payload.len(), 1000);
    let mut answer = flow.segment(".", 1, 1001);
    answer.payload = payload(500);
    bench.inject(answer);
    let ack = bench.next();
    assert!(ack.options.mptcp.is_empty());
    assert_eq!(flow.acknowledgement_of(&ack), 501);
    assert_eq!(bench.read(id), 500);
    assert_eq!(bench.host.info(id).unwrap().protocol, Protocol::Tcp);
}

#[test]
fn a_server_answers_with_its_key_and_speaks_mptcp_after_the_third_ack() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let mut flow = Flow::new(0, 5000, 80);
    let answer = bench.syn_capable(&mut flow, capable());
    let MptcpOption::Capable(answered) = only(&answer) else {
        panic!("{answer:?}");
    };
    assert_eq!(answered.sender_key, Some(bench.key.0));
    assert_eq!(answered.receiver_key, None);
    assert!(answered.hmac && answered.version == 1 && !answered.checksum);
    assert!(!bench.has(|event| matches!(event, Event::Accepted { .. })));
    let third = flow.with(".", 1, 1, bench.keys());
    bench.inject(third);
    let id = bench.accepted_id();
    bench.write(id, 1000);
    let data = bench.next();
    assert_eq!(bench.read_dss(&data), (Some(1), Some((1, 1, 1000, false))));
    bench.inject(flow.with(".", 1, 1001, bench.dss(1001, None, false)));
    assert!(!bench.fell_back());
    assert_eq!(bench.host.info(id).unwrap().send_queue_bytes, 0);
}

#[test]
fn a_client_asks_without_a_key_and_sends_both_in_the_third_ack() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let (mut flow, id) = bench.connect();
    let syn = bench.next();
    assert_eq!(only(&syn), MptcpOption::Capable(capable()));
    bench.answer(
        &mut flow,
        &syn,
        Some(MptcpOption::Capable(Capable {
            sender_key: Some(PEER_KEY.0),
            ..capable()
        })),
    );
    let third = bench.next();
    let MptcpOption::Capable(keys) = only(&third) else {
        panic!("{third:?}");
    };
    assert_eq!(keys.receiver_key, Some(PEER_KEY.0));
    assert!(keys.sender_key.is_some() && keys.data_bytes.is_none());
    assert!(bench.has(|event| *event == Event::Connected { id }));
    assert_eq!(bench.host.info(id).unwrap().protocol, Protocol::Mptcp);
}

#[test]
fn a_server_answers_what_it_does_not_speak_by_tcp() {
    let wrong = [
        Capable {
            extension: true,
            ..capable()
        },
        Capable {
            hmac: false,
            ..capable()
        },
        Capable {
            version: 0,
            sender_key: Some(PEER_KEY.0),
            ..capable()
        },
    ];
    for asked in wrong {
        let mut bench = Bench::new(config(), &[plain_address(0)]);
        let mut flow = Flow::new(0, 5000, 80);
        let answer = bench.syn_capable(&mut flow, asked);
        assert!(answer.options.mptcp.is_empty(), "{asked:?}");
        bench.inject(flow.segment(".", 1, 1));
        let id = bench.accepted_id();
        is_plain_tcp(&mut bench, &flow, id);
    }
}

#[test]
fn a_server_falls_back_when_the_third_ack_is_not_right() {
    for case in 0..5 {
        let mut bench = Bench::new(config(), &[plain_address(0)]);
        let mut flow = Flow::new(0, 5000, 80);
        bench.syn_capable(&mut flow, capable());
        let keys = Capable {
            sender_key: Some(PEER_KEY.0),
            receiver_key: Some(bench.key.0),
            ..capable()
        };
        let mut third = flow.segment(".", 1, 1);
        let wrong = match case {
            0 => None,
            1 => Some(Capable {
                extension: true,
                ..keys
            }),
            2 => Some(Capable {
                hmac: false,
                ..keys
            }),
            3 => Some(Capable { version: 0, ..keys }),
            _ => Some(Capable {
                receiver_key: Some(99),
                ..keys
            }),
        };
        third.options.mptcp.extend(wrong.map(MptcpOption::Capable));
        bench.inject(third);
        assert!(bench.fell_back(), "{case}");
        let id = bench.accepted_id();
        is_plain_tcp(&mut bench, &flow, id);
    }
}

#[test]
fn a_client_falls_back_when_the_syn_ack_is_not_right() {
    let key = Capable {
        sender_key: Some(PEER_KEY.0),
        ..capable()
    };
    let wrong = [
        None,
        Some(Capable {
            extension: true,
            ..key
        }),
        Some(Capable { hmac: false, ..key }),
        Some(Capable { version: 0, ..key }),
    ];
    for answered in wrong {
        let mut bench = Bench::new(config(), &[plain_address(0)]);
        let (mut flow, id) = bench.connect();
        let syn = bench.next();
        bench.answer(&mut flow, &syn, answered.map(MptcpOption::Capable));
        assert!(bench.next().options.mptcp.is_empty());
        assert!(bench.fell_back());
        is_plain_tcp(&mut bench, &flow, id);
    }
}

#[test]
fn a_syn_without_an_answer_is_sent_without_mp_capable_in_the_end() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let (mut flow, id) = bench.connect();
    bench.pass(4 * SECOND);
    let syns: Vec<bool> = bench
        .out
        .iter()
        .map(|syn| !syn.options.mptcp.is_empty())
        .collect();
    assert_eq!(syns[..4], [true, true, true, false]);
    let syn = bench.out.pop_back().unwrap();
    bench.out.clear();
    bench.answer(&mut flow, &syn, None);
    bench.next();
    is_plain_tcp(&mut bench, &flow, id);
    let count = |name: &str| {
        let counters = bench.host.counters();
        counters
            .into_iter()
            .find(|counter| counter.0 == name)
            .unwrap()
            .1
    };
    assert_eq!(count("MPTcpExtMPCapableSYNTXDrop"), 1);
    assert_eq!(count("MPTcpExtMPCapableFallbackSYNACK"), 0);
}

#[test]
fn a_server_without_mptcp_answers_by_tcp() {
    let mut settings = config();
    settings.enabled = false;
    let mut bench = Bench::new(settings, &[plain_address(0)]);
    let mut flow = Flow::new(0, 5000, 80);
    let answer = bench.syn_capable(&mut flow, capable());
    assert!(answer.options.mptcp.is_empty());
}

#[test]
fn a_refused_connection_is_told() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let (flow, id) = bench.connect();
    bench.next();
    bench.inject(flow.segment("R.", 0, 1));
    assert!(bench.has(|event| *event
        == Event::Closed {
            id,
            reason: CloseReason::Refused
        }));
}

#[test]
fn a_connection_whose_only_subflow_was_reset_waits_for_another() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let data = bench.data(&flow, 1, 1, 1, 1, 2);
    bench.inject(data);
    bench.next();
    bench.inject(flow.segment("R.", 3, 1));
    assert!(!bench.closed());
    assert_eq!(bench.read(id), 2);
    bench.write(id, 100);
    bench.nothing();
    // Another subflow carries it.
    let second = bench.join(1, 6000, 1, false);
    let sent = bench.next();
    assert_eq!(sent.destination, second.peer);
    assert_eq!(bench.read_dss(&sent), (Some(3), Some((1, 1, 100, false))));
}

#[test]
fn a_connection_without_a_subflow_ends_after_a_minute() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.inject(flow.segment("R.", 1, 1));
    bench.pass(60 * SECOND - 1);
    assert!(!bench.closed());
    bench.pass(1);
    assert!(bench.has(|event| *event
        == Event::Closed {
            id,
            reason: CloseReason::TimedOut
        }));
}

#[test]
fn calls_without_effect_do_no_harm() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let (mut flow, id) = bench.connect();
    let syn = bench.next();
    assert_eq!(bench.read(id), 0);
    assert_eq!(bench.host.read(bench.now, id, 0), None);
    bench.answer(
        &mut flow,
        &syn,
        Some(MptcpOption::Capable(Capable {
            sender_key: Some(PEER_KEY.0),
            ..capable()
        })),
    );
    bench.next();
    assert_eq!(bench.host.write(bench.now, id, payload(0)), 0);
    assert_eq!(bench.host.read(bench.now, id, 0), None);
    bench.flush();
    bench.nothing();
}
