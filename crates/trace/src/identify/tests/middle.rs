//! Captures that begin in mid-connection.

use mptcplab_wire::option::DataNumber::{Long, Short};
use mptcplab_wire::option::{DataNumber, MptcpOption};

use super::build::*;
use crate::Side::{Client, Server};
use crate::{Segment, Side};

const CLIENT_2: &str = "10.0.1.1:6000";
const SERVER_2: &str = "10.0.2.2:80";

/// Data of the client, and what it acknowledges of the server.
fn data(from: &str, to: &str, number: DataNumber, acknowledged: DataNumber) -> Segment {
    ack(from, to, 1, 1)
        .bytes(100)
        .with(dss(Some(number), Some(acknowledged)))
}

#[test]
fn the_lower_port_is_the_server_s() {
    for sent in [(CLIENT, SERVER, Client), (SERVER, CLIENT, Server)] {
        let mut told = Told::default();
        let whose = told.whose(&ack(sent.0, sent.1, 5, 6));
        assert_eq!(whose, Some((0, 0, sent.2)));
        let identity = told.registry.connections().next().unwrap();
        assert!(identity.inferred && identity.subflows[0].inferred && !identity.mptcp);
        assert_eq!(identity.ends.client, address(CLIENT));
        assert!(
            told.events[0]
                .text
                .ends_with(", begun before it was captured")
        );
    }
}

#[test]
fn the_sender_of_a_syn_ack_is_the_server_whatever_its_port() {
    let mut told = Told::default();
    let first = syn_ack(CLIENT, SERVER, 5, 6).with(capable(1, Some(B), None));
    assert_eq!(told.whose(&first), Some((0, 0, Server)));
    let third = ack(SERVER, CLIENT, 6, 6).with(capable(1, Some(A), Some(B)));
    assert_eq!(told.whose(&third), Some((0, 0, Client)));
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && identity.inferred);
    assert_eq!(identity.tokens.server, Some(0x18f9_781b));
    assert_eq!(identity.tokens.client, Some(0x55c5_3f5d));
    assert_eq!(identity.subflows[0].handshake_rtt, None);
}

#[test]
fn a_syn_that_comes_after_its_answer_completes_the_handshake() {
    let [first, second, third] = opening(1);
    let told = Told::of([second, first, third]);
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && !identity.inferred && !identity.subflows[0].inferred);
    assert_eq!(identity.subflows[0].address_ids.client, Some(0));
    assert_eq!(identity.subflows[0].established, Some(20));
    assert_eq!(told.registry.connections().count(), 1);
}

#[test]
fn first_data_with_both_keys_identifies_a_connection_of_version_1() {
    let first = ack(CLIENT, SERVER, 5, 6)
        .bytes(10)
        .with(capable(1, Some(A), Some(B)));
    let mut told = Told::of([first]);
    let join = syn(CLIENT_2, SERVER, 1).with(join_syn(0x18f9_781b, 1, 1));
    assert_eq!(told.whose(&join), Some((0, 1, Client)));
}

#[test]
fn flows_with_numbers_of_8_bytes_find_each_other() {
    let (client, server) = (0x1234_5678_ffff_ff00, 0x2345_6789_0000_0100);
    let mut told = Told::of([data(CLIENT, SERVER, Long(client), Long(server))]);
    // Ahead, in the next range of 2³²; no address is the same; sent by the server.
    let other = data(
        SERVER_2,
        CLIENT_2,
        Long(server + 5000),
        Long(client + 0x1000),
    );
    assert_eq!(told.whose(&other), Some((0, 1, Server)));
    // Of the acknowledgement only.
    let ack_only = ack("10.0.3.1:7000", "10.0.3.2:80", 1, 1).with(dss(None, Some(Long(server))));
    assert_eq!(told.whose(&ack_only), Some((0, 2, Client)));
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.subflows[1].join && identity.subflows[1].inferred);
    assert_eq!(identity.subflows[1].hmac_valid, None);
}

#[test]
fn flows_with_other_numbers_are_other_connections() {
    let (client, server) = (1 << 40, 1 << 50);
    let mut told = Told::of([data(CLIENT, SERVER, Long(client), Long(server))]);
    let far = data(CLIENT_2, SERVER, Long(client + (1 << 32)), Long(server));
    assert_eq!(told.whose(&far), Some((1, 0, Client)));
}

#[test]
fn a_subflow_without_handshake_finds_the_connection_by_what_its_keys_say() {
    let mut told = Told::of(opening(1));
    let first = 0x2808_18bf_0fa7_e28e_u64;
    let other = data(
        SERVER_2,
        CLIENT_2,
        Long(first + 1),
        Long(0x5707_62cd_38be_9818),
    );
    assert_eq!(told.whose(&other), Some((0, 1, Server)));
}

#[test]
fn numbers_that_went_far_are_followed() {
    let start = 0xffff_fff0_u64;
    let mut told = Told::of([data(CLIENT, SERVER, Long(start), Long(1 << 50))]);
    let mut newest = start;
    for _ in 0..20_000 {
        newest += 1 << 19;
        told.place(&data(CLIENT, SERVER, Long(newest), Long(1 << 50)));
    }
    let other = data(CLIENT_2, SERVER, Long(newest), Long(1 << 50));
    assert_eq!(told.whose(&other), Some((0, 1, Client)));
    let stale = ack("10.9.9.9:1", SERVER, 1, 1)
        .bytes(1)
        .with(dss(Some(Long(start)), None));
    assert_eq!(told.whose(&stale).unwrap().0, 1);
}

