//! Options and marks: timestamps and PAWS, window scale, MSS, ECN.

mod harness;

use bytes::Bytes;
use harness::*;
use mptcplab_stack::congestion::CongestionAlgorithm;
use mptcplab_stack::{BufferLimits, ConnectionId, EcnPolicy, SocketOptions};
use mptcplab_wire::Ecn;

const RTT: u64 = 20 * MS;

fn pair(options: SocketOptions) -> (Wire, [ConnectionId; 2]) {
    let mut wire = Wire::new(RTT / 2, 1);
    let ids = wire.establish(options);
    (wire, ids)
}

#[test]
fn the_syns_offer_what_linux_offers() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.hosts[SERVER].listen(PORT, SocketOptions::default());
    wire.connect(SocketOptions::default());
    wire.run_until(RTT);
    for syn in [&wire.sent[0].segment, &wire.sent[1].segment] {
        assert_eq!(syn.options.max_segment_bytes, Some(1460));
        assert_eq!(syn.options.window_shift, Some(10));
        assert!(syn.options.sack_permitted);
        assert!(syn.options.timestamps.is_some());
    }
    // Whole segments: those of the answer have timestamps.
    let windows = [0, 1].map(|index| wire.sent[index].segment.window);
    assert_eq!(windows, [64_240, 65_160]);
    let [syn, answer, ack] = [0, 1, 2].map(|index| wire.sent[index].segment.options.timestamps);
    assert_eq!(syn.map(|timestamps| timestamps.echo), Some(0));
    assert_eq!(
        answer.map(|timestamps| timestamps.echo),
        syn.map(|timestamps| timestamps.value)
    );
    assert_eq!(
        ack.map(|timestamps| timestamps.echo),
        answer.map(|timestamps| timestamps.value)
    );
}

#[test]
fn without_window_scale_the_window_stays_below_64_kib() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.strip = Some(|options| options.window_shift = None);
    let ids = wire.establish(SocketOptions::default());
    let data = pattern(1_000_000);
    let (received, _) = wire.transfer(CLIENT, ids, &data, 100 * SECOND);
    assert!(received == data);
    let info = wire.info(CLIENT, ids[CLIENT]).tcp;
    assert!(info.send_window_bytes <= 65_535);
}

#[test]
fn a_listener_whose_buffer_needs_no_scale_answers_with_0_and_reads_the_peer_s_scaled_windows() {
    let small = BufferLimits {
        initial_bytes: 65_535,
        max_bytes: 65_535,
    };
    let mut wire = Wire::new(RTT / 2, 1);
    wire.hosts[SERVER].listen(
        PORT,
        SocketOptions {
            receive_buffer: small,
            ..SocketOptions::default()
        },
    );
    let client = wire.connect(SocketOptions::default());
    wire.run_for(SECOND);
    let answer = &wire.sent[1].segment;
    assert_eq!(answer.options.window_shift, Some(0));
    let server = wire.accepted().expect("the server accepted");
    let data = pattern(1_000_000);
    let (received, _) = wire.transfer(SERVER, [client, server], &data, 10 * SECOND);
    assert!(received == data);
    wire.run_for(SECOND);
    let last = wire.last_sent(CLIENT);
    let window = wire.info(SERVER, server).tcp.send_window_bytes;
    assert_eq!(window, u64::from(last.window) << 10);
    assert_eq!(wire.sent[0].segment.options.window_shift, Some(10));
}

#[test]
fn segments_are_full_without_timestamps_and_twelve_bytes_shorter_with_them() {
    let (wire, ids) = pair(SocketOptions::default());
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.mss, 1448);
    let mut wire = Wire::new(RTT / 2, 1);
    wire.strip = Some(|options| options.timestamps = None);
    let ids = wire.establish(SocketOptions::default());
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.mss, 1460);
    wire.strip = Some(|options| options.max_segment_bytes = None);
    let plain = wire.establish_again();
    assert_eq!(wire.info(CLIENT, plain).tcp.mss, 536 - 12);
}

#[test]
fn a_segment_with_an_older_timestamp_is_dropped_and_answered() {
    let (mut wire, ids) = pair(SocketOptions::default());
    let old = wire.hosts_segment(SERVER);
    wire.run_for(5 * MS);
    wire.write(SERVER, ids[SERVER], Bytes::from_static(b"new"));
    wire.run_for(RTT);
    assert_eq!(wire.read(CLIENT, ids[CLIENT]), b"new");
    let mut wrapped = old;
    wrapped.sequence = wire.last_sent(CLIENT).acknowledgement;
    wrapped.payload = Bytes::from_static(b"old");
    wire.sent.clear();
    wire.inject(CLIENT, &wrapped);
    assert_eq!(wire.sent.len(), 1);
    assert_eq!(wire.counter(CLIENT, "TcpExtPAWSEstab"), 1);
    assert!(wire.read(CLIENT, ids[CLIENT]).is_empty());
}

