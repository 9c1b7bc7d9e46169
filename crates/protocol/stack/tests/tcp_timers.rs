//! Exact times of retransmissions, probes and delayed acknowledgements.

mod harness;

use bytes::Bytes;
use harness::*;
use mptcplab_stack::{BufferLimits, CloseReason, ConnectionId, Keepalive, SocketOptions};

const RTT: u64 = 20 * MS;
/// SRTT of 20 ms and the 200 ms of Linux.
const RTO: u64 = 220 * MS;

fn pair_with(options: SocketOptions) -> (Wire, [ConnectionId; 2]) {
    let mut wire = Wire::new(RTT / 2, 1);
    let ids = wire.establish(options);
    (wire, ids)
}

fn pair() -> (Wire, [ConnectionId; 2]) {
    pair_with(SocketOptions::default())
}

#[test]
fn a_lost_segment_is_sent_again_as_a_probe_and_after_the_timeout_which_doubles() {
    let (mut wire, ids) = pair();
    wire.script(|_, _, _| Fate::Drop);
    let begin = wire.now;
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"lost"));
    wire.run_for(10 * SECOND);
    // The probe, two round trips and 200 ms later, would come after the timeout, and takes its
    // place.
    assert_eq!(
        wire.times(CLIENT, begin),
        [0, RTO, 2 * RTO, 4 * RTO, 8 * RTO, 16 * RTO, 32 * RTO]
    );
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPLossProbes"), 1);
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.rto_ns, 32 * RTO);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 5);
}

#[test]
fn the_timeout_does_not_grow_beyond_two_minutes_and_ends_after_the_924_6_seconds_of_linux() {
    let (mut wire, ids) = pair();
    wire.script(|_, _, _| Fate::Drop);
    let begin = wire.now;
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"lost"));
    // A probe, ten doublings from 220 ms, then two minutes each: the first at or after 924.6 s
    // since the first timeout ends it.
    let end = begin + 945_280 * MS;
    wire.run_until(end - 1);
    let times = wire.times(CLIENT, begin);
    let largest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert_eq!(largest, Some(120 * SECOND));
    assert_eq!(times.last(), Some(&(825_280 * MS)));
    assert_eq!(wire.closed(CLIENT), None);
    wire.run_until(end);
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::TimedOut));
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    let (mut wire, ids) = pair();
    wire.script(|_, from, segment| {
        let tail = from == CLIENT && segment.payload.last() == Some(&255);
        if tail { Fate::Drop } else { Fate::Deliver }
    });
    let mut data = vec![0; 1448 * 3];
    *data.last_mut().expect("not empty") = 255;
    let begin = wire.now;
    wire.write(CLIENT, ids[CLIENT], data.into());
    // The acknowledgements of the first two segments come after one round trip.
    wire.run_for(RTT);
    wire.script(|_, _, _| Fate::Deliver);
    wire.run_for(SECOND);
    let again: Vec<_> = wire
        .data_sent(CLIENT)
        .iter()
        .skip(3)
        .map(|sent| sent.at - begin)
        .collect();
    // One segment is left in flight: its acknowledgement may be delayed by 200 ms, and the probe
    // comes with the timeout that would be sooner.
    assert_eq!(again, [RTT + RTO]);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPLossProbes"), 1);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 0);

    let (mut wire, ids) = pair();
    let mut count = 0;
    wire.script(move |_, from, segment| {
        let data = from == CLIENT && !segment.payload.is_empty();
        count += u32::from(data);
        if data && (3..=4).contains(&count) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let begin = wire.now;
    wire.write(CLIENT, ids[CLIENT], pattern(1448 * 4));
    wire.run_for(SECOND);
    let again: Vec<_> = wire
        .data_sent(CLIENT)
        .iter()
        .skip(4)
        .map(|sent| sent.at - begin)
        .collect();
    // The probe is the last segment; its SACK shows the other to be lost.
    assert_eq!(again, [3 * RTT + 2 * MS, 4 * RTT + 2 * MS]);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPLossProbes"), 1);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPTimeouts"), 0);
    assert_eq!(wire.read(SERVER, ids[SERVER]).len(), 1448 * 4);
}

