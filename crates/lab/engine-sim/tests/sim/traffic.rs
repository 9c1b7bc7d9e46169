//! The applications over plain TCP: what they send, and what the recording says of it.

use mptcplab_plan::{Action, Protocol, Requests, Way, Workload};
use serde_json::Value;

use crate::support::{Lab, MS, Path, SECOND, goodput_bps};

fn one_path() -> Lab {
    Lab::with_paths(1, &[Path::new(10_000_000, 10 * MS)])
}

#[test]
fn a_bulk_transfer_delivers_every_byte_each_way() {
    for way in [Way::Up, Way::Down] {
        let mut lab = one_path();
        lab.bulk_bytes(Protocol::Tcp, way, 1_000_000);
        let run = lab.run();
        let transfer = run.transfer();
        assert_eq!(transfer["bytes"], 1_000_000);
        assert_eq!(transfer["kind"], "bulk");
        assert_eq!(transfer["target"], "10.0.0.2:5001");
        let of_bins: u64 = run
            .table("deliveries")
            .iter()
            .map(|row| row["bytes"].as_u64().unwrap())
            .sum();
        assert_eq!(of_bins, 1_000_000);
    }
}

#[test]
fn a_handshake_takes_a_round_trip_and_two_serialisations() {
    let mut lab = one_path();
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 1_000_000);
    let run = lab.run();
    // SYN and SYN/ACK have 60 bytes: 48 µs at 10 Mbit/s. Each host takes its time to handle them.
    let hosts_ns = run.transfer()["connected_ns"].as_u64().unwrap() - 2 * (10 * MS + 48_000);
    assert!((2 * 17_000..=2 * 45_000).contains(&hosts_ns), "{hosts_ns}");
}

#[test]
fn a_long_transfer_fills_the_path() {
    let mut lab = one_path();
    lab.bulk_for(Protocol::Tcp, Way::Up, 20 * SECOND);
    let run = lab.run();
    let transfer = run.transfer();
    assert_eq!(transfer["end_ns"], 20 * SECOND);
    // 1448 of 1500 bytes are payload.
    let share = goodput_bps(transfer) / (10e6 * 1448.0 / 1500.0);
    assert!((0.95..=1.0).contains(&share), "{share}");
}

#[test]
fn both_ways_and_several_streams_are_a_connection_each() {
    let mut lab = one_path();
    lab.traffic(
        Protocol::Tcp,
        Workload::Bulk {
            way: Way::Both,
            streams: 3,
            duration_ns: None,
            bytes: Some(100_000),
            rate_bps: None,
        },
    );
    let run = lab.run();
    let mut found: Vec<_> = run
        .transfers()
        .into_iter()
        .map(|row| {
            assert_eq!(
                (&row["error"], &row["bytes"]),
                (&Value::Null, &Value::from(100_000))
            );
            (row["way"].as_str().unwrap(), row["index"].as_u64().unwrap())
        })
        .collect();
    found.sort_unstable();
    let expected = ["down", "up"].map(|way| [0, 1, 2].map(|index| (way, index)));
    assert_eq!(found, expected.concat());
}

#[test]
fn a_rate_limited_sender_keeps_its_rate() {
    let mut lab = one_path();
    lab.traffic(
        Protocol::Tcp,
        Workload::Bulk {
            way: Way::Up,
            streams: 1,
            duration_ns: Some(10 * SECOND),
            bytes: None,
            rate_bps: Some(1_000_000),
        },
    );
    let run = lab.run();
    let rate = goodput_bps(run.transfer());
    // The first byte comes two round trips late, the last write is 1400 bytes.
    assert!((0.99e6..=1e6).contains(&rate), "{rate}");
}

#[test]
fn downloads_come_one_after_the_other_over_a_connection_each() {
    let mut lab = one_path();
    lab.traffic(
        Protocol::Tcp,
        Workload::Http {
            bytes: 50_000,
            count: 3,
        },
    );
    let run = lab.run();
    let transfers = run.transfers();
    assert_eq!(transfers.len(), 3);
    let mut before = 0;
    for (index, transfer) in transfers.into_iter().enumerate() {
        assert_eq!(transfer["index"], index);
        assert_eq!(transfer["bytes"], 50_000);
        assert_eq!(transfer["error"], Value::Null);
        assert!(transfer["start_ns"].as_u64().unwrap() >= before);
        before = transfer["end_ns"].as_u64().unwrap();
    }
}

#[test]
fn files_go_over_ftp_in_either_direction_with_a_data_connection_each() {
    let ways = [(Way::Up, "up"), (Way::Down, "down")];
    // The first three are written or come at once, while a program sleeps.
    let sizes = [0, 1, 16_000, 200_000];
    for ((way, name), bytes) in ways
        .into_iter()
        .flat_map(|way| sizes.map(|size| (way, size)))
    {
        let mut lab = one_path();
        lab.traffic(
            Protocol::Tcp,
            Workload::Ftp {
                way,
                bytes,
                count: 2,
            },
        );
        let run = lab.run();
        let transfers = run.transfers();
        assert_eq!(transfers.len(), 2, "{:?}", run.warnings());
        for transfer in transfers {
            assert_eq!(transfer["error"], Value::Null);
            assert_eq!(transfer["bytes"], bytes);
            assert_eq!(
                (&transfer["kind"], &transfer["way"]),
                (&"ftp".into(), &name.into())
            );
            // The data port, not that of control.
            assert_eq!(transfer["target"], "10.0.0.2:37769");
        }
        assert!(run.warnings().is_empty(), "{:?}", run.warnings());
        assert_eq!(run.counter("client", "TcpActiveOpens"), 3);
    }
}

