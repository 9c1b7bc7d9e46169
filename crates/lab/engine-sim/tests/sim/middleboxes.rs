//! Transfers of MPTCP behind middleboxes.

use mptcplab_plan::{Middlebox, Protocol, SegmentKind, Way};

use crate::support::{Lab, MS, Path, Run, SECOND, goodput_bps};

const FIRST: Path = Path {
    rate_bps: 20_000_000,
    delay_ns: 10 * MS,
    queue_bytes: 50_000,
};
const SECOND_PATH: Path = Path {
    rate_bps: 10_000_000,
    ..FIRST
};

/// A box that joins segments to at most so much payload.
fn coalesce(payload_bytes: u32) -> Middlebox {
    Middlebox::Coalesce {
        payload_bytes,
        hold_ns: 5 * MS,
        direction: None,
    }
}

/// An upload of 10 MB.
fn upload(paths: &[Path], boxes: &[(usize, Middlebox)]) -> Run {
    let mut lab = Lab::with_paths(1, paths);
    for (link, middlebox) in boxes {
        lab.middlebox(*link, middlebox.clone());
    }
    lab.bulk_bytes(Protocol::Mptcp, Way::Up, 10_000_000);
    lab.run()
}

fn rate_bps(run: &Run) -> f64 {
    goodput_bps(run.transfer())
}

#[test]
fn a_box_that_joins_segments_costs_no_more_than_its_path() {
    let clean = rate_bps(&upload(&[SECOND_PATH], &[]));
    // On the first path: few segments joined, or a whole round trip's.
    for payload_bytes in [4_000, 60_000] {
        let run = upload(&[FIRST, SECOND_PATH], &[(0, coalesce(payload_bytes))]);
        let rate = rate_bps(&run);
        assert!(rate > 0.98 * clean, "{payload_bytes}: {rate} of {clean}");
    }
    // On the second one.
    let clean = rate_bps(&upload(&[FIRST], &[]));
    let run = upload(&[FIRST, SECOND_PATH], &[(1, coalesce(4_000))]);
    let rate = rate_bps(&run);
    assert!(rate > 0.98 * clean, "{rate} of {clean}");
    assert_eq!(run.counter("server", "MPTcpExtDSSNoMatchTCP"), 1);
    assert_eq!(run.counter("client", "MPTcpExtMPJoinSynAckRx"), 1);
}

#[test]
fn the_only_path_behind_a_box_that_joins_segments_is_as_fast_as_tcp() {
    for payload_bytes in [4_000, 60_000] {
        let run = upload(&[FIRST], &[(0, coalesce(payload_bytes))]);
        let silence = run.transfer()["longest_silence_ns"].as_u64().unwrap();
        assert!(rate_bps(&run) > 18_000_000.0, "{}", rate_bps(&run));
        assert!(silence < SECOND, "{silence}");
        assert_eq!(run.counter("client", "MPTcpExtInfiniteMapTx"), 1);
    }
}

#[test]
fn a_join_does_not_end_a_connection_that_is_becoming_tcp() {
    // The client finds that segments were joined while its join is being answered, or the server
    // does while the client answers: all delays of the second path around the first's.
    for way in [Way::Up, Way::Down] {
        for delay_ns in (1..40).map(|number| number * MS) {
            let second = Path {
                delay_ns,
                ..SECOND_PATH
            };
            let mut lab = Lab::with_paths(1, &[FIRST, second]);
            lab.middlebox(0, coalesce(60_000));
            lab.bulk_bytes(Protocol::Mptcp, way, 300_000);
            let run = lab.run();
            assert_eq!(run.transfer()["bytes"], 300_000, "{way:?} {delay_ns}");
        }
    }
}

#[test]
fn a_path_that_takes_sack_and_window_scale_away_costs_no_more_than_what_they_are_good_for() {
    let strip = Middlebox::StripOptions {
        kinds: vec![3, 4, 5],
        mptcp_subtypes: Vec::new(),
        on: SegmentKind::All,
        direction: None,
    };
    let alone = rate_bps(&upload(&[FIRST], &[(0, strip.clone())]));
    let run = upload(&[FIRST, SECOND_PATH], &[(0, strip)]);
    let rate = rate_bps(&run);
    assert!(rate > alone + 4_000_000.0, "{rate}, {alone} on the first");
}
