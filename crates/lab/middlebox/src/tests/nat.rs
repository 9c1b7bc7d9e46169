//! Network address translation.

use std::net::IpAddr;

use mptcplab_plan::Middlebox as Planned;
use mptcplab_wire::Segment;

use super::{Chain, address, chain, data, pass};

fn nat() -> Chain {
    chain(&[Planned::Nat {
        inside: 0,
        address: "192.0.2.1".parse::<IpAddr>().unwrap(),
    }])
}

#[test]
fn a_nat_gives_its_address_and_takes_it_back_from_answers() {
    let mut nat = nat();
    let out = data(1, b"abc");
    let translated = Segment {
        source: address("192.0.2.1:40000"),
        ..out.clone()
    };
    assert_eq!(pass(&mut nat, 0, 0, &out), [(0, translated)]);
    let answer = Segment {
        source: out.destination,
        destination: address("192.0.2.1:40000"),
        ..out.clone()
    };
    let inside = Segment {
        destination: out.source,
        ..answer.clone()
    };
    assert_eq!(pass(&mut nat, 0, 1, &answer), [(1, inside)]);
}

#[test]
fn a_nat_maps_each_inner_endpoint_once_and_lets_only_answers_in() {
    let mut nat = nat();
    let from = |source: &str, destination: &str| Segment {
        source: address(source),
        destination: address(destination),
        ..data(1, b"abc")
    };
    let source_of = |nat: &mut Chain, segment: &Segment| pass(nat, 0, 0, segment)[0].1.source;
    let first = from("10.0.0.1:40000", "198.51.100.7:80");
    assert_eq!(source_of(&mut nat, &first), address("192.0.2.1:40000"));
    // Another host with the same port gets another one; the same host the same (endpoint-independent).
    let second = from("10.0.0.9:40000", "198.51.100.7:80");
    assert_eq!(source_of(&mut nat, &second), address("192.0.2.1:49152"));
    let elsewhere = from("10.0.0.1:40000", "198.51.100.8:81");
    assert_eq!(source_of(&mut nat, &elsewhere), address("192.0.2.1:40000"));
    // Address- and port-dependent filtering.
    for (stranger, passes) in [
        ("198.51.100.7:80", true),
        ("198.51.100.8:81", true),
        ("198.51.100.7:81", false),
        ("198.51.100.9:80", false),
    ] {
        let passed = pass(&mut nat, 0, 1, &from(stranger, "192.0.2.1:40000"));
        assert_eq!(passed.len(), usize::from(passes), "{stranger}");
    }
}
