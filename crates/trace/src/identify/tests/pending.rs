//! Joins with a token that is not known yet.

use mptcplab_wire::option::DataNumber::Long;

use super::super::pending::{SEGMENTS_A_FLOW, WAIT};
use super::build::*;
use crate::Side::{Client, Server};
use crate::{Nanos, Segment, Side};

const CLIENT_2: &str = "10.0.1.1:6000";
const TOKEN: u32 = 0x18f9_781b;

fn join(from: &str, at: Nanos) -> Segment {
    syn(from, SERVER, 50).at(at).with(join_syn(TOKEN, 3, 7))
}

fn released(told: &Told) -> Vec<(u32, u32, Side, Nanos)> {
    told.released
        .iter()
        .map(|(segment, placed)| {
            let place = placed.place;
            (place.connection, place.subflow, place.from, segment.at)
        })
        .collect()
}

#[test]
fn a_join_before_the_key_waits_for_it() {
    let mut told = Told::default();
    assert_eq!(told.place(&join(CLIENT_2, -5)), None);
    assert_eq!(told.place(&syn_ack(SERVER, CLIENT_2, 90, 51).at(-4)), None);
    let [first, second, third] = opening(1);
    assert_eq!(told.whose(&first), Some((0, 0, Client)));
    assert!(told.released.is_empty());
    assert_eq!(told.whose(&second), Some((0, 0, Server)));
    assert_eq!(released(&told), [(0, 1, Client, -5), (0, 1, Server, -4)]);
    assert_eq!(told.whose(&third), Some((0, 0, Client)));
    let later = ack(CLIENT_2, SERVER, 51, 91);
    assert_eq!(told.whose(&later), Some((0, 1, Client)));
    let identity = told.registry.connections().next().unwrap();
    assert!(!identity.subflows[1].inferred);
    assert_eq!(identity.subflows[1].opener, Client);
}

#[test]
fn a_join_to_a_connection_that_was_under_way_is_known_by_its_data() {
    let numbers = (Long(1 << 40), Long(1 << 50));
    let data = |from: &str| {
        ack(from, SERVER, 51, 91)
            .bytes(100)
            .with(dss(Some(numbers.0), Some(numbers.1)))
    };
    let mut told = Told::of([data(CLIENT)]);
    assert_eq!(told.place(&join(CLIENT_2, 0)), None);
    assert_eq!(told.place(&syn_ack(SERVER, CLIENT_2, 90, 51)), None);
    assert_eq!(told.place(&data(CLIENT_2)), None);
    assert_eq!(
        released(&told),
        [(0, 1, Client, 0), (0, 1, Server, 0), (0, 1, Client, 0)]
    );
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.subflows[1].inferred);
    assert_eq!(identity.tokens.server, Some(TOKEN));
    // Its token has become known with it.
    let next = told.whose(&join("10.0.1.2:6001", 0));
    assert_eq!(next, Some((0, 2, Client)));
}

#[test]
fn joins_whose_key_never_comes_are_a_connection_by_their_token() {
    let mut told = Told::default();
    told.place(&join(CLIENT_2, 0));
    told.place(&join("10.0.1.2:6001", WAIT - 1));
    let stranger = ack("10.9.9.9:9", "10.9.9.8:8", 1, 1).at(WAIT);
    assert_eq!(told.place(&stranger), None);
    assert_eq!(
        released(&told),
        [
            (0, 0, Client, 0),
            (0, 1, Client, WAIT - 1),
            (1, 0, Client, WAIT)
        ]
    );
    let identity = told.registry.connections().next().unwrap();
    assert!(identity.mptcp && identity.inferred && identity.subflows[0].inferred);
    assert!(identity.subflows[0].join);
    assert_eq!(identity.tokens.server, Some(TOKEN));
    assert_eq!(identity.subflows.len(), 2);
}

