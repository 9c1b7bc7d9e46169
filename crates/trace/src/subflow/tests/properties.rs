//! Whatever chance does, the truth is found.

use std::collections::{BTreeMap, BTreeSet};

use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{Ecn, Flags, Options, SackBlock, Timestamps};
use proptest::prelude::*;

use super::dsl::*;
use super::model::{Captured, Chances, DELAY, JITTER, Why, run};
use crate::Kind::*;
use crate::{Segment, Side, Subflow, Verdict};

fn chances() -> impl Strategy<Value = Chances> {
    (
        any::<u64>(),
        1_i64..200,
        0_u64..30,
        0_u64..30,
        any::<bool>(),
    )
        .prop_map(
            |(seed, segments, lost, acknowledgements_lost, reordering)| Chances {
                seed,
                segments,
                lost,
                acknowledgements_lost,
                reordering,
            },
        )
}

/// Plays a capture after a handshake beside the sender.
fn play(tape: &mut Tape, capture: &[Captured]) -> Vec<Verdict> {
    capture
        .iter()
        .map(|captured| tape.take(captured.at, captured.packet.clone()))
        .collect()
}

proptest! {
    #[test]
    fn beside_the_sender_every_count_is_exact(chances in chances()) {
        let capture = run(chances).beside_sender;
        let mut tape = Tape::new();
        let verdicts = play(&mut tape, &capture);
        let mut spurious = BTreeSet::new();
        for (captured, verdict) in capture.iter().zip(&verdicts) {
            let expected = match captured.sent {
                Some((_, Why::First, _)) => New,
                Some((_, Why::Fast, _)) => FastRetransmission,
                Some((_, Why::Timeout, _)) => TimeoutRetransmission,
                None => Acknowledgement,
            };
            prop_assert_eq!(verdict.kind, expected);
            prop_assert_eq!(verdict.spurious_frame.is_some(), captured.duplicate);
            if let Some(frame) = verdict.spurious_frame {
                // Frames of the handshake come first.
                let (_, why, _) = capture[frame as usize - 4].sent.expect("data");
                prop_assert!(why != Why::First && spurious.insert(frame));
            }
        }
        let resent = |is: &dyn Fn(Why) -> bool| {
            let sent = capture.iter().filter_map(|captured| captured.sent);
            sent.filter(|(_, why, _)| is(*why)).count() as u64
        };
        let sent = tape.summary().client;
        prop_assert_eq!(sent.bytes, (chances.segments * MSS) as u64);
        prop_assert_eq!(sent.payload_bytes, resent(&|_| true) * MSS as u64);
        let all = resent(&|why| why != Why::First);
        prop_assert_eq!(sent.retransmissions, all);
        prop_assert_eq!(sent.retransmitted_packets, all);
        prop_assert_eq!(sent.retransmitted_bytes, all * MSS as u64);
        prop_assert_eq!((sent.retransmitted_unseen_bytes, sent.probe_bytes), (0, 0));
        prop_assert_eq!(sent.fast_retransmissions, resent(&|why| why == Why::Fast));
        prop_assert_eq!(sent.timeout_retransmissions, resent(&|why| why == Why::Timeout));
        prop_assert_eq!(sent.spurious_retransmissions, spurious.len() as u64);
        prop_assert_eq!(sent.out_of_order, 0);
    }

    #[test]
    fn round_trips_are_those_of_the_network(chances in chances()) {
        // An acknowledgement that is lost makes the next one late.
        let chances = Chances { acknowledgements_lost: 0, ..chances };
        let mut tape = Tape::new();
        for verdict in play(&mut tape, &run(chances).beside_sender) {
            if let Some((_, rtt)) = verdict.rtt {
                prop_assert!((2 * DELAY..=2 * (DELAY + JITTER)).contains(&rtt), "{rtt}");
            }
        }
        prop_assert!(tape.summary().client.rtt_samples > 1);
    }

    #[test]
    fn beside_the_receiver_what_was_overtaken_is_told_from_what_was_lost(chances in chances()) {
        let capture = run(chances).beside_receiver;
        let mut tape = Tape::far_from_client(2 * DELAY);
        let verdicts = play(&mut tape, &capture);
        let mut seen = BTreeSet::new();
        let mut next = 0;
        let mut opened_by = BTreeMap::new();
        for (captured, verdict) in capture.iter().zip(&verdicts) {
            let Some((n, _, packet)) = captured.sent else {
                prop_assert_eq!(verdict.kind, Acknowledgement);
                continue;
            };
            let again = matches!(verdict.kind, FastRetransmission | TimeoutRetransmission);
            if !seen.insert(n) {
                prop_assert!(again);
            } else if n >= next {
                prop_assert_eq!(verdict.kind, New);
                opened_by.extend((next..n).map(|n| (n, packet)));
                next = n + 1;
            } else {
                prop_assert_eq!(again, packet > opened_by[&n]);
                prop_assert!(again || verdict.kind == OutOfOrder);
            }
        }
        prop_assert_eq!(tape.summary().client.bytes, (chances.segments * MSS) as u64);
    }

    #[test]
    fn wherever_sequence_numbers_begin_the_verdicts_are_the_same(
        chances in chances(),
        client: u32,
        server: u32,
        missed in 0_usize..30,
    ) {
        for capture in [run(chances).beside_sender, run(chances).beside_receiver] {
            let rest = &capture[missed.min(capture.len())..];
            let mut there = Tape::with_initial(client, server);
            prop_assert_eq!(play(&mut there, rest), play(&mut Tape::blank(), rest));
        }
    }

    #[test]
    fn it_is_the_set_of_the_bytes_that_were_seen(
        ranges in proptest::collection::vec((1_i64..200, 1_i64..60), 1..60),
    ) {
        let mut tape = Tape::new();
        let mut seen = BTreeSet::new();
        let mut again = 0;
        for (at, (start, length)) in (0..).zip(ranges) {
            let end = seen.last().map_or(1, |last| last + 1);
            let range = start..start + length;
            let new = range.clone().filter(|byte| !seen.contains(byte)).count();
            let verdict = tape.take(at, data(range.clone()));
            prop_assert_eq!(verdict.new_bytes as usize, new);
            if matches!(verdict.kind, FastRetransmission | TimeoutRetransmission) {
                again += range.clone().filter(|byte| *byte < end).count();
            } else {
                prop_assert!(range.clone().all(|byte| !seen.contains(&byte)));
            }
            seen.extend(range);
        }
        let sent = tape.summary().client;
        prop_assert_eq!(sent.bytes as usize, seen.len());
        prop_assert_eq!(sent.retransmitted_bytes as usize, again);
    }

    #[test]
    fn it_takes_whatever_comes(segments in proptest::collection::vec(anything(), 0..60)) {
        let mut subflow = Subflow::new();
        let mut new = [0, 0];
        for (segment, from) in segments {
            let verdict = subflow.take(&segment, from);
            prop_assert!(verdict.new_bytes <= segment.payload_bytes);
            new[from as usize] += u64::from(verdict.new_bytes);
        }
        let summary = subflow.summary();
        prop_assert_eq!([summary.client.bytes, summary.server.bytes], new);
    }
}

