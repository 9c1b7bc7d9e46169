//! Captures, as tshark reads them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mptcplab_plan::{Capture, Protocol, Way, Workload};

use crate::support::{Lab, MS, Path};

/// A folder of its own for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mptcplab-sim-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn has_tshark() -> bool {
    let found = Command::new("tshark").arg("--version").output().is_ok();
    if !found {
        println!("skipped: tshark is not installed");
    }
    found
}

/// Captures both ends of the first path while traffic of every protocol passes.
fn captured(name: &str, snap_length: u32) -> PathBuf {
    let folder = folder(name);
    let path = |delay_ns| Path {
        // Nothing is lost.
        queue_bytes: 1_000_000,
        ..Path::new(10_000_000, delay_ns)
    };
    let mut lab = Lab::with_paths(1, &[path(10 * MS), path(5 * MS)]);
    lab.bulk_bytes(Protocol::Mptcp, Way::Up, 100_000);
    lab.bulk_bytes(Protocol::Tcp, Way::Down, 100_000);
    lab.traffic(
        Protocol::Tcp,
        Workload::Ping {
            interval_ns: 10 * MS,
            count: 3,
            payload_bytes: 56,
        },
    );
    lab.traffic(
        Protocol::Tcp,
        Workload::Datagrams {
            way: Way::Up,
            rate_bps: 100_000,
            packet_bytes: 500,
            duration_ns: 100 * MS,
            on_off_ns: None,
        },
    );
    lab.plan.capture = Some(Capture {
        folder: folder.clone(),
        interfaces: lab.plan.links[0].ends.to_vec(),
        snap_length,
    });
    let run = lab.run();
    assert!(run.transfers().iter().all(|row| row["error"].is_null()));
    folder
}

fn tshark(folder: &std::path::Path, arguments: &[&str]) -> Vec<String> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(folder.join("client-p0.pcapng"));
    for protocol in ["ip", "tcp", "udp"] {
        tshark
            .arg("-o")
            .arg(format!("{protocol}.check_checksum:TRUE"));
    }
    let output = tshark.args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

/// As in Linux: the request is acknowledged before the program wakes up, and each write leaves by
/// itself, the head of the answer in a segment of its own.
#[test]
fn a_server_acknowledges_a_request_and_sends_the_head_of_its_answer_alone() {
    if !has_tshark() {
        return;
    }
    let folder = folder("answer");
    let mut lab = Lab::with_paths(1, &[Path::new(10_000_000, 10 * MS)]);
    let (bytes, count) = (20_000, 1);
    lab.traffic(Protocol::Mptcp, Workload::Http { bytes, count });
    lab.plan.capture = Some(Capture {
        folder: folder.clone(),
        interfaces: lab.plan.links[0].ends.to_vec(),
        snap_length: 128,
    });
    lab.run();
    let server = format!("ip.src == {}", lab.address(0, 1));
    let lengths = tshark(&folder, &["-T", "fields", "-e", "tcp.len", "-Y", &server]);
    let lengths: Vec<usize> = lengths.iter().map(|text| text.parse().unwrap()).collect();
    let head = lengths.iter().position(|&length| length > 0).unwrap();
    assert!(head > 0 && lengths[head - 1] == 0, "{lengths:?}");
    assert!(
        lengths[head] < 100 && lengths[head + 1] > 1400,
        "{lengths:?}"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tshark_has_nothing_to_complain_of() {
    if !has_tshark() {
        return;
    }
    let folder = captured("whole", 65_535);
    let problems = "_ws.malformed || ip.checksum.status == \"Bad\" || tcp.checksum.status == \"Bad\" \
                    || udp.checksum.status == \"Bad\" || icmp.checksum.status == \"Bad\" \
                    || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment";
    assert_eq!(tshark(&folder, &["-Y", problems]), Vec::<String>::new());
    // Time is virtual: the first packet leaves at once, the first answer comes a round trip later.
    let times = tshark(&folder, &["-T", "fields", "-e", "frame.time_epoch"]);
    assert_eq!(times[0], "0.000000000");
    let protocols = tshark(&folder, &["-T", "fields", "-e", "_ws.col.Protocol"]);
    for protocol in ["MPTCP", "TCP", "ICMP", "UDP"] {
        assert!(
            protocols.iter().any(|found| found == protocol),
            "no {protocol}"
        );
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_capture_has_the_end_of_the_connections() {
    if !has_tshark() {
        return;
    }
    let folder = captured("end", 65_535);
    let ends = |filter: &str| tshark(&folder, &["-Y", filter, "-T", "fields", "-e", "ip.src"]);
    // That of the client may go by the other path.
    assert!(ends("tcp.options.mptcp.datafin.flag == 1").contains(&"10.0.0.2".to_owned()));
    let fins = ends("tcp.flags.fin == 1 && !tcp.analysis.retransmission");
    assert!(
        fins.len() >= 4,
        "each end of both connections sends FIN: {fins:?}"
    );
    // The answer to the last FIN is there as well.
    let fields = "-Y tcp -T fields -e tcp.flags.fin -e tcp.analysis.acks_frame";
    let last = tshark(&folder, &fields.split(' ').collect::<Vec<_>>());
    let (fin, acknowledges) = last.last().unwrap().split_once('\t').unwrap();
    assert!(
        ["0", "False"].contains(&fin) && !acknowledges.is_empty(),
        "{last:?}"
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_capture_has_each_packet_once_and_cut_to_its_length() {
    if !has_tshark() {
        return;
    }
    let folder = captured("cut", 100);
    let fields = ["-T", "fields", "-e", "frame.cap_len", "-e", "frame.len"];
    let mut longest = 0;
    for line in tshark(&folder, &fields) {
        let (kept, whole) = line.split_once('\t').unwrap();
        let (kept, whole): (u32, u32) = (kept.parse().unwrap(), whole.parse().unwrap());
        assert_eq!(kept, whole.min(100));
        longest = longest.max(whole);
    }
    assert_eq!(longest, 1514);
    fs::remove_dir_all(&folder).unwrap();
}