#[test]
fn a_single_segment_is_acknowledged_at_once_at_first_and_after_40_ms_later_on() {
    let (mut wire, ids) = pair();
    // The sixteen quick acknowledgements.
    for _ in 0..16 {
        wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"quick"));
        wire.run_for(RTT / 2);
        assert_eq!(wire.last_sent(SERVER).acknowledgement, next(&wire));
        wire.run_for(RTT / 2);
    }
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"slow"));
    let begin = wire.now;
    wire.sent.retain(|sent| sent.from == CLIENT);
    wire.run_for(SECOND);
    assert_eq!(wire.times(SERVER, begin), [RTT / 2 + 40 * MS]);
    assert_eq!(wire.counter(SERVER, "TcpExtDelayedACKs"), 1);
}

#[test]
fn a_segment_with_psh_is_acknowledged_as_soon_as_the_application_has_read_it() {
    let (mut wire, ids) = pair();
    for _ in 0..16 {
        wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"quick"));
        wire.run_for(RTT);
    }
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"read"));
    let begin = wire.now;
    wire.sent.retain(|sent| sent.from == CLIENT);
    wire.run_for(RTT / 2);
    assert_eq!(wire.times(SERVER, begin), []);
    wire.read(SERVER, ids[SERVER]);
    assert_eq!(wire.times(SERVER, begin), [RTT / 2]);
}

/// The acknowledgement number of the client's last data.
fn next(wire: &Wire) -> u32 {
    let last = wire.data_sent(CLIENT);
    let last = &last.last().expect("data was sent").segment;
    last.sequence.wrapping_add(last.payload.len() as u32)
}

#[test]
fn nagle_holds_a_second_small_segment_until_the_first_is_acknowledged() {
    let (mut wire, ids) = pair();
    let begin = wire.now;
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"a"));
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"b"));
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"c"));
    wire.run_for(SECOND);
    let sent: Vec<_> = wire
        .data_sent(CLIENT)
        .iter()
        .map(|sent| (sent.at - begin, sent.segment.payload.clone()))
        .collect();
    assert_eq!(sent, [(0, "a".into()), (RTT, "bc".into())]);

    let options = SocketOptions {
        no_delay: true,
        ..SocketOptions::default()
    };
    let (mut wire, ids) = pair_with(options);
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"a"));
    wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"b"));
    assert_eq!(wire.data_sent(CLIENT).len(), 2);
}

#[test]
fn an_idle_peer_is_probed_and_given_up_when_it_stays_silent() {
    let keepalive = Keepalive {
        idle_ns: 10 * SECOND,
        interval_ns: SECOND,
        probes: 3,
    };
    let options = SocketOptions {
        keepalive: Some(keepalive),
        ..SocketOptions::default()
    };
    let mut wire = Wire::new(RTT / 2, 1);
    wire.hosts[SERVER].listen(PORT, SocketOptions::default());
    wire.connect(options);
    wire.run_until(15 * SECOND);
    assert_eq!(wire.counter(CLIENT, "TcpExtTCPKeepAlive"), 1);
    wire.script(|_, _, _| Fate::Drop);
    wire.sent.clear();
    wire.run_until(60 * SECOND);
    // The last sign of life was the answer to the first probe, at 10 s + 2 RTT.
    let heard = 10 * SECOND + 2 * RTT;
    assert_eq!(
        wire.times(CLIENT, heard),
        [10, 11, 12, 13].map(|seconds| seconds * SECOND)
    );
    assert!(wire.last_sent(CLIENT).flags.rst);
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::TimedOut));
}

#[test]
fn a_window_too_small_to_be_worth_a_segment_is_used_after_a_timeout() {
    let (mut wire, ids) = pair();
    let data = pattern(200_000);
    let mut written = 0;
    let mut before = 0;
    // Until less than a segment is left of the window, and nothing is in flight.
    for _ in 0..200 {
        written += wire.write(CLIENT, ids[CLIENT], data.slice(written..));
        wire.run_for(RTT / 10);
        before = wire.info(SERVER, ids[SERVER]).tcp.bytes_received;
        let client = wire.info(CLIENT, ids[CLIENT]).tcp;
        if client.send_window_bytes < 1448 && client.bytes_acked == before {
            break;
        }
    }
    let left = wire.info(CLIENT, ids[CLIENT]).tcp.send_window_bytes;
    assert!(left > 0 && left < 1448, "{left} bytes");
    wire.sent.clear();
    let begin = wire.now;
    let timeout = wire.info(CLIENT, ids[CLIENT]).tcp.rto_ns;
    wire.run_for(SECOND);
    let small: Vec<_> = wire
        .data_sent(CLIENT)
        .iter()
        .map(|sent| (sent.at, sent.segment.payload.len() as u64))
        .collect();
    assert_eq!(small.len(), 1);
    assert_eq!(small[0].1, left);
    let waited = small[0].0 - begin;
    assert!(waited <= timeout && waited + RTT >= timeout, "{waited}");
    let after = wire.info(SERVER, ids[SERVER]).tcp.bytes_received;
    assert_eq!(after, before + left);
}

