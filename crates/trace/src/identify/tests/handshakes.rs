//! Handshakes that were captured from the beginning.

use super::super::keys::{join_hmac, join_hmac_in_syn_ack};
use super::build::*;
use crate::Side::{Client, Server};
use crate::{Ends, Segment};

const CLIENT_2: &str = "10.0.1.1:6000";
const SERVER_2: &str = "10.0.2.2:80";
const NONCE: u32 = 0x1111_2222;
const NONCE_OTHER: u32 = 0x3333_4444;

/// A join of the end with key `own` to that with key `other`.
fn joining(version: u8, from: &str, to: &str, own: u64, other: u64, token: u32) -> [Segment; 3] {
    let theirs = join_hmac(version, other, own, NONCE_OTHER, NONCE);
    let ours = join_hmac(version, own, other, NONCE, NONCE_OTHER);
    [
        syn(from, to, 50).at(100).with(join_syn(token, 3, NONCE)),
        syn_ack(to, from, 90, 51).at(110).with(join_syn_ack(
            join_hmac_in_syn_ack(&theirs),
            4,
            NONCE_OTHER,
        )),
        ack(from, to, 51, 91).at(125).with(join_ack(ours)),
    ]
}

#[test]
fn a_connection_of_version_1_has_its_keys_and_what_follows_from_them() {
    let mut told = Told::default();
    let senders = opening(1).map(|segment| told.whose(&segment));
    assert_eq!(
        senders,
        [Client, Server, Client].map(|side| Some((0, 0, side)))
    );
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && !identity.inferred);
    assert_eq!(identity.version, Some(1));
    assert_eq!(identity.checksums, Some(false));
    assert_eq!(
        (identity.keys.client, identity.keys.server),
        (Some(A), Some(B))
    );
    assert_eq!(identity.tokens.client, Some(0x55c5_3f5d));
    assert_eq!(identity.tokens.server, Some(0x18f9_781b));
    let sequences = identity.initial_data_sequences;
    assert_eq!(sequences.client, Some(0x5707_62cd_38be_9818));
    assert_eq!(sequences.server, Some(0x2808_18bf_0fa7_e28e));
    assert_eq!(identity.ends.client, address(CLIENT));
    assert_eq!(identity.ends.server, address(SERVER));
    let [subflow] = &identity.subflows[..] else {
        panic!("one subflow")
    };
    assert!(!subflow.join && !subflow.inferred && !subflow.announced);
    assert_eq!(subflow.established, Some(20));
    assert_eq!(subflow.handshake_rtt, Some(20));
    assert_eq!(subflow.address_ids.client, Some(0));
    assert_eq!(subflow.backup.server, Some(false));
    assert_eq!(told.kinds(), ["connection_opened", "subflow_established"]);
    assert_eq!(
        told.events[0].text,
        "10.0.0.1:5000 > 10.0.0.2:80: MP_CAPABLE v1 flags=H"
    );
}

#[test]
fn version_0_takes_the_client_s_key_from_the_syn() {
    let told = Told::of(opening(0).into_iter().take(2));
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.version, Some(0));
    assert_eq!(identity.tokens.client, Some(0x0ca2_eadb));
    assert_eq!(identity.tokens.server, Some(0xa5be_6871));
    let sequences = identity.initial_data_sequences;
    assert_eq!(sequences.client, Some(0xe3df_8ee1_21f1_0547));
    assert_eq!(sequences.server, Some(0x334f_c234_bee4_95ca));
}

#[test]
fn a_server_of_version_0_decides_the_version() {
    let mut segments = opening(1);
    segments[1].options.mptcp[0] = capable(0, Some(B), None);
    segments[2].options.mptcp[0] = capable(0, Some(A), Some(B));
    let identity = Told::of(segments).registry.connections().next().unwrap();
    assert_eq!(identity.version, Some(0));
    assert_eq!(identity.tokens.client, Some(0x0ca2_eadb));
}

#[test]
fn checksums_are_used_if_either_end_requires_them() {
    for requiring in 0..2 {
        let mut segments = opening(1);
        let mptcplab_wire::option::MptcpOption::Capable(capable) =
            &mut segments[requiring].options.mptcp[0]
        else {
            panic!("MP_CAPABLE")
        };
        capable.checksum = true;
        let identity = Told::of(segments).registry.connections().next().unwrap();
        assert_eq!(identity.checksums, Some(true));
    }
}

#[test]
fn the_client_joins_by_the_server_s_token() {
    for (version, token) in [(1, 0x18f9_781b), (0, 0xa5be_6871)] {
        let mut told = Told::of(opening(version));
        let join = joining(version, CLIENT_2, SERVER, A, B, token);
        let senders = join.map(|segment| told.whose(&segment));
        assert_eq!(
            senders,
            [Client, Server, Client].map(|side| Some((0, 1, side)))
        );
        let identity = told.registry.connections().next().unwrap();
        let subflow = &identity.subflows[1];
        assert!(subflow.join && !subflow.inferred && !subflow.announced);
        assert_eq!(subflow.opener, Client);
        assert_eq!(subflow.ends.client, address(CLIENT_2));
        assert_eq!(subflow.hmac_valid, Some(true));
        assert_eq!(subflow.address_ids.client, Some(3));
        assert_eq!(subflow.address_ids.server, Some(4));
        assert_eq!(
            subflow.backup,
            Ends {
                client: Some(false),
                server: Some(true)
            }
        );
        assert_eq!(subflow.start, 100);
        assert_eq!(subflow.handshake_rtt, Some(25));
        assert_eq!(told.kinds()[2..], ["subflow_opened", "subflow_established"]);
    }
}

