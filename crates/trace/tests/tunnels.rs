//! Segments within tunnels and tags, and their layers: as they were made, and as tshark sees them.

mod common;

use std::path::Path;
use std::process::Command;

use common::ip::{fragments_v4, fragments_v6};
use common::read::open;
use common::tunnel::{
    ethernet, ethertype, geneve, gre, gtp_u, labelled, pppoe, protocol, udp, v4, v6, vxlan,
};
use common::{Capture, Format, link, packet, segment};
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Skipped};
use mptcplab_trace::input::{Frame, LinkType};
use proptest::prelude::*;

const V4: &str = "10.0.0.1:1000 > 10.0.0.2:80 PA seq=7 ack=9 len=101";
const V6: &str = "[fd00::1]:1000 > [fd00::2]:80 PA seq=7 ack=9 len=101";

fn take(dissector: &mut Dissector, number: u64, link_type: u16, bytes: &[u8]) -> Option<Segment> {
    dissector.take(&Frame {
        at: 5,
        number,
        interface: 0,
        link_type: LinkType(link_type),
        captured: bytes,
        original_bytes: bytes.len() as u32,
    })
}

/// Returns the segment in a frame, or why there is none.
fn one(link_type: u16, bytes: &[u8]) -> Result<Segment, &'static str> {
    let mut dissector = Dissector::new(true);
    let taken = take(&mut dissector, 1, link_type, bytes);
    let reasons = dissector.skipped().reasons();
    taken.ok_or_else(|| reasons.iter().find(|(_, count)| *count > 0).unwrap().0)
}

/// Frames of Ethernet around a packet, and their layers.
fn wrapped(inner: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let in_ip = |number: u8, content: &[u8]| ethernet(0x0800, &v4(number, content));
    let in_v6 = |number: u8, content: &[u8]| ethernet(0x86dd, &v6(number, content));
    let own = if inner[0] >> 4 == 4 {
        protocol::IPV4
    } else {
        protocol::IPV6
    };
    let kind = ethertype(inner);
    let framed = link::frame(link::ETHERNET, inner);
    let ppp = link::frame(link::PPP, inner);
    // A PDU session container, and a container without content behind it.
    let extended = [0, 0, 0, 0x85, 1, 0, 5, 0x85, 1, 0, 6, 0];
    vec![
        ("IPv4", in_ip(own, inner)),
        ("IPv6", in_v6(own, inner)),
        ("IPv4 IPv6", in_ip(protocol::IPV6, &v6(own, inner))),
        ("IPv4 GRE", in_ip(protocol::GRE, &gre(0, kind, inner))),
        ("IPv4 GRE", in_ip(protocol::GRE, &gre(0xb000, kind, inner))),
        ("IPv4 GRE", in_ip(protocol::GRE, &gre(0x3081, 0x880b, &ppp))),
        ("IPv6 GRE", in_v6(protocol::GRE, &gre(0x2000, kind, inner))),
        (
            "IPv4 GRE Ethernet",
            in_ip(protocol::GRE, &gre(0x2000, 0x6558, &framed)),
        ),
        (
            "IPv4 GRE MPLS",
            in_ip(protocol::GRE, &gre(0, 0x8847, &labelled(2, inner))),
        ),
        ("IPv4 MPLS", in_ip(protocol::MPLS, &labelled(1, inner))),
        ("IPv4 GTP-U", in_ip(protocol::UDP, &gtp_u(0, &[], inner))),
        (
            "IPv6 GTP-U",
            in_v6(protocol::UDP, &gtp_u(2, &[0, 9, 0, 0], inner)),
        ),
        (
            "IPv4 GTP-U",
            in_ip(protocol::UDP, &gtp_u(4, &extended, inner)),
        ),
        ("IPv4 VXLAN Ethernet", in_ip(protocol::UDP, &vxlan(inner))),
        ("IPv4 Geneve", in_ip(protocol::UDP, &geneve(0, kind, inner))),
        (
            "IPv6 Geneve Ethernet",
            in_v6(protocol::UDP, &geneve(2, 0x6558, &framed)),
        ),
        ("MPLS", ethernet(0x8847, &labelled(1, inner))),
        ("MPLS", ethernet(0x8847, &labelled(3, inner))),
        ("PPPoE", ethernet(0x8864, &pppoe(inner))),
        (
            "VLAN PPPoE",
            ethernet(0x8100, &[&[0, 5, 0x88, 0x64][..], &pppoe(inner)].concat()),
        ),
        (
            "VLAN VLAN IPv4 VXLAN Ethernet IPv4 GRE",
            link::tagged(
                &[(0x88a8, 5), (0x8100, 6)],
                &v4(
                    protocol::UDP,
                    &vxlan(&v4(protocol::GRE, &gre(0, kind, inner))),
                ),
            ),
        ),
    ]
}

