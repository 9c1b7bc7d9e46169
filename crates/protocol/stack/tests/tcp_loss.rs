//! Losses, and what only looks like one: fast recovery, spurious retransmissions, reordering.

mod harness;

use std::collections::BTreeSet;

use harness::*;
use mptcplab_stack::congestion::CongestionAlgorithm;
use mptcplab_stack::{BufferLimits, ConnectionId, SocketOptions};
use mptcplab_wire::Options;

const RTT: u64 = 40 * MS;
/// A segment of 1500 bytes at 100 Mbit/s.
const SPACING: u64 = 120_000;

fn pair(granularity: u64) -> (Wire, [ConnectionId; 2]) {
    let mut wire = Wire::new(RTT / 2, granularity);
    let ids = wire.establish(SocketOptions {
        congestion_control: CongestionAlgorithm::Reno,
        ..SocketOptions::default()
    });
    wire.spacing = SPACING;
    (wire, ids)
}

/// Does something to the data segments of the client with these numbers, counted from 0 and
/// with retransmissions.
fn on_data(wire: &mut Wire, numbers: &[usize], fate: Fate) {
    let numbers: BTreeSet<usize> = numbers.iter().copied().collect();
    let mut count = 0;
    wire.script(move |_, from, segment| {
        if from != CLIENT || segment.payload.is_empty() {
            return Fate::Deliver;
        }
        count += 1;
        if numbers.contains(&(count - 1)) {
            fate
        } else {
            Fate::Deliver
        }
    });
}

/// Transfers so many segments; gives the time.
fn transfer(wire: &mut Wire, ids: [ConnectionId; 2], segments: usize) -> u64 {
    let data = pattern(segments * 1448);
    let (received, time) = wire.transfer(CLIENT, ids, &data, 100 * SECOND);
    assert!(received == data, "{} bytes", received.len());
    time
}

/// Retransmissions, timeouts and fast recoveries of the client.
fn repairs(wire: &Wire) -> [u64; 3] {
    [
        wire.counter(CLIENT, "TcpRetransSegs"),
        wire.counter(CLIENT, "TcpExtTCPTimeouts"),
        wire.counter(CLIENT, "TcpExtTCPSackRecovery"),
    ]
}

#[test]
fn one_lost_segment_is_sent_again_when_three_beyond_it_are_acknowledged() {
    let (mut wire, ids) = pair(1);
    on_data(&mut wire, &[5], Fate::Drop);
    let begin = wire.now;
    transfer(&mut wire, ids, 40);
    assert_eq!(repairs(&wire), [1, 0, 1]);
    let lost = wire.data_sent(CLIENT)[5].segment.sequence;
    let again: Vec<u64> = wire
        .data_sent(CLIENT)
        .iter()
        .filter(|sent| sent.segment.sequence == lost)
        .map(|sent| sent.at - begin)
        .collect();
    // Segments 6, 7 and 8 leave the wire after 7, 8 and 9 spacings; the acknowledgement is
    // another packet on its way back.
    assert_eq!(again, [0, RTT + 9 * SPACING + SPACING]);
}

/// As in Linux, which spares the way back.
#[test]
fn after_the_third_a_selective_acknowledgement_stands_for_all_segments_of_1_1_ms() {
    let mut wire = Wire::new(RTT / 2, 1);
    let ids = wire.establish(SocketOptions {
        receive_buffer: BufferLimits {
            initial_bytes: 131_072,
            max_bytes: 131_072,
        },
        ..SocketOptions::default()
    });
    wire.spacing = SPACING;
    on_data(&mut wire, &[150], Fate::Drop);
    transfer(&mut wire, ids, 300);
    let selective = |sent: &&Sent| sent.from == SERVER && !sent.segment.options.sack.is_empty();
    let times: Vec<u64> = wire.sent.iter().filter(selective).map(|s| s.at).collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps[..3], [SPACING, SPACING, SPACING + 1_100_000]);
    assert!(gaps.len() > 5, "{gaps:?}");
    assert!(gaps[3..].iter().all(|&gap| gap >= 1_100_000), "{gaps:?}");
}

#[test]
fn a_loss_halves_the_window_of_reno() {
    let (mut wire, ids) = pair(1);
    on_data(&mut wire, &[100], Fate::Drop);
    let mut before = 0;
    let data = pattern(300 * 1448);
    let mut written = 0;
    while wire.counter(CLIENT, "TcpExtTCPSackRecovery") == 0 {
        before = wire.info(CLIENT, ids[CLIENT]).tcp.window_bytes;
        written += wire.write(CLIENT, ids[CLIENT], data.slice(written..));
        wire.read(SERVER, ids[SERVER]);
        assert!(wire.step(u64::MAX));
    }
    let info = wire.info(CLIENT, ids[CLIENT]).tcp;
    let threshold = info.slow_start_threshold_bytes.expect("there was a loss");
    assert!(
        threshold.abs_diff(before / 2) <= 1448,
        "{threshold} of {before}"
    );
}