#[test]
fn the_server_joins_by_the_client_s_token_and_stays_the_server() {
    for (version, token) in [(1, 0x55c5_3f5d), (0, 0x0ca2_eadb)] {
        let mut told = Told::of(opening(version));
        let join = joining(version, SERVER_2, CLIENT, B, A, token);
        let senders = join.map(|segment| told.whose(&segment));
        assert_eq!(
            senders,
            [Server, Client, Server].map(|side| Some((0, 1, side)))
        );
        let identity = told.registry.connections().next().unwrap();
        let subflow = &identity.subflows[1];
        assert_eq!(subflow.opener, Server);
        assert_eq!(subflow.ends.server, address(SERVER_2));
        assert_eq!(subflow.address_ids.server, Some(3));
        assert_eq!(subflow.hmac_valid, Some(true));
        assert!(!told.kinds().contains(&"hmac_wrong"));
    }
}

#[test]
fn a_wrong_hmac_is_told_of_either_end() {
    for wrong in [1, 2] {
        let mut told = Told::of(opening(1));
        let mut join = joining(1, CLIENT_2, SERVER, A, B, 0x18f9_781b);
        join[wrong].options.mptcp[0] = if wrong == 1 {
            join_syn_ack(1, 4, NONCE_OTHER)
        } else {
            join_ack([1; 20])
        };
        for segment in &join {
            told.place(segment);
        }
        let identity = told.registry.connections().next().unwrap();
        assert_eq!(identity.subflows[1].hmac_valid, Some(false));
        let event = told.events.iter().find(|event| event.kind == "hmac_wrong");
        let from = if wrong == 1 { Server } else { Client };
        assert_eq!(event.unwrap().from, Some(from));
    }
}

#[test]
fn a_handshake_with_a_repeated_syn_has_no_round_trip() {
    let [first, second, third] = opening(1);
    let again = first.clone().at(5);
    let told = Told::of([first, again, second, third]);
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.subflows[0].established, Some(20));
    assert_eq!(identity.subflows[0].handshake_rtt, None);
}

#[test]
fn a_join_that_is_refused_is_rejected() {
    let mut told = Told::of(opening(1));
    let [syn, ..] = joining(1, CLIENT_2, SERVER, A, B, 0x18f9_781b);
    told.place(&syn);
    let reset = mptcplab_wire::option::Reset {
        transient: false,
        reason: 3,
    };
    let option = mptcplab_wire::option::MptcpOption::Reset(reset);
    told.place(&ack(SERVER, CLIENT_2, 0, 51).rst().with(option));
    assert_eq!(
        told.texts("join_rejected"),
        ["RST; MP_TCPRST transient=0 reason=3: administratively prohibited"]
    );
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.subflows[1].reset_reason, Some(3));
    assert_eq!(identity.subflows[1].established, None);
}

#[test]
fn a_join_whose_answer_has_no_option_is_rejected_once() {
    let mut told = Told::of(opening(1));
    let [syn, mut syn_ack, _] = joining(1, CLIENT_2, SERVER, A, B, 0x18f9_781b);
    syn_ack.options.mptcp.clear();
    told.place(&syn);
    told.place(&syn_ack);
    told.place(&ack(CLIENT_2, SERVER, 51, 91).rst());
    assert_eq!(told.texts("join_rejected"), ["the SYN/ACK has no MP_JOIN"]);
    assert_eq!(told.texts("reset"), ["RST"]);
}

#[test]
fn plain_tcp_is_a_connection_with_one_subflow() {
    let segments = opening(1).map(|mut segment| {
        segment.options.mptcp.clear();
        segment
    });
    let told = Told::of(segments);
    let identity = told.registry.connections().next().unwrap();
    assert!(!identity.mptcp && identity.version.is_none() && identity.fallback.is_none());
    assert_eq!(identity.subflows.len(), 1);
    assert_eq!(identity.subflows[0].address_ids.client, None);
    assert_eq!(identity.subflows[0].handshake_rtt, Some(20));
}

#[test]
fn other_keys_in_the_third_ack_are_told() {
    let [first, second, _] = opening(1);
    let third = ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1).with(capable(1, Some(A), Some(A)));
    let again = third.clone().at(1);
    let mut told = Told::of([first, second, third]);
    assert_eq!(
        told.texts("key_changed"),
        ["key of the server 0x0123456789abcdef, before it was 0xfedcba9876543210"]
    );
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.keys.server, Some(B));
    // The retransmission has the same key of the client.
    told.place(&again.with(capable(1, Some(B), Some(B))));
    assert_eq!(
        told.texts("key_changed")[2],
        "key of the client 0xfedcba9876543210, before it was 0x0123456789abcdef"
    );
    assert_eq!(Told::of(opening(0)).texts("key_changed").len(), 0);
}
