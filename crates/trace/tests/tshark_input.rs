//! Fields read from captures, compared with tshark's: every format and link type, tags,
//! extension headers, fragments, frames that were cut, blocks without packets.

mod common;

use std::path::Path;
use std::process::Command;

use common::ip::{extended_v6, fragments_v4, fragments_v6, with_options_v4};
use common::read::open;
use common::{Capture, Format, link, packet, segment};
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::Dissector;

const FIELDS: [&str; 16] = [
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "ip.dst",
    "ipv6.dst",
    "ip.id",
    "ip.ttl",
    "ipv6.hlim",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.window_size_value",
    "tcp.checksum",
    "tcp.len",
    "tcp.options.timestamp.tsval",
];

/// The same fields of what we read.
fn row(segment: &Segment) -> Vec<String> {
    let (v4, v6) = if segment.source.is_ipv4() {
        (Some(segment), None)
    } else {
        (None, Some(segment))
    };
    let text = |value: Option<String>| value.unwrap_or_default();
    let timestamps = segment.options.timestamps;
    vec![
        segment.frame.to_string(),
        format!(
            "{}.{:09}",
            segment.at / 1_000_000_000,
            segment.at % 1_000_000_000
        ),
        text(v4.map(|segment| segment.source.ip().to_string())),
        text(v6.map(|segment| segment.source.ip().to_string())),
        text(v4.map(|segment| segment.destination.ip().to_string())),
        text(v6.map(|segment| segment.destination.ip().to_string())),
        text(
            segment
                .identification
                .map(|number| format!("0x{number:04x}")),
        ),
        text(v4.map(|segment| segment.hop_limit.to_string())),
        text(v6.map(|segment| segment.hop_limit.to_string())),
        segment.source.port().to_string(),
        segment.destination.port().to_string(),
        segment.sequence.to_string(),
        segment.window.to_string(),
        format!("0x{:04x}", segment.checksum),
        segment.payload_bytes.to_string(),
        text(timestamps.map(|timestamps| timestamps.value.to_string())),
    ]
}

/// The rows that tshark and we make of a capture are the same; skipped without tshark.
fn compare(name: &str, capture: &Capture) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, &capture.bytes).unwrap();
    let mut command = Command::new("tshark");
    // IPv6 fragments are put together by default, those of IPv4 too; what was cut is no reason
    // not to show the fields.
    command
        .arg("-r")
        .arg(&path)
        .args(["-Y", "tcp.seq_raw", "-T", "fields"]);
    for field in FIELDS {
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
    let theirs: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    let mut merge = open([capture.bytes.clone()]).unwrap();
    let mut dissector = Dissector::default();
    let mut ours = Vec::new();
    while let Some(frame) = merge.next() {
        ours.extend(dissector.take(&frame).as_ref().map(row));
    }
    assert_eq!(merge.files()[0].damage, None);
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "{name}");
    }
}

/// Packets of both families, each different, with what may stand between IP and TCP.
fn packets() -> Vec<Vec<u8>> {
    let v4 = |text: &str| packet(&segment(&format!("10.0.0.1:1000 > 10.0.0.2:2000 {text}")));
    let v6 = |text: &str| packet(&segment(&format!("[fd00::1]:1000 > [fd00::2]:2000 {text}")));
    let mut stamped = segment("10.0.0.1:1000 > 10.0.0.2:2000 PA seq=100 len=10");
    stamped.options.timestamps = Some(mptcplab_wire::Timestamps { value: 5, echo: 0 });
    let mut packets = vec![
        v4("S seq=1"),
        v4("A seq=2 len=1400"),
        packet(&stamped),
        with_options_v4(&v4("A seq=3 len=5"), &[1; 40]),
        v6("S seq=4"),
        v6("A seq=5 len=1400"),
        extended_v6(&v6("A seq=6 len=7"), 0, &[0, 0, 1, 4, 0, 0, 0, 0]),
        extended_v6(&v6("A seq=7 len=7"), 60, &[0, 0, 1, 4, 0, 0, 0, 0]),
        extended_v6(&v6("A seq=8 len=7"), 44, &[0, 0, 0, 0, 0, 0, 0, 7]),
        extended_v6(
            &v6("A seq=9 len=7"),
            51,
            &[0, 2, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 7, 7, 7, 7],
        ),
    ];
    let orders = [[0, 1, 2], [2, 0, 1]];
    for (number, order) in orders.into_iter().enumerate() {
        let sequence = 10_000 * (number + 1);
        let whole = v4(&format!("A seq={sequence} len=1000"));
        let fragments = fragments_v4(&whole, 7 + number as u16, &[400, 800]);
        packets.extend(order.map(|at| fragments[at].clone()));
        let whole = v6(&format!("A seq={sequence} len=1000"));
        let fragments = fragments_v6(&whole, 7 + number as u32, &[400, 800]);
        packets.extend(order.map(|at| fragments[at].clone()));
    }
    // Nothing of TCP.
    let mut udp = v4("A seq=1 len=40");
    udp[9] = 17;
    packets.push(udp);
    packets
}