#[test]
fn a_segment_within_a_tunnel_is_that_without_it() {
    for text in [V4, V6] {
        let inner = packet(&segment(text));
        let plain = one(link::RAW, &inner).unwrap();
        assert!(plain.layers.is_empty());
        for (layers, frame) in wrapped(&inner) {
            let found = one(link::ETHERNET, &frame).unwrap_or_else(|why| panic!("{layers}: {why}"));
            assert_eq!(found.layers.to_string(), layers);
            let expected = Segment {
                layers: found.layers,
                ..plain.clone()
            };
            assert_eq!(found, expected, "{layers}");
        }
    }
}

#[test]
fn segments_are_counted_by_their_layers() {
    let inner = packet(&segment(V4));
    let mut dissector = Dissector::new(false);
    for number in 1..=3 {
        let bytes = v4(protocol::GRE, &gre(0, 0x0800, &inner));
        assert!(take(&mut dissector, number, link::RAW, &bytes).is_some());
    }
    let tagged = link::tagged(&[(0x8100, 5)], &inner);
    assert!(take(&mut dissector, 4, link::ETHERNET, &tagged).is_some());
    assert!(take(&mut dissector, 5, link::RAW, &inner).is_some());
    let counts = dissector.layered().iter();
    let counts: Vec<_> = counts
        .map(|(layers, count)| (layers.to_string(), *count))
        .collect();
    assert_eq!(counts, [("VLAN".into(), 1), ("IPv4 GRE".into(), 3)]);
}

#[test]
fn padding_of_a_frame_within_a_tunnel_is_no_data() {
    let inner = packet(&segment("10.0.0.1:1 > 10.0.0.2:2 A"));
    let mut frame = link::frame(link::ETHERNET, &inner);
    frame.resize(60, 0x55);
    let vxlan = udp(4789, &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &frame].concat());
    let segment = one(link::RAW, &v4(protocol::UDP, &vxlan)).unwrap();
    assert_eq!((segment.payload_bytes, segment.packet_bytes), (0, 40));
    assert_eq!(segment.payload_sum, Some(0));
}

#[test]
fn fragments_of_a_tunnel_are_put_together_and_so_are_fragments_within_one() {
    let inner = packet(&segment("10.0.0.1:1000 > 10.0.0.2:80 A seq=7 len=1000"));
    let plain = one(link::RAW, &inner).unwrap();
    let outer_v4 = v4(protocol::UDP, &vxlan(&inner));
    let outer_v6 = v6(protocol::UDP, &vxlan(&inner));
    let inner_fragments = fragments_v4(&inner, 5, &[400, 800]);
    let within: Vec<_> = inner_fragments
        .iter()
        .map(|fragment| v4(protocol::GRE, &gre(0, 0x0800, fragment)))
        .collect();
    // The sum of the data is known where the fragments are those of TCP's own packet.
    let cases = [
        (
            "IPv4 VXLAN Ethernet",
            fragments_v4(&outer_v4, 9, &[400, 800]),
            false,
        ),
        (
            "IPv6 VXLAN Ethernet",
            fragments_v6(&outer_v6, 9, &[400, 800]),
            false,
        ),
        ("IPv4 GRE", within, true),
    ];
    for (layers, fragments, summed) in cases {
        let mut dissector = Dissector::new(true);
        assert_eq!(take(&mut dissector, 1, link::RAW, &fragments[1]), None);
        assert_eq!(take(&mut dissector, 2, link::RAW, &fragments[0]), None);
        let found = take(&mut dissector, 3, link::RAW, &fragments[2]).unwrap();
        assert_eq!(found.layers.to_string(), layers);
        let expected = Segment {
            frame: 3,
            identification: found.identification,
            payload_sum: plain.payload_sum.filter(|_| summed),
            layers: found.layers,
            ..plain.clone()
        };
        assert_eq!(found, expected, "{layers}");
        let joined = Skipped {
            fragment_joined: 2,
            ..Skipped::default()
        };
        assert_eq!(*dissector.skipped(), joined);
    }
}

