//! Data over a good wire.

mod harness;

use harness::*;
use mptcplab_stack::{CloseReason, Event, HostConfig, HostStack, LocalAddress, SocketOptions};
use mptcplab_wire::Segment;

#[test]
fn a_handshake_takes_one_round_trip_at_the_client_and_one_and_a_half_at_the_server() {
    let mut wire = Wire::new(10 * MS, 1);
    wire.hosts[SERVER].listen(PORT, SocketOptions::default());
    let id = wire.connect(SocketOptions::default());
    wire.run_until(20 * MS - 1);
    assert!(wire.events[CLIENT].is_empty());
    wire.run_until(20 * MS);
    assert_eq!(wire.events[CLIENT][0], Event::Connected { id });
    assert!(wire.events[SERVER].is_empty());
    wire.run_until(30 * MS);
    assert!(wire.accepted().is_some());
    let flags: Vec<_> = wire
        .sent
        .iter()
        .map(|sent| {
            (
                sent.at,
                sent.from,
                sent.segment.flags.syn,
                sent.segment.flags.ack,
            )
        })
        .collect();
    assert_eq!(
        flags,
        [
            (0, CLIENT, true, false),
            (10 * MS, SERVER, true, true),
            (20 * MS, CLIENT, false, true),
        ]
    );
    let info = wire.info(CLIENT, id);
    assert_eq!(info.tcp.smoothed_rtt_ns, 20 * MS);
    assert_eq!(info.tcp.state.name(), "ESTABLISHED");
}

#[test]
fn a_megabyte_arrives_as_it_was_sent_both_ways() {
    for from in [CLIENT, SERVER] {
        let mut wire = Wire::new(10 * MS, 1);
        let ids = wire.establish(SocketOptions::default());
        let data = pattern(1_000_000);
        let (received, _) = wire.transfer(from, ids, &data, 10 * SECOND);
        assert!(received == data, "{} bytes", received.len());
        assert_eq!(wire.info(from, ids[from]).tcp.retransmissions, 0);
    }
}

#[test]
fn slow_start_sends_ten_segments_and_doubles_each_round_trip() {
    let mut wire = Wire::new(50 * MS, 1);
    let ids = wire.establish(SocketOptions::default());
    let begin = wire.now;
    wire.transfer(CLIENT, ids, &pattern(1448 * 70), 350 * MS);
    let rounds: Vec<usize> = (0..3)
        .map(|round| {
            let at = begin + round * 100 * MS;
            wire.data_sent(CLIENT)
                .iter()
                .filter(|sent| sent.at == at)
                .count()
        })
        .collect();
    assert_eq!(rounds, [10, 20, 40]);
}

#[test]
fn pacing_spreads_the_initial_window_over_half_a_round_trip() {
    let mut wire = Wire::new(50 * MS, 1);
    let ids = wire.establish(SocketOptions {
        pacing: true,
        ..SocketOptions::default()
    });
    let begin = wire.now;
    wire.write(CLIENT, ids[CLIENT], pattern(1448 * 10));
    wire.run_for(99 * MS);
    let times: Vec<u64> = wire
        .data_sent(CLIENT)
        .iter()
        .map(|sent| sent.at - begin)
        .collect();
    // Twice the window a round trip of 100 ms: a segment every 5 ms.
    let expected: Vec<u64> = (0..10).map(|n| n * 5 * MS).collect();
    assert_eq!(times, expected);
}

#[test]
fn a_connection_to_an_address_of_the_other_family_is_closed_at_once() {
    let mut wire = Wire::new(50 * MS, 1);
    let remote = "[fd00::1]:80".parse().expect("an address");
    let local = wire.addresses[CLIENT];
    wire.hosts[CLIENT].connect(0, local, remote, SocketOptions::default());
    wire.flush();
    assert_eq!(wire.closed(CLIENT), Some(CloseReason::NoPort));
}

#[test]
fn an_answer_leaves_in_the_box_of_what_it_answers() {
    let host = |address: &str, seed| {
        let mut host = HostStack::new(HostConfig::default(), seed);
        let address = address.parse().unwrap();
        let local = LocalAddress {
            address,
            mtu: 1500,
            endpoint: None,
        };
        host.set_addresses(0, &[local]);
        host
    };
    let (mut client, mut server) = (host("10.0.0.1", 1), host("10.0.0.2", 2));
    server.listen(80, SocketOptions::default());
    let (local, remote) = ("10.0.0.1".parse().unwrap(), "10.0.0.2:80".parse().unwrap());
    client.connect(0, local, remote, SocketOptions::default());
    let mut syn = client.transmit(0).expect("a SYN");
    let place = &raw const *syn;
    server.receive(0, &mut *syn);
    let answer = server.transmit_in(0, &mut [syn].into()).expect("a SYN/ACK");
    assert_eq!(&raw const *answer, place);
    assert!(Segment::parse(*answer).is_ok_and(|segment| segment.flags.syn && segment.flags.ack));
}