#[test]
fn at_the_end_nothing_waits() {
    let mut told = Told::default();
    told.place(&join(CLIENT_2, 0));
    told.finish();
    assert_eq!(released(&told), [(0, 0, Client, 0)]);
    assert_eq!(told.kinds(), ["connection_opened"]);
}

#[test]
fn a_flow_waits_for_so_many_segments_only() {
    let mut told = Told::default();
    for number in 0..SEGMENTS_A_FLOW {
        assert_eq!(told.place(&join(CLIENT_2, number as Nanos)), None);
        assert_eq!(told.released.is_empty(), number + 1 < SEGMENTS_A_FLOW);
    }
    assert_eq!(told.released.len(), SEGMENTS_A_FLOW);
    assert_eq!(told.whose(&join(CLIENT_2, 0)), Some((0, 0, Client)));
}

#[test]
fn an_answer_to_a_join_waits_for_the_join() {
    let mut told = Told::of(opening(1));
    let answer = syn_ack(SERVER, CLIENT_2, 90, 51).with(join_syn_ack(1, 4, 9));
    assert_eq!(told.place(&answer), None);
    assert_eq!(told.place(&join(CLIENT_2, 5)), None);
    assert_eq!(released(&told), [(0, 1, Server, 0), (0, 1, Client, 5)]);
}

#[test]
fn the_segment_that_ends_the_wait_comes_after_those_that_waited() {
    let mut told = Told::default();
    told.place(&join(CLIENT_2, 0));
    told.place(&syn_ack(SERVER, CLIENT_2, 90, 51).at(1));
    let third = ack(CLIENT_2, SERVER, 51, 91).at(WAIT);
    assert_eq!(told.place(&third), None);
    assert_eq!(
        released(&told),
        [(0, 0, Client, 0), (0, 0, Server, 1), (0, 0, Client, WAIT)]
    );
    // Nothing waits any longer.
    let next = ack(CLIENT_2, SERVER, 51, 91).at(WAIT + 1);
    assert_eq!(told.whose(&next), Some((0, 0, Client)));
}

#[test]
fn what_a_key_releases_comes_after_the_segment_with_the_key() {
    let mut told = Told::default();
    // One flow whose time runs out as the key of another comes.
    told.place(&syn("10.0.5.1:7000", SERVER, 50).with(join_syn(1, 3, 7)));
    let [first, second, _] = opening(1);
    told.place(&first.at(1));
    told.place(&join(CLIENT_2, 2));
    assert_eq!(told.place(&second.at(WAIT)), None);
    assert_eq!(
        released(&told),
        [(1, 0, Client, 0), (0, 0, Server, WAIT), (0, 1, Client, 2)]
    );
}

#[test]
fn joins_that_waited_for_one_key_are_numbered_in_their_order() {
    let mut told = Told::default();
    let others = [CLIENT_2, "10.0.1.2:6001", "10.0.1.3:6002"];
    for (at, from) in (-3..).zip(others) {
        assert_eq!(told.place(&join(from, at)), None);
    }
    told.place(&opening(1)[0]);
    told.place(&opening(1)[1]);
    assert_eq!(
        released(&told),
        [(0, 1, Client, -3), (0, 2, Client, -2), (0, 3, Client, -1)]
    );
}

#[test]
fn connections_are_in_the_order_of_their_first_packets() {
    let mut told = Told::default();
    told.place(&join(CLIENT_2, 0));
    told.place(&ack("10.9.9.9:9", "10.9.9.8:8", 1, 1).at(1));
    told.place(
        &syn("10.0.5.1:7000", SERVER, 50)
            .at(2)
            .with(join_syn(1, 3, 7)),
    );
    told.place(&ack("10.9.9.9:10", "10.9.9.8:8", 1, 1).at(3));
    // They became known in another.
    told.finish();
    assert_eq!(released(&told), [(2, 0, Client, 0), (3, 0, Client, 2)]);
    assert_eq!(told.registry.order(), [2, 0, 3, 1]);
}
