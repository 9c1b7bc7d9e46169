//! The same addresses and ports again.

use super::build::*;
use crate::Side::{Client, Server};

fn open(told: &mut Told) {
    for segment in opening(1) {
        told.place(&segment);
    }
}

/// Returns the connection that a SYN belongs to.
fn of_syn(told: &mut Told, sequence: u32) -> u32 {
    told.whose(&syn(CLIENT, SERVER, sequence)).unwrap().0
}

#[test]
fn a_syn_beyond_what_was_sent_opens_another_connection() {
    let mut told = Told::default();
    open(&mut told);
    told.place(&ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1).bytes(100));
    assert_eq!(of_syn(&mut told, ISN), 0);
    assert_eq!(of_syn(&mut told, ISN + 50), 0);
    assert_eq!(of_syn(&mut told, ISN + 101), 1);
    let answer = syn_ack(SERVER, CLIENT, 5, ISN + 102);
    assert_eq!(told.whose(&answer), Some((1, 0, Server)));
}

#[test]
fn a_syn_after_the_end_opens_another_connection_whatever_its_number() {
    let fin = |from, to, sequence, number| ack(from, to, sequence, number).fin();
    let endings = [
        vec![ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1).rst()],
        vec![
            fin(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1),
            fin(SERVER, CLIENT, ISN_SERVER + 1, ISN + 2),
        ],
    ];
    for ending in endings {
        let mut told = Told::default();
        open(&mut told);
        for segment in &ending {
            told.place(segment);
        }
        assert_eq!(of_syn(&mut told, ISN), 0);
        assert_eq!(of_syn(&mut told, ISN - 500), 1);
        let identities: Vec<_> = told.registry.connections().collect();
        assert!(identities[0].mptcp && !identities[1].mptcp);
        assert_eq!(identities[0].ends, identities[1].ends);
    }
}

#[test]
fn one_fin_is_not_the_end() {
    let mut told = Told::default();
    open(&mut told);
    told.place(&ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1).fin());
    assert_eq!(of_syn(&mut told, ISN - 500), 0);
}

#[test]
fn a_syn_with_another_number_is_another_attempt_while_the_first_is_not_complete() {
    let mut told = Told::default();
    assert_eq!(of_syn(&mut told, ISN), 0);
    assert_eq!(of_syn(&mut told, ISN - 500), 1);
    told.place(&syn_ack(SERVER, CLIENT, 7, ISN - 499));
    assert_eq!(of_syn(&mut told, ISN - 600), 2);
}

#[test]
fn a_server_without_memory_answers_with_another_number() {
    let mut told = Told::default();
    told.place(&syn(CLIENT, SERVER, ISN));
    told.place(&syn_ack(SERVER, CLIENT, 7, ISN + 1));
    let other = syn_ack(SERVER, CLIENT, 700, ISN + 1);
    assert_eq!(told.whose(&other), Some((0, 0, Server)));
}

#[test]
fn a_syn_ack_after_the_end_belongs_to_a_syn_that_was_not_captured() {
    let mut told = Told::default();
    open(&mut told);
    told.place(&ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1).rst());
    let answer = syn_ack(SERVER, CLIENT, 7, 90);
    assert_eq!(told.whose(&answer), Some((1, 0, Server)));
    let identity = told.registry.connections().nth(1).unwrap();
    assert!(identity.inferred);
}

#[test]
fn both_ends_may_open_at_once() {
    let mut told = Told::default();
    assert_eq!(of_syn(&mut told, ISN), 0);
    let other = syn(SERVER, CLIENT, ISN_SERVER);
    assert_eq!(told.whose(&other), Some((0, 0, Server)));
    let answers = [
        syn_ack(CLIENT, SERVER, ISN, ISN_SERVER + 1),
        syn_ack(SERVER, CLIENT, ISN_SERVER, ISN + 1),
    ];
    let sides = answers.map(|segment| told.whose(&segment).unwrap().2);
    assert_eq!(sides, [Client, Server]);
}

#[test]
fn the_token_of_a_key_that_is_used_again_is_the_newest_connection_s_with_that_address() {
    let mut told = Told::default();
    open(&mut told);
    for segment in opening(1) {
        let mut other = segment;
        let moved = |end: std::net::SocketAddr| {
            let text = end.to_string().replace("10.0.0.", "10.5.0.");
            address(&text)
        };
        other.source = moved(other.source);
        other.destination = moved(other.destination);
        told.place(&other);
    }
    let join = |from: &str, to: &str| syn(from, to, 1).with(join_syn(0x18f9_781b, 1, 1));
    let whose = told.whose(&join("10.0.1.1:6000", SERVER)).unwrap();
    assert_eq!(whose.0, 0);
    let whose = told.whose(&join("10.0.1.1:6001", "10.5.0.2:80")).unwrap();
    assert_eq!(whose.0, 1);
    let whose = told.whose(&join("10.0.1.1:6002", "10.7.0.2:80")).unwrap();
    assert_eq!(whose.0, 1);
}