#[test]
fn every_format_is_read_as_tshark_reads_it() {
    for (number, format) in Format::all().enumerate() {
        let mut capture = Capture::new(format, link::ETHERNET);
        for (at, packet) in packets().iter().enumerate() {
            let at_ns = 1_700_000_000_123_456_789 + at as u64 * 1_000_001;
            capture.frame(at_ns, &link::frame(link::ETHERNET, packet));
        }
        compare(&format!("format{number}"), &capture);
    }
}

#[test]
fn every_link_type_is_read_as_tshark_reads_it() {
    for link_type in link::ALL {
        let mut capture = Capture::new(Format::PCAP, link_type);
        for (at, packet) in packets().iter().enumerate() {
            let fits = match link_type {
                link::IPV4 => packet[0] >> 4 == 4,
                link::IPV6 => packet[0] >> 4 == 6,
                _ => true,
            };
            if fits {
                capture.frame(at as u64 * 1_000_000, &link::frame(link_type, packet));
            }
        }
        compare(&format!("link{link_type}.pcap"), &capture);
    }
}

#[test]
fn interfaces_of_different_link_types_tags_and_blocks_without_packets() {
    let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
    for link_type in &link::ALL[1..] {
        capture.interface(*link_type, "some");
    }
    let packet = packet(&segment("10.0.0.1:1000 > 10.0.0.2:2000 A seq=3 len=100"));
    let mut at = 1_000_000_000;
    let interfaces = [link::ETHERNET]
        .into_iter()
        .chain(link::ALL[1..].iter().copied());
    for (interface, link_type) in interfaces.enumerate() {
        at += 1000;
        let frame = link::frame(link_type, &packet);
        if link_type != link::IPV6 {
            capture.cut_frame(interface as u32, at, &frame, frame.len());
        }
        // Interface statistics, name resolution; then what Wireshark numbers: an entry of a
        // journal, a custom block of an unassigned number.
        capture.block(5, &[0; 12]);
        capture.block(4, &[0; 4]);
        capture.block(9, b"__REALTIME_TIMESTAMP=1\n\0");
        capture.block(0xbad, &[0xff, 0xff, 0, 0, 1, 2, 3, 4]);
        capture.block(0x7777, &[0; 40]);
    }
    for tags in [
        &[(0x8100, 5)][..],
        &[(0x88a8, 5), (0x8100, 6)],
        &[(0x9100, 1), (0x8100, 2)],
    ] {
        at += 1000;
        let frame = link::tagged(tags, &packet);
        capture.cut_frame(0, at, &frame, frame.len());
    }
    // A second section.
    capture.section();
    capture.interface(link::RAW, "other");
    capture.cut_frame(0, at, &packet, packet.len());
    compare("interfaces.pcapng", &capture);
}

#[test]
fn frames_that_were_cut_are_read_as_tshark_reads_them() {
    let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
    for packet in [packets().remove(1), packets().remove(5)] {
        let frame = link::frame(link::ETHERNET, &packet);
        let header = frame.len() - 1400;
        for captured in [header, header + 1, header + 700] {
            capture.cut_frame(0, 1000, &frame, captured);
        }
    }
    // Padding of Ethernet.
    let short = segment("10.0.0.1:1000 > 10.0.0.2:2000 A seq=3");
    let mut frame = link::frame(link::ETHERNET, &packet(&short));
    frame.resize(60, 0);
    capture.frame(2000, &frame);
    // Packets that network cards are to cut have no length of their own.
    let mut large = packet(&short);
    large.resize(40 + 70_000, 1);
    large[2..4].fill(0);
    let frame = link::frame(link::ETHERNET, &large);
    capture.frame(3000, &frame);
    compare("cut.pcapng", &capture);
}