#[test]
fn recovery_lets_a_segment_go_for_every_second_that_is_delivered() {
    let (mut wire, ids) = pair(1);
    on_data(&mut wire, &[200], Fate::Drop);
    let data = pattern(2000 * 1448);
    let mut written = 0;
    let mut sent_before = 0;
    let mut window_before = 0;
    let mut in_recovery = false;
    loop {
        written += wire.write(CLIENT, ids[CLIENT], data.slice(written..));
        wire.read(SERVER, ids[SERVER]);
        let info = wire.info(CLIENT, ids[CLIENT]).tcp;
        let begun = wire.counter(CLIENT, "TcpExtTCPSackRecovery") == 1;
        if begun && !in_recovery {
            in_recovery = true;
            sent_before = wire.data_sent(CLIENT).len();
        } else if !begun {
            window_before = info.window_bytes / 1448;
        } else if Some(info.window_bytes) == info.slow_start_threshold_bytes
            && info.bytes_acked > 201 * 1448
        {
            break;
        }
        assert!(wire.step(u64::MAX));
    }
    // Segments in flight arrive within one round trip, and half as many go out in it; where
    // recovery ends the window is the threshold again.
    let sent = (wire.data_sent(CLIENT).len() - sent_before) as u64;
    assert!(
        sent.abs_diff(window_before / 2) <= 3,
        "{sent} of {window_before}"
    );
    assert_eq!(wire.counter(CLIENT, "TcpRetransSegs"), 1);
}

#[test]
fn many_losses_of_a_window_are_repaired_without_a_timeout() {
    let (mut wire, ids) = pair(1);
    on_data(&mut wire, &[30, 32, 34, 35, 36, 40, 44, 48, 52], Fate::Drop);
    transfer(&mut wire, ids, 400);
    assert_eq!(repairs(&wire), [9, 0, 1]);
}

#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    let mut wire = Wire::new(RTT / 2, 1);
    // Only what is sent after a retransmission tells of its loss: there must be room for it.
    let ids = wire.establish(SocketOptions {
        congestion_control: CongestionAlgorithm::Reno,
        send_buffer: BufferLimits {
            initial_bytes: BufferLimits::SEND.max_bytes,
            ..BufferLimits::SEND
        },
        receive_buffer: BufferLimits {
            initial_bytes: 1 << 22,
            ..BufferLimits::RECEIVE
        },
        ..SocketOptions::default()
    });
    wire.spacing = SPACING;
    let mut sent = 0;
    let mut lost = None;
    wire.script(move |_, from, segment| {
        if from != CLIENT || segment.payload.is_empty() {
            return Fate::Deliver;
        }
        sent += 1;
        if sent == 601 {
            lost = Some((segment.sequence, 0));
        }
        match &mut lost {
            Some((sequence, times)) if *sequence == segment.sequence && *times < 3 => {
                *times += 1;
                Fate::Drop
            }
            _ => Fate::Deliver,
        }
    });
    transfer(&mut wire, ids, 3000);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 0);
    assert_eq!(wire.counter(CLIENT, "TcpRetransSegs"), 3);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPLostRetransmit"), 2);
}

#[test]
fn without_sack_three_duplicates_tell_of_a_loss_and_partial_acknowledgements_of_the_next() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.strip = Some(|options| options.sack_permitted = false);
    let ids = wire.establish(SocketOptions::default());
    wire.spacing = SPACING;
    on_data(&mut wire, &[30, 33, 36], Fate::Drop);
    transfer(&mut wire, ids, 400);
    assert_eq!(wire.counter(CLIENT, "TcpRetransSegs"), 3);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 0);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPRenoRecovery"), 1);
}

