//! A capture shows what a wire would: packets, not large frames, with whole checksums.

mod emulator_frames;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use emulator_frames::{Ip, Large, Transport, ipv4, ipv6, tcp};
use mptcplab_engine_kernel::capture;
use mptcplab_engine_kernel::frames::segments::Frame;

/// 2026-01-01 00:00:00 UTC.
const EPOCH_NS: u64 = 1_767_225_600_000_000_000;

/// Captures every packet of the frames, a microsecond apart: sent, then received.
fn capture(name: &str, frames: &[Large], snap_length: u32) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
    fs::remove_file(&path).ok();
    let (mut tap, writer) = capture::start(&path, "client.wifi", snap_length).unwrap();
    tap.begin(EPOCH_NS);
    let mut at = 0;
    for large in frames {
        let (offload, bytes) = large.frame();
        let frame = Frame::new(offload, bytes);
        for index in 0..frame.packets() {
            at += 1_000;
            tap.sent(at, &frame, index);
            at += 1_000;
            tap.received(at, &frame, index);
        }
    }
    let lost = tap.lost();
    drop(tap);
    writer.finish().unwrap();
    assert_eq!(lost.load(std::sync::atomic::Ordering::Relaxed), 0);
    path
}

/// The fields of each packet as tshark reads them; `None` without tshark.
fn tshark(path: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    for preference in ["ip", "tcp", "udp"] {
        command.args(["-o", &format!("{preference}.check_checksum:TRUE")]);
    }
    command.arg("-r").arg(path).args(["-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: this machine has no tshark: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().map(row).collect())
}

fn large(ip: Ip, transport: Transport, bytes: usize) -> Large {
    Large {
        ip,
        transport,
        payload: (0..bytes).map(|at| (at % 251) as u8).collect(),
        gso_bytes: 1400,
    }
}

#[test]
fn every_packet_is_small_and_has_good_checksums() {
    let frames = [
        large(ipv4(65_530), Transport::Tcp(tcp(u32::MAX - 5000)), 40_001),
        large(ipv6(), Transport::Tcp(tcp(1)), 2_800),
        large(ipv4(7), Transport::Udp, 4_201),
        large(ipv6(), Transport::Udp, 4_201),
    ];
    let path = capture("checksums", &frames, 65_535);
    let Some(rows) = tshark(
        &path,
        &[
            "frame.len",
            "ip.checksum.status",
            "tcp.checksum.status",
            "udp.checksum.status",
            "frame.packet_flags_direction",
            "frame.time_epoch",
        ],
    ) else {
        return;
    };
    let mut expected = Vec::new();
    for frame in &frames {
        let good = |on: bool| if on { "1" } else { "" };
        let is_tcp = matches!(frame.transport, Transport::Tcp(_));
        let is_ipv4 = matches!(frame.ip, Ip::V4(_));
        for index in 0..frame.packets() {
            for direction in ["0x00000002", "0x00000001"] {
                expected.push(vec![
                    frame.packet(index).len().to_string(),
                    good(is_ipv4).to_owned(),
                    good(is_tcp).to_owned(),
                    good(!is_tcp).to_owned(),
                    direction.to_owned(),
                    format!("1767225600.{:06}000", expected.len() + 1),
                ]);
            }
        }
    }
    assert_eq!(rows, expected);
}

#[test]
fn a_short_capture_keeps_the_headers_and_tells_the_length() {
    let frames = [large(ipv4(1), Transport::Tcp(tcp(1)), 1_401)];
    let path = capture("snapped", &frames, 96);
    let Some(rows) = tshark(&path, &["frame.cap_len", "frame.len", "tcp.seq_raw"]) else {
        return;
    };
    // 94 bytes of headers; each packet once sent and once received.
    assert_eq!(
        rows,
        [
            ["96", "1494", "1"],
            ["96", "1494", "1"],
            ["95", "95", "1401"],
            ["95", "95", "1401"]
        ]
    );
}
