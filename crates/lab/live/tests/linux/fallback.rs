//! Paths that take options away, cut segments or join them.

use mptcplab_plan::{Middlebox, SegmentKind};
use mptcplab_stack::Protocol;

use crate::Test;
use crate::meeting::{BOTH, Meeting};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_connection_whose_syn_loses_its_option_is_plain_tcp",
        from_syn,
    ),
    (
        "a_connection_whose_syn_ack_loses_its_option_is_plain_tcp",
        from_syn_ack,
    ),
    (
        "a_connection_that_loses_its_options_after_the_handshake_is_plain_tcp",
        from_data,
    ),
    ("a_connection_that_loses_all_options_is_plain_tcp", from_all),
    ("segments_that_are_cut_keep_the_connection_multipath", split),
    ("segments_that_are_joined_keep_their_bytes", coalesce),
];

const BYTES: u64 = 300_000;

/// Takes the options of MPTCP from some segments of both directions.
fn strip(on: SegmentKind) -> Middlebox {
    Middlebox::StripOptions {
        kinds: vec![30],
        mptcp_subtypes: Vec::new(),
        on,
        direction: None,
    }
}

fn plain_tcp(boxes: &[Middlebox]) {
    for opener in BOTH {
        let meeting = Meeting::new(opener, BYTES);
        let end = boxes
            .iter()
            .cloned()
            .fold(meeting, Meeting::middlebox)
            .run(|_| {});
        end.assert_exchanged(BYTES);
        assert_eq!(
            end.application.spoken,
            Some(Protocol::Tcp),
            "{opener:?} {boxes:?}"
        );
    }
}

fn from_syn() {
    plain_tcp(&[strip(SegmentKind::Syn)]);
}

fn from_syn_ack() {
    plain_tcp(&[strip(SegmentKind::SynAck)]);
}

fn from_data() {
    plain_tcp(&[strip(SegmentKind::Ack), strip(SegmentKind::Data)]);
}

fn from_all() {
    plain_tcp(&[strip(SegmentKind::All)]);
}

fn split() {
    for opener in BOTH {
        let split = Middlebox::Split {
            payload_bytes: 500,
            direction: None,
        };
        let end = Meeting::new(opener, BYTES).middlebox(split).run(|_| {});
        end.assert_exchanged(BYTES);
        end.assert_multipath();
    }
}

fn coalesce() {
    for opener in BOTH {
        let coalesce = Middlebox::Coalesce {
            payload_bytes: 1_300,
            hold_ns: 1_000_000,
            direction: None,
        };
        // The second half of a joined segment has no mapping, and each waits for a timeout.
        let bytes = BYTES / 10;
        let meeting = Meeting::new(opener, bytes).small_packets();
        let end = meeting.middlebox(coalesce).run(|_| {});
        end.assert_exchanged(bytes);
    }
}