#[test]
fn fragments_without_tcp_are_counted_as_what_they_hold() {
    let datagram = udp(443, &[1; 1000]);
    let mut dissector = Dissector::new(true);
    for (at, fragment) in (1..).zip(fragments_v4(&v4(protocol::UDP, &datagram), 9, &[400, 800])) {
        assert_eq!(take(&mut dissector, at, link::RAW, &fragment), None);
    }
    let not_tcp = Skipped {
        not_tcp: 3,
        ..Skipped::default()
    };
    assert_eq!(*dissector.skipped(), not_tcp);
}

#[test]
fn what_is_within_is_bounded_and_what_is_no_tunnel_is_left_alone() {
    let inner = packet(&segment(V4));
    let nested = |depth| (0..depth).fold(inner.clone(), |inner, _| v4(protocol::IPV4, &inner));
    assert_eq!(one(link::RAW, &nested(8)).unwrap().layers.iter().count(), 8);
    assert_eq!(one(link::RAW, &nested(9)), Err("malformed"));
    let in_udp = |datagram: &[u8]| one(link::RAW, &v4(protocol::UDP, datagram));
    assert_eq!(in_udp(&udp(443, &inner)), Err("not_tcp"));
    // An echo request of GTP-U, GTP version 2, VXLAN without a network, Geneve of version 1.
    assert_eq!(
        in_udp(&udp(2152, &[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0])),
        Err("not_tcp")
    );
    assert_eq!(in_udp(&udp(2152, &[0x48; 40])), Err("not_tcp"));
    assert_eq!(in_udp(&udp(4789, &[0; 60])), Err("not_tcp"));
    assert_eq!(in_udp(&udp(6081, &[0x40; 60])), Err("not_tcp"));
    // An extension of no length, and more of them than a packet needs.
    assert_eq!(
        in_udp(&gtp_u(4, &[0, 0, 0, 0x85, 0, 0, 0, 0], &inner)),
        Err("malformed")
    );
    let many = [&[0, 0, 0, 0x85][..], &[1, 0, 0, 0x85].repeat(9)].concat();
    assert_eq!(in_udp(&gtp_u(4, &many, &inner)), Err("malformed"));
    // Labels without a bottom; below the bottom something else than IP.
    assert_eq!(
        one(link::ETHERNET, &ethernet(0x8847, &[0; 100])),
        Err("malformed")
    );
    let other = labelled(1, &[0x12; 40]);
    assert_eq!(
        one(link::ETHERNET, &ethernet(0x8847, &other)),
        Err("not_ip")
    );
    let routed = v4(protocol::GRE, &gre(0x4000, 0x0800, &inner));
    assert_eq!(one(link::RAW, &routed), Err("not_tcp"));
    // ARP within VXLAN.
    let arp = [&[8, 0, 0, 0, 0, 0, 7, 0][..], &ethernet(0x0806, &[0; 28])].concat();
    assert_eq!(in_udp(&udp(4789, &arp)), Err("not_ip"));
}