#[test]
fn flows_with_numbers_of_4_bytes_need_an_address_too() {
    let (client, server) = (0xffff_ff00_u32, 0x4000_0000);
    let near = || [client.wrapping_add(0x5000), server + 0x700];
    let mut told = Told::of([data(CLIENT, SERVER, Short(client), Short(server))]);
    let [c, s] = near();
    let strange = data("10.0.3.1:7000", "10.0.3.2:80", Short(c), Short(s));
    assert_eq!(told.whose(&strange), Some((1, 0, Client)));
    let sharing = data(CLIENT_2, SERVER, Short(c), Short(s));
    assert_eq!(told.whose(&sharing), Some((0, 1, Client)));
    let far = data("10.0.1.1:6001", SERVER, Short(c), Short(s + (1 << 25)));
    assert_eq!(told.whose(&far), Some((2, 0, Client)));
}

#[test]
fn numbers_of_4_bytes_are_compared_with_those_of_known_keys() {
    let mut told = Told::of(opening(0));
    let other = data(
        CLIENT_2,
        SERVER,
        Short(0x21f1_0547_u32 + 1),
        Short(0xbee4_95ca + 1),
    );
    assert_eq!(told.whose(&other), Some((0, 1, Client)));
}

#[test]
fn one_number_of_4_bytes_waits_for_the_other() {
    let mut told = Told::of([data(CLIENT, SERVER, Short(0x1000), Short(0x9000_0000))]);
    let near_but_not_next = 0x1000 + (1 << 22);
    let first = ack(CLIENT_2, SERVER, 1, 1)
        .bytes(100)
        .with(dss(Some(Short(near_but_not_next)), None));
    assert_eq!(told.place(&first), None);
    let second = ack(SERVER, CLIENT_2, 1, 101)
        .bytes(100)
        .with(dss(Some(Short(0x9000_0100)), None));
    assert_eq!(told.place(&second), None);
    let places: Vec<_> = told.released.iter().map(|(_, it)| it.place).collect();
    assert_eq!(places.len(), 2);
    assert_eq!((places[0].connection, places[0].from), (0, Client));
    assert_eq!((places[1].subflow, places[1].from), (1, Server));
}

#[test]
fn options_of_mptcp_make_a_connection_of_tcp_one_of_mptcp() {
    let mut told = Told::of([ack(CLIENT, SERVER, 1, 1)]);
    let prio = MptcpOption::Priority {
        backup: true,
        address_id: None,
    };
    let whose: Option<(u32, u32, Side)> = told.whose(&ack(CLIENT, SERVER, 1, 1).with(prio));
    assert_eq!(whose, Some((0, 0, Client)));
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && identity.inferred);
    assert_eq!(identity.subflows[0].backup.client, Some(true));
    assert_eq!(identity.subflows[0].backup.server, None);
}

#[test]
fn one_number_of_4_bytes_and_then_one_of_8() {
    // As Linux acknowledges at first, on paths that have no address in common.
    let (client, server) = (0x1234_5678_b7dd_455e_u64, 1 << 50);
    let short = Short(client as u32);
    let mut told = Told::of([data(SERVER, CLIENT, Long(server), short)]);
    let ack_only = ack(SERVER_2, CLIENT_2, 1, 1).with(dss(None, Some(short)));
    assert_eq!(told.place(&ack_only), None);
    assert_eq!(
        told.place(&data(SERVER_2, CLIENT_2, Long(server + 9), short)),
        None
    );
    let places: Vec<_> = told.released.iter().map(|(_, it)| it.place).collect();
    assert_eq!(places.len(), 2);
    assert!(
        places
            .iter()
            .all(|it| (it.connection, it.subflow) == (0, 1))
    );
}

#[test]
fn a_fast_close_names_its_receiver_by_the_key() {
    let close = |from, to| {
        let key = MptcpOption::FastClose { receiver_key: B };
        let reason = MptcpOption::Reset(mptcplab_wire::option::Reset {
            transient: false,
            reason: 0,
        });
        ack(from, to, 1, 1).rst().with(key).with(reason)
    };
    let mut told = Told::of(opening(1));
    assert_eq!(told.whose(&close(CLIENT_2, SERVER_2)), Some((0, 1, Client)));
    // Two subflows of a connection that was under way, one of them idle up to here.
    let mut told = Told::of([data(CLIENT, SERVER, Long(1 << 40), Long(1 << 50))]);
    assert_eq!(told.place(&close(CLIENT_2, SERVER_2)), None);
    assert_eq!(told.whose(&close(CLIENT, SERVER)), Some((0, 0, Client)));
    assert_eq!(told.released[0].1.place.subflow, 1);
    let identity = told.registry.connections().next().unwrap();
    assert_eq!((identity.version, identity.keys.server), (Some(1), Some(B)));
}

#[test]
fn an_answer_to_a_join_that_nothing_tells_more_of_is_mptcp() {
    let answer = syn_ack(SERVER, CLIENT, 90, 51).with(join_syn_ack(1, 4, 9));
    let mut told = Told::of([answer]);
    told.finish();
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && identity.inferred && identity.subflows[0].join);
    assert_eq!(identity.ends.server, address(SERVER));
}