/// Numbers near each other, at the ends of their range, and any.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        0_u32..50,
        (0_u32..50).prop_map(|n| n.wrapping_sub(25)),
        any::<u32>()
    ]
}

fn anything() -> impl Strategy<Value = (Segment, Side)> {
    let time = prop_oneof![0_i64..1_000_000_000, any::<i64>()];
    let header = (
        number(),
        number(),
        any::<u8>(),
        prop_oneof![Just(0_u16), any::<u16>()],
    );
    let bytes = prop_oneof![Just(0_u32), 0_u32..4, any::<u32>()];
    let sack = proptest::collection::vec((number(), number()), 0..=4);
    let options = (
        proptest::option::of((0_u32..4, number())),
        proptest::option::of(any::<u8>()),
        proptest::option::of(any::<u16>()),
    );
    let rest = (
        proptest::option::of(any::<u16>()),
        any::<u32>(),
        any::<bool>(),
    );
    (time, header, bytes, sack, options, rest).prop_map(
        |(at, (sequence, acknowledgement, bits, window), bytes, sack, options, rest)| {
            let flag = |n: u8| bits >> n & 1 == 1;
            let from = if rest.2 { Side::Client } else { Side::Server };
            let (stamps, window_shift, max_segment_bytes) = options;
            let blocks = sack
                .into_iter()
                .map(|(left, right)| SackBlock { left, right });
            let mut tape = Tape::blank();
            let mut segment = tape.captured(at, &data(1..1).from(from));
            segment.identification = rest.0;
            segment.packet_bytes = rest.1;
            segment.payload_bytes = bytes;
            segment.sequence = sequence;
            segment.acknowledgement = acknowledgement;
            segment.window = window;
            segment.ecn = if flag(6) {
                Ecn::CongestionExperienced
            } else {
                Ecn::NotCapable
            };
            segment.flags = Flags {
                ack: flag(0) || flag(1),
                syn: flag(2) && flag(3),
                fin: flag(3) && flag(4),
                rst: flag(4) && flag(5),
                ..Flags::default()
            };
            segment.options = Options {
                max_segment_bytes,
                window_shift,
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                sack: blocks.collect(),
                ..Options::default()
            };
            if flag(7) {
                let fail = MptcpOption::Fail { data_sequence: 1 };
                segment.options.mptcp.push(fail);
            }
            (segment, from)
        },
    )
}