#[test]
fn reordering_is_learned_and_what_it_cost_is_undone() {
    let (mut wire, ids) = pair(1);
    // Late by ten segments: taken to be lost at first, then found to be late.
    on_data(&mut wire, &[60], Fate::Late(10 * SPACING));
    transfer(&mut wire, ids, 100);
    let info = wire.info(CLIENT, ids[CLIENT]).tcp;
    assert_eq!(info.retransmissions, 1);
    assert!(info.reorderings > 0);
    assert_eq!(info.slow_start_threshold_bytes, None);
    // The same again stays without consequence.
    on_data(&mut wire, &[60], Fate::Late(10 * SPACING));
    transfer(&mut wire, ids, 100);
    wire.run_for(2 * RTT);
    let info = wire.info(CLIENT, ids[CLIENT]).tcp;
    assert_eq!(info.retransmissions, 1);
    assert_eq!(info.slow_start_threshold_bytes, None);
}

/// Holds everything up for half a second, with timestamps and without.
fn delayed(strip: Option<fn(&mut Options)>) -> Wire {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.strip = strip;
    let ids = wire.establish(SocketOptions::default());
    wire.spacing = SPACING;
    transfer(&mut wire, ids, 100);
    let before = wire.info(CLIENT, ids[CLIENT]).tcp;
    let until = wire.now + 500 * MS;
    wire.script(move |_, _, _| Fate::Until(until));
    transfer(&mut wire, ids, 200);
    let after = wire.info(CLIENT, ids[CLIENT]).tcp;
    assert!(wire.counter(CLIENT, "TcpExtTCPTimeouts") > 0);
    assert_eq!(after.slow_start_threshold_bytes, None);
    assert!(after.window_bytes >= before.window_bytes);
    wire
}

#[test]
fn a_timeout_by_a_delay_is_found_spurious_by_timestamps_and_undone() {
    let wire = delayed(None);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPLossUndo"), 1);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPSpuriousRTOs"), 0);
}

#[test]
fn a_timeout_by_a_delay_is_found_spurious_without_timestamps_and_undone() {
    let wire = delayed(Some(|options| options.timestamps = None));
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPSpuriousRTOs"), 1);
}

#[test]
fn a_timeout_by_a_loss_is_not_taken_for_spurious_where_there_is_no_sack() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.strip = Some(|options| {
        options.sack_permitted = false;
        options.timestamps = None;
    });
    let ids = wire.establish(SocketOptions::default());
    transfer(&mut wire, ids, 40);
    wire.run_for(RTT);
    let before = wire.info(CLIENT, ids[CLIENT]).tcp;
    // The first of three: the two behind it arrive before the timeout.
    on_data(&mut wire, &[0], Fate::Drop);
    transfer(&mut wire, ids, 3);
    wire.run_for(RTT);
    let after = wire.info(CLIENT, ids[CLIENT]).tcp;
    assert_eq!(repairs(&wire)[1], 1);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPSpuriousRTOs"), 0);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPLossUndo"), 0);
    assert!(after.window_bytes < before.window_bytes);
    assert!(after.slow_start_threshold_bytes.is_some());
}

#[test]
fn duplicates_by_the_network_change_nothing() {
    let (mut wire, ids) = pair(1);
    let all: Vec<usize> = (0..200).collect();
    on_data(&mut wire, &all, Fate::Twice);
    transfer(&mut wire, ids, 200);
    wire.run_for(RTT);
    assert_eq!(repairs(&wire), [0, 0, 0]);
    assert_eq!(wire.counter(SERVER, "TcpExtTCPDSACKOldSent"), 200);
    let received = wire.info(CLIENT, ids[CLIENT]).tcp.duplicate_sacks;
    assert!(received > 0);
}

#[test]
fn a_clock_of_ten_milliseconds_loses_nothing_to_reordering_and_little_to_loss() {
    let time = |granularity, fate| {
        let (mut wire, ids) = pair(granularity);
        let every: Vec<usize> = (100..3000).step_by(500).collect();
        on_data(&mut wire, &every, fate);
        let time = transfer(&mut wire, ids, 3000);
        assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 0);
        time
    };
    let fine = time(1, Fate::Drop);
    for granularity in [MS, 10 * MS] {
        let coarse = time(granularity, Fate::Drop);
        assert!(coarse < fine + fine / 5, "{coarse} against {fine}");
        let late = time(granularity, Fate::Late(5 * SPACING));
        assert!(late < fine, "{late} against {fine}");
    }
}

#[test]
fn a_bottleneck_is_kept_busy_by_a_queue_of_one_bandwidth_delay_product() {
    let (mut wire, ids) = pair(1);
    // 40 ms at 100 Mbit/s.
    wire.queue_packets = Some(333);
    let segments = 8000;
    let time = transfer(&mut wire, ids, segments);
    // Slow start costs five round trips.
    let least = segments as u64 * SPACING + 5 * RTT;
    assert!(time < least + least / 20, "{time} of {least}");
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 0);
}
