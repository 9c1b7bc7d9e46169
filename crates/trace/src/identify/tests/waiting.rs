//! Joins whose token is not known when they come.

use mptcplab_wire::option::DataNumber::Long;

use super::super::held::{SEGMENTS_A_FLOW, WAIT};
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
    assert_eq!(told.whose(&stranger), Some((1, 0, Client)));
    assert_eq!(
        released(&told),
        [(0, 0, Client, 0), (0, 1, Client, WAIT - 1)]
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
