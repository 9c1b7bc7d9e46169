//! Network address translation.

use std::net::IpAddr;

use mptcplab_plan::Middlebox as Planned;
use mptcplab_wire::{Echo, EchoKind, Packet, Segment};

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

/// An ICMP error, of this type, from a router to the sender of a packet.
fn error(router: &str, about: &Packet, kind: u8) -> Packet {
    let mut cause = Vec::new();
    about.write_to(&mut cause);
    let router = router.parse().unwrap();
    let made = EchoKind::Request;
    let mut error = Packet::echo(router, about.source(), made, 0, 1280, cause.into());
    let offset = error.header.len() - 8;
    error.header[offset] = kind;
    error
}

/// A packet after one passage, as its receiver reads it; `None` where it does not go on.
fn carried(nat: &mut Chain, direction: usize, packet: Packet) -> Option<Packet> {
    let mut out = Vec::new();
    nat.pass(0, (direction, packet), &mut out);
    let (onwards, packet) = out.pop()?;
    assert_eq!((onwards, out.len()), (direction, 0));
    let mut bytes = Vec::new();
    packet.write_to(&mut bytes);
    Some(Packet::read(bytes.into()).expect("a whole packet"))
}

/// The packet within an error, whose checksums must be right.
fn cause(error: &Packet) -> Packet {
    Packet::read(error.payload.clone()).expect("a whole packet")
}

#[test]
fn an_error_about_a_packet_comes_back_to_its_sender_with_the_packet_as_it_was() {
    let boxes = [
        ("192.0.2.1", "10.0.0.9", "198.51.100.7", "203.0.113.1", 3),
        ("2001:db8::1", "fd00::9", "2001:db8::7", "2001:db8::ff", 2),
    ];
    for (outer, inner, server, router, kind) in boxes {
        let mut nat = chain(&[Planned::Nat {
            inside: 0,
            address: outer.parse().unwrap(),
        }]);
        let [inner, server] = [inner, server].map(|ip| ip.parse::<IpAddr>().unwrap());
        let taken = Segment {
            source: (IpAddr::from([10, 0, 0, 1]), 40000).into(),
            ..data(1, b"")
        };
        pass(&mut nat, 0, 0, &taken);
        let segment = Segment {
            source: (inner, 40000).into(),
            destination: (server, 80).into(),
            ..data(1, b"abc")
        };
        let payload = || b"abcdef"[..].into();
        let packets = [
            segment.into_packet(64),
            Packet::udp((inner, 40000).into(), (server, 53).into(), payload()),
            Packet::echo(inner, server, EchoKind::Request, 40000, 1, payload()),
        ];
        for packet in packets {
            let sent = carried(&mut nat, 0, packet.clone()).unwrap();
            assert_eq!(sent.source(), outer.parse::<IpAddr>().unwrap());
            let told = carried(&mut nat, 1, error(router, &sent, kind)).unwrap();
            assert_eq!(told.source(), router.parse::<IpAddr>().unwrap());
            assert_eq!((told.destination(), cause(&told)), (inner, packet));
        }
    }
}

#[test]
fn an_error_from_inside_is_that_of_the_nat_about_the_packet_that_it_let_in() {
    let mut nat = nat();
    let out = data(1, b"abc");
    pass(&mut nat, 0, 0, &out);
    let answer = Segment {
        source: out.destination,
        destination: address("192.0.2.1:40000"),
        ..out.clone()
    };
    let let_in = carried(&mut nat, 1, answer.clone().into_packet(64)).unwrap();
    let refusal = error("10.0.0.77", &let_in, 3);
    let told = carried(&mut nat, 0, refusal).unwrap();
    assert_eq!(told.source(), IpAddr::from([192, 0, 2, 1]));
    assert_eq!(cause(&told), answer.into_packet(64));
}

#[test]
fn errors_about_strange_packets_and_what_has_no_ports_do_not_pass() {
    let mut nat = nat();
    let stranger = Segment {
        source: address("192.0.2.1:40000"),
        ..data(1, b"abc")
    };
    let about_it = error("203.0.113.1", &stranger.clone().into_packet(64), 3);
    assert_eq!(carried(&mut nat, 1, about_it.clone()), None);
    let inner = Segment {
        destination: address("10.0.0.1:40000"),
        ..stranger
    };
    let about_it = error("10.0.0.1", &inner.into_packet(64), 3);
    assert_eq!(carried(&mut nat, 0, about_it), None);
    // Neither an echo nor an error: a request for routers.
    let [inner, all] = ["10.0.0.1", "224.0.0.2"].map(|ip| ip.parse().unwrap());
    let mut request = Packet::echo(inner, all, EchoKind::Request, 0, 0, Default::default());
    request.header[20] = 10;
    assert_eq!(request.as_echo(), None::<Echo>);
    assert_eq!(carried(&mut nat, 0, request), None);
    assert!(!nat.passes_unread());
    assert!(chain(&[Planned::ProxyAck { sender: 0 }]).passes_unread());
}
