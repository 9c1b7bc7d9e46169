//! Connections are told apart however their packets are mixed.

use std::collections::HashMap;

use mptcplab_wire::option::DataNumber::{Long, Short};
use proptest::prelude::*;

use super::super::keys;
use super::build::*;
use crate::{Place, Segment, Side};

/// How a connection is told: each has addresses of its own but for the server's.
#[derive(Clone, Copy, Debug)]
struct Script {
    version: u8,
    short: bool,
    /// Packets at the beginning that the capture does not have.
    missed: usize,
    server_opens: bool,
    plain: bool,
    client_key: u64,
    server_key: u64,
}

/// Returns the packets of connection number `number`.
fn packets(number: u8, script: Script) -> Vec<Segment> {
    let Script {
        version,
        client_key,
        server_key,
        ..
    } = script;
    let client = format!("10.1.{number}.1:5000");
    let client_2 = format!("10.1.{number}.2:6000");
    let (opener, target, own, other) = if script.server_opens {
        (
            SERVER.replace(":80", ":7080"),
            client_2,
            server_key,
            client_key,
        )
    } else {
        (client_2, SERVER.to_owned(), client_key, server_key)
    };
    let token = keys::token(version, other);
    let theirs = keys::join_hmac(version, other, own, 2, 1);
    let ours = keys::join_hmac(version, own, other, 1, 2);
    let first = [client_key, server_key].map(|key| keys::initial_data_sequence(version, key));
    let dsn = |side: usize, ahead: u64| {
        let number = first[side].wrapping_add(ahead);
        Some(if script.short {
            Short(number as u32)
        } else {
            Long(number)
        })
    };
    let key_in_syn = (version == 0).then_some(client_key);
    let mut packets = vec![
        syn(&client, SERVER, 10).with(capable(version, key_in_syn, None)),
        syn_ack(SERVER, &client, 20, 11).with(capable(version, Some(server_key), None)),
        ack(&client, SERVER, 11, 21).with(capable(version, Some(client_key), Some(server_key))),
        ack(&client, SERVER, 11, 21)
            .bytes(100)
            .with(dss(dsn(0, 1), dsn(1, 1))),
        ack(SERVER, &client, 21, 111)
            .bytes(100)
            .with(dss(dsn(1, 1), dsn(0, 101))),
        syn(&opener, &target, 30).with(join_syn(token, 1, 1)),
        syn_ack(&target, &opener, 40, 31).with(join_syn_ack(
            keys::join_hmac_in_syn_ack(&theirs),
            1,
            2,
        )),
        ack(&opener, &target, 31, 41).with(join_ack(ours)),
    ];
    let from_opener = usize::from(script.server_opens);
    let from_target = 1 - from_opener;
    packets.extend([
        ack(&target, &opener, 41, 31)
            .bytes(50)
            .with(dss(dsn(from_target, 101), dsn(from_opener, 101))),
        ack(&opener, &target, 31, 91)
            .bytes(60)
            .with(dss(dsn(from_opener, 101), dsn(from_target, 151))),
        ack(&client, SERVER, 111, 121).with(dss(None, dsn(1, 151))),
        ack(SERVER, &client, 121, 111).fin(),
        ack(&client, SERVER, 111, 122).fin(),
    ]);
    if script.plain {
        packets.drain(5..10);
        packets
            .iter_mut()
            .for_each(|packet| packet.options.mptcp.clear());
    }
    packets.drain(..script.missed.min(packets.len()));
    packets
}

/// Returns where each packet went, in the order given.
fn places(packets: &[Segment]) -> Vec<Place> {
    let mut told = Told::default();
    let mut places = HashMap::new();
    for (number, packet) in packets.iter().enumerate() {
        let mut packet = packet.clone();
        (packet.frame, packet.at) = (number as u64, number as i64);
        if let Some(placed) = told.place(&packet) {
            places.insert(packet.frame, placed.place);
        }
    }
    told.finish();
    let released = told.released.iter();
    places.extend(released.map(|(packet, placed)| (packet.frame, placed.place)));
    (0..packets.len() as u64)
        .map(|frame| places[&frame])
        .collect()
}

prop_compose! {
    fn script()(
        version in 0..2_u8,
        short: bool,
        missed in prop_oneof![3 => Just(0_usize), 1 => 0..9_usize],
        server_opens: bool,
        plain in prop::bool::weighted(0.2),
        client_key: u64,
        server_key: u64,
    ) -> Script {
        Script { version, short, missed, server_opens, plain, client_key, server_key }
    }
}

proptest! {
    #[test]
    fn mixing_changes_nothing(
        scripts in prop::collection::vec(script(), 1..8),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 110),
    ) {
        let alone: Vec<_> = (0..).zip(&scripts).map(|(n, it)| packets(n, *it)).collect();
        let mut mixed = Vec::new();
        let mut origins = Vec::new();
        let mut taken = vec![0; alone.len()];
        for choice in &choices {
            let left: Vec<_> = (0..alone.len()).filter(|&n| taken[n] < alone[n].len()).collect();
            if left.is_empty() {
                break;
            }
            let which = *choice.get(&left);
            mixed.push(alone[which][taken[which]].clone());
            origins.push((which, taken[which]));
            taken[which] += 1;
        }
        let together = places(&mixed);
        let mut names: HashMap<(usize, u32), u32> = HashMap::new();
        for (which, packets) in alone.iter().enumerate() {
            let apart = places(&packets[..taken[which]]);
            let mine = origins.iter().zip(&together).filter(|((it, _), _)| *it == which);
            for ((_, number), place) in mine {
                let expected = apart[*number];
                prop_assert_eq!((place.subflow, place.from), (expected.subflow, expected.from));
                let name = *names.entry((which, expected.connection)).or_insert(place.connection);
                prop_assert_eq!(name, place.connection);
            }
        }
        let distinct: std::collections::HashSet<_> = names.values().collect();
        prop_assert_eq!(distinct.len(), names.len());
    }
}

#[test]
fn a_whole_connection_is_one() {
    let script = Script {
        version: 1,
        short: false,
        missed: 0,
        server_opens: true,
        plain: false,
        client_key: A,
        server_key: B,
    };
    let places = places(&packets(0, script));
    let subflows: Vec<_> = places.iter().map(|place| place.subflow).collect();
    assert_eq!(subflows, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0]);
    assert!(places.iter().all(|place| place.connection == 0));
    assert_eq!(places[5].from, Side::Server);
}