#[test]
fn a_request_takes_a_round_trip_and_its_serialisations() {
    let mut lab = one_path();
    lab.traffic(
        Protocol::Tcp,
        Workload::RequestResponse(Requests {
            request_bytes: 100,
            response_bytes: 200,
            interval_ns: SECOND,
            count: 3,
        }),
    );
    let run = lab.run();
    let latencies = run.table("latencies");
    assert_eq!(latencies.len(), 3);
    // 152 and 252 bytes at 10 Mbit/s.
    let expected = 2 * 10 * MS + 121_600 + 201_600;
    let connected = run.transfer()["connected_ns"].as_u64().unwrap();
    let asked = latencies[0]["t_ns"].as_u64().unwrap();
    // The programs wake up first.
    let wake_up = 28_000..333_000;
    assert!(wake_up.contains(&(asked - connected)));
    for (number, row) in latencies.into_iter().enumerate() {
        let slept = row["rtt_ns"].as_u64().unwrap() - expected;
        assert!((2 * wake_up.start..2 * wake_up.end).contains(&slept));
        assert_eq!(row["t_ns"], asked + number as u64 * SECOND);
    }
    assert_eq!(run.transfer()["bytes"], 600);
}

#[test]
fn datagrams_keep_their_rate_and_their_pauses() {
    for (on_off_ns, share) in [(None, 1.0), (Some([100 * MS, 300 * MS]), 0.25)] {
        let mut lab = one_path();
        lab.traffic(
            Protocol::Tcp,
            Workload::Datagrams {
                way: Way::Up,
                rate_bps: 5_000_000,
                packet_bytes: 1000,
                duration_ns: 100 * SECOND,
                on_off_ns,
            },
        );
        let run = lab.run();
        let samples = run.table("link_samples");
        let offered = samples
            .iter()
            .rfind(|row| row["to"] == "server.p0")
            .unwrap();
        let rate = offered["offered_bytes"].as_u64().unwrap() as f64 * 8.0 / 100.0;
        let deviation = rate / (5e6 * share) - 1.0;
        let most = if on_off_ns.is_none() { 0.0001 } else { 0.1 };
        assert!(deviation.abs() < most, "{rate} of {}", 5e6 * share);
        let delivered: u64 = run
            .table("deliveries")
            .iter()
            .map(|row| row["bytes"].as_u64().unwrap())
            .sum();
        let packets = offered["delivered_packets"].as_u64().unwrap();
        // Without the headers of IP and UDP; the last one may be under way.
        assert_eq!(delivered, packets * 972);
    }
}

#[test]
fn traffic_starts_at_its_time() {
    let mut lab = one_path();
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 1000).start_ns = 3 * SECOND;
    let run = lab.run();
    assert_eq!(run.transfer()["start_ns"], 3 * SECOND);
}

#[test]
fn nobody_listening_is_a_refusal_in_the_kernels_words() {
    let mut lab = one_path();
    // The server of the ping's port listens nowhere.
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 1000);
    lab.plan.traffic[0].target = "10.0.0.9".parse().unwrap();
    lab.plan.traffic[0].source = Some("10.0.0.8".parse().unwrap());
    let run = lab.run();
    assert_eq!(
        run.transfers()[0]["error"],
        "connect to 10.0.0.9:5001 from 10.0.0.8: cannot assign requested address"
    );
}

#[test]
fn a_silent_path_is_a_timeout_after_the_kernels_retries() {
    let mut lab = one_path();
    lab.plan.links[0].config.directions[0].up = false;
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 1000);
    let run = lab.run();
    let transfer = run.transfers()[0];
    let error = transfer["error"].as_str().unwrap();
    assert!(
        error.starts_with("connect to 10.0.0.2:5001: connection timed out after 1"),
        "{error}"
    );
    assert_eq!(transfer["connected_ns"], Value::Null);
}

#[test]
fn the_limit_of_time_ends_what_is_under_way_and_says_so() {
    let mut lab = one_path();
    lab.plan.time_limit_ns = 2 * SECOND;
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 100_000_000);
    lab.bulk_bytes(Protocol::Tcp, Way::Up, 1000).start_ns = 5 * SECOND;
    let run = lab.run();
    let [transfer] = run.transfers()[..] else {
        panic!("{:?}", run.transfers());
    };
    assert_eq!(transfer["error"], "the time limit of the run was reached");
    assert!(transfer["bytes"].as_u64().unwrap() > 1_000_000);
    let limit = "the run was ended by its time limit before all traffic was done";
    assert_eq!(
        run.warnings(),
        ["t1: the run ended before it started", limit]
    );
}

#[test]
fn a_link_that_goes_down_for_a_while_is_the_longest_silence() {
    let mut lab = one_path();
    lab.bulk_for(Protocol::Tcp, Way::Up, 10 * SECOND);
    for (at_ns, up) in [(2 * SECOND, false), (4 * SECOND, true)] {
        let change = mptcplab_link::LinkChange {
            up: Some(up),
            ..Default::default()
        };
        let (link, carrier) = (0, None);
        lab.event(
            at_ns,
            Action::Link {
                link,
                change,
                carrier,
            },
        );
    }
    let run = lab.run();
    let transfer = run.transfer();
    let silence = transfer["longest_silence_ns"].as_u64().unwrap();
    // Until the next retransmission after the link is back.
    assert!((2 * SECOND..5 * SECOND).contains(&silence), "{silence}");
    let at = transfer["longest_silence_at_ns"].as_u64().unwrap();
    assert!(
        (2 * SECOND - 10 * MS..2 * SECOND + 20 * MS).contains(&at),
        "{at}"
    );
}