#[test]
fn ppp_may_leave_out_address_control_and_half_of_the_protocol() {
    let inner = packet(&segment(V4));
    for header in [
        &[0xff, 3, 0, 0x21][..],
        &[0xff, 3, 0x21],
        &[0, 0x21],
        &[0x21],
    ] {
        let frame = [header, &inner].concat();
        assert_eq!(one(link::PPP, &frame), one(link::RAW, &inner), "{header:?}");
    }
    // LCP, and what Van Jacobson's method has compressed.
    assert_eq!(
        one(link::PPP, &[0xff, 3, 0xc0, 0x21, 1, 1, 0, 4]),
        Err("not_ip")
    );
    assert_eq!(
        one(link::PPP, &[0xff, 3, 0, 0x2d, 1, 1, 0, 4]),
        Err("not_ip")
    );
}

/// The layers that tshark's list of protocols names; it sees PPP and UDP too.
fn layers_of(protocols: &str) -> String {
    let mut names: Vec<_> = protocols
        .split(':')
        .skip(1)
        .filter_map(|protocol| match protocol {
            "vlan" | "ieee8021ad" => Some("VLAN"),
            "pppoes" => Some("PPPoE"),
            "mpls" => Some("MPLS"),
            "ip" => Some("IPv4"),
            "ipv6" => Some("IPv6"),
            "gre" => Some("GRE"),
            "gtp" => Some("GTP-U"),
            "vxlan" => Some("VXLAN"),
            "geneve" => Some("Geneve"),
            "eth" => Some("Ethernet"),
            _ => None,
        })
        .collect();
    // The last one is TCP's own packet; labels of a stack are one layer.
    names.pop();
    names.dedup_by(|b, a| *a == "MPLS" && a == b);
    names.join(" ")
}

#[test]
fn tunnels_are_read_as_tshark_reads_them() {
    let mut capture = Capture::new(Format::PCAP, link::ETHERNET);
    for (number, text) in [V4, V6].into_iter().enumerate() {
        for (at, (_, frame)) in wrapped(&packet(&segment(text))).into_iter().enumerate() {
            capture.frame((number * 100 + at) as u64 * 1_000_000, &frame);
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tunnels.pcap");
    std::fs::write(&path, &capture.bytes).unwrap();
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path);
    // The innermost of each.
    command.args(["-T", "fields", "-E", "occurrence=l"]);
    let fields = [
        "frame.number",
        "tcp.srcport",
        "tcp.dstport",
        "tcp.seq_raw",
        "tcp.len",
        "tcp.checksum",
        "frame.protocols",
    ];
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: this machine has no tshark: {error}");
            return;
        }
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut theirs = Vec::new();
    for line in text.lines() {
        let (rest, protocols) = line.rsplit_once('\t').unwrap();
        theirs.push(format!("{rest}\t{}", layers_of(protocols)));
    }
    let mut merge = open([capture.bytes.clone()]).unwrap();
    let mut dissector = Dissector::default();
    let mut ours = Vec::new();
    while let Some(frame) = merge.next() {
        let segment = dissector.take(&frame).unwrap();
        ours.push(format!(
            "{}\t{}\t{}\t{}\t{}\t0x{:04x}\t{}",
            segment.frame,
            segment.source.port(),
            segment.destination.port(),
            segment.sequence,
            segment.payload_bytes,
            segment.checksum,
            segment.layers,
        ));
    }
    assert_eq!(ours, theirs);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn tunnels_of_any_bytes_are_taken_or_counted_once(
        which in 0..42_usize,
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..8),
        captured in 0..400_usize,
    ) {
        let texts = [V4, V6];
        let mut frames = wrapped(&packet(&segment(texts[which % 2])));
        let mut bytes = frames.swap_remove(which / 2).1;
        let count = bytes.len();
        for (at, value) in changes {
            bytes[at % count.min(100)] = value;
        }
        let captured = captured.min(count);
        let mut dissector = Dissector::new(true);
        let taken = dissector.take(&Frame {
            at: 5,
            number: 1,
            interface: 0,
            link_type: LinkType(link::ETHERNET),
            captured: &bytes[..captured],
            original_bytes: count as u32,
        });
        prop_assert_eq!(dissector.skipped().total(), u64::from(taken.is_none()));
    }
}