fn ecn() -> SocketOptions {
    SocketOptions {
        ecn: EcnPolicy::Request,
        congestion_control: CongestionAlgorithm::Reno,
        ..SocketOptions::default()
    }
}

#[test]
fn a_mark_halves_the_window_once_and_is_echoed_until_the_sender_says_so() {
    let (mut wire, ids) = pair(ecn());
    wire.spacing = 120_000;
    let mut count = 0;
    wire.script(move |_, from, segment| {
        count += u32::from(from == CLIENT && !segment.payload.is_empty());
        if from == CLIENT && (50..53).contains(&count) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    let data = pattern(200 * 1448);
    let (received, _) = wire.transfer(CLIENT, ids, &data, 10 * SECOND);
    assert!(received == data);
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.retransmissions, 0);
    let data = wire.data_sent(CLIENT);
    assert!(data.iter().all(|sent| sent.segment.ecn == Ecn::Capable0));
    let reduced: Vec<_> = data.iter().filter(|sent| sent.segment.flags.cwr).collect();
    assert_eq!(reduced.len(), 1);
    let echoes = wire
        .sent
        .iter()
        .filter(|sent| sent.from == SERVER && sent.segment.flags.ece);
    let last_echo = echoes.map(|sent| sent.at).max().expect("it was echoed");
    assert!(last_echo <= reduced[0].at + RTT);
    assert!(
        wire.info(CLIENT, ids[CLIENT])
            .tcp
            .slow_start_threshold_bytes
            .is_some()
    );
    assert!(wire.counter(CLIENT, "TcpExtTCPDeliveredCE") >= 3);
}

#[test]
fn acknowledgements_and_retransmissions_are_not_ecn_capable() {
    let (mut wire, ids) = pair(ecn());
    let mut count = 0;
    wire.script(move |_, from, segment| {
        count += u32::from(from == CLIENT && !segment.payload.is_empty());
        if from == CLIENT && count == 5 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    wire.transfer(CLIENT, ids, &pattern(20 * 1448), SECOND);
    let mut seen = std::collections::BTreeSet::new();
    for sent in &wire.sent {
        let segment = &sent.segment;
        let original = !segment.payload.is_empty() && seen.insert(segment.sequence);
        let expected = if original {
            Ecn::Capable0
        } else {
            Ecn::NotCapable
        };
        assert_eq!(segment.ecn, expected);
    }
    assert_eq!(wire.counter(CLIENT, "TcpRetransSegs"), 1);
}

#[test]
fn a_syn_that_is_not_answered_gives_ecn_up() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.hosts[SERVER].listen(PORT, ecn());
    wire.script(|_, _, segment| {
        if segment.flags.ece {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    wire.connect(ecn());
    wire.run_for(2 * SECOND);
    assert!(wire.accepted().is_some());
    assert!(wire.sent[0].segment.flags.ece && wire.sent[0].segment.flags.cwr);
    assert!(!wire.sent[1].segment.flags.ece && !wire.sent[1].segment.flags.cwr);
}

#[test]
fn a_server_agrees_to_ecn_where_it_is_asked_and_only_then() {
    for (client, server, agreed) in [
        (EcnPolicy::Request, EcnPolicy::Agree, true),
        (EcnPolicy::Request, EcnPolicy::Off, false),
        (EcnPolicy::Agree, EcnPolicy::Request, false),
    ] {
        let mut wire = Wire::new(RTT / 2, 1);
        let options = |ecn| SocketOptions {
            ecn,
            ..SocketOptions::default()
        };
        wire.hosts[SERVER].listen(PORT, options(server));
        let id = wire.connect(options(client));
        wire.run_for(RTT);
        wire.write(CLIENT, id, Bytes::from_static(b"data"));
        let capable = wire.last_sent(CLIENT).ecn == Ecn::Capable0;
        assert_eq!(capable, agreed, "{client:?} {server:?}");
    }
}

#[test]
fn an_ipv6_path_of_1500_bytes_has_segments_of_1428() {
    let mut wire = Wire::new(RTT / 2, 1);
    wire.use_ipv6();
    let ids = wire.establish(SocketOptions::default());
    assert_eq!(wire.info(CLIENT, ids[CLIENT]).tcp.mss, 1428);
    let data = pattern(100_000);
    let (received, _) = wire.transfer(SERVER, ids, &data, 10 * SECOND);
    assert!(received == data);
}