#[test]
fn a_closed_window_is_probed_with_doubled_times_and_opens_when_the_application_reads() {
    let (mut wire, ids) = pair();
    let data = pattern(200_000);
    let mut written = 0;
    for _ in 0..20 {
        written += wire.write(CLIENT, ids[CLIENT], data.slice(written..));
        wire.run_for(RTT);
    }
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.send_window_bytes, 0);
    wire.sent.clear();
    let stalled = wire.info(SERVER, ids[SERVER]).tcp.bytes_received;
    wire.run_for(20 * SECOND);
    let probes: Vec<u64> = wire
        .sent
        .iter()
        .filter(|sent| sent.from == CLIENT && sent.segment.payload.is_empty())
        .map(|sent| sent.at)
        .collect();
    let gaps: Vec<u64> = probes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps[0], 2 * wire.info(CLIENT, ids[CLIENT]).tcp.rto_ns);
    assert!(
        gaps.windows(2).all(|pair| pair[1] == 2 * pair[0]),
        "{gaps:?}"
    );
    assert_eq!(wire.info(SERVER, ids[SERVER]).tcp.bytes_received, stalled);
    assert_eq!(
        wire.counter(CLIENT, "TcpExtTCPWinProbe"),
        probes.len() as u64
    );
    let read = wire.read(SERVER, ids[SERVER]);
    assert!(read == data[..read.len()]);
    let begin = wire.now;
    wire.sent.clear();
    wire.run_for(2 * RTT);
    assert!(wire.info(SERVER, ids[SERVER]).tcp.bytes_received > stalled);
    assert_eq!(
        wire.data_sent(CLIENT).first().map(|sent| sent.at),
        Some(begin + RTT / 2)
    );
}

#[test]
fn a_window_that_rests_for_the_peer_s_is_shrunk_once_when_data_goes_again() {
    // Scaled by 128, the peer's window closes without a rest.
    let (mut wire, ids) = pair_with(SocketOptions {
        receive_buffer: BufferLimits {
            initial_bytes: 131_072,
            max_bytes: 6_291_456,
        },
        ..SocketOptions::default()
    });
    let data = pattern(4_000_000);
    let (received, _) = wire.transfer(CLIENT, ids, &data.slice(..100_000), SECOND);
    assert_eq!(received.len(), 100_000);
    let mut written = 100_000;
    for _ in 0..20 {
        written += wire.write(CLIENT, ids[CLIENT], data.slice(written..));
        wire.run_for(RTT);
    }
    let stalled = wire.info(CLIENT, ids[CLIENT]).tcp.window_bytes;
    assert!(stalled > 14_480);
    wire.run_for(20 * SECOND);
    assert!(wire.counter(CLIENT, "TcpExtTCPWinProbe") > 5);
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.window_bytes, stalled);
    wire.read(SERVER, ids[SERVER]);
    wire.run_for(RTT / 2);
    // The window update is there; what it lets go starts from the initial window.
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.window_bytes, 14_480);
}

#[test]
fn a_round_trip_within_a_tick_of_a_coarse_clock_is_a_tick() {
    let mut wire = Wire::new(MS, 50 * MS);
    let ids = wire.establish(SocketOptions::default());
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.smoothed_rtt_ns, 50 * MS);
    wire.transfer(CLIENT, ids, &pattern(100_000), SECOND);
    let info = wire.info(CLIENT, ids[CLIENT]).tcp;
    assert_eq!(info.smoothed_rtt_ns, 50 * MS);
}

#[test]
fn deadlines_are_kept_at_the_next_tick_of_a_coarse_clock() {
    for granularity in [MS, 10 * MS] {
        let mut wire = Wire::new(RTT / 2, granularity);
        let ids = wire.establish(SocketOptions::default());
        wire.run_for(3 * MS + 1);
        wire.script(|_, _, _| Fate::Drop);
        let begin = wire.now - wire.now % granularity;
        wire.write(CLIENT, ids[CLIENT], Bytes::from_static(b"lost"));
        wire.run_for(SECOND);
        let rto = 220 * MS;
        let times: Vec<u64> = wire.times(CLIENT, 0).into_iter().skip(1).collect();
        assert_eq!(times, [rto, 2 * rto, 4 * rto].map(|after| begin + after));
    }
}
