//! The box that acknowledges in the receiver's name.

use mptcplab_plan::Middlebox as Planned;
use mptcplab_wire::{SackBlock, Segment, Timestamps};

use super::{Chain, ack, act, chain, data, pass, syn};

/// A proxy that has seen the handshake: the data begins at 101, the window is 1000 · 2².
fn proxy() -> Chain {
    let mut proxy = chain(&[Planned::ProxyAck { sender: 0 }]);
    pass(&mut proxy, 0, 0, &syn(data(100, b"")));
    let mut syn_ack = syn(ack(101));
    syn_ack.options.window_shift = Some(2);
    pass(&mut proxy, 0, 1, &syn_ack);
    let update = Segment {
        sequence: 501,
        ..ack(101)
    };
    pass(&mut proxy, 0, 1, &update);
    proxy
}

#[test]
fn a_proxy_acknowledges_at_once_with_the_window_that_is_left() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    let expected = Segment {
        sequence: 501,
        acknowledgement: 501,
        window: 900,
        ..ack(0)
    };
    assert_eq!(
        pass(&mut proxy, 0, 0, &segment),
        [(0, segment.clone()), (1, expected)]
    );
    // A segment that does not follow is left to the receiver.
    let later = data(601, &[1; 100]);
    assert_eq!(pass(&mut proxy, 0, 0, &later), [(0, later.clone())]);
}

#[test]
fn a_proxy_sends_again_what_was_lost_behind_it() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    pass(&mut proxy, 5, 0, &segment);
    assert_eq!(proxy.deadline(), Some(5 + 1_000_000_000));
    assert_eq!(act(&mut proxy, 1_000_000_005), [(0, segment.clone())]);
    assert_eq!(proxy.deadline(), Some(1_000_000_005 + 2_000_000_000));
    // The receiver acknowledges: there is nothing left to be sent again.
    let last = Segment {
        sequence: 501,
        ..ack(501)
    };
    assert_eq!(
        pass(&mut proxy, 1_100_000_000, 1, &last),
        [(1, last.clone())]
    );
    assert_eq!(proxy.deadline(), None);
}

#[test]
fn a_handshake_that_comes_again_takes_nothing_that_was_acknowledged() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    pass(&mut proxy, 0, 0, &segment);
    pass(&mut proxy, 1, 1, &syn(ack(101)));
    pass(&mut proxy, 2, 0, &syn(data(100, b"")));
    assert_eq!(act(&mut proxy, 1_000_000_000), [(0, segment)]);
    // Another handshake of the same addresses and ports begins anew.
    pass(&mut proxy, 3, 0, &syn(data(9000, b"")));
    assert_eq!(proxy.deadline(), None);
}

#[test]
fn a_timestamps_option_of_another_length_is_none() {
    let mut proxy = proxy();
    // The largest headers, with an option of 20 bytes of the kind of timestamps.
    let mut bytes = vec![
        0x4f, 0, 0, 100, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1,
    ];
    bytes.resize(60, 1);
    bytes.extend([
        0x13, 0x89, 0x9c, 0x40, 0, 0, 1, 0xf5, 0, 0, 0, 101, 0xa0, 0x10, 3, 0xe8,
    ]);
    bytes.extend([0, 0, 0, 0, 8, 20]);
    bytes.resize(100, 0);
    let mut packet = ack(101).into_packet(64);
    packet.header.clear();
    packet.header.extend(bytes);
    proxy.pass(0, (1, packet), &mut Vec::new());
    let mut segment = data(101, &[1; 400]);
    segment.options.timestamps = Some(Timestamps { value: 3, echo: 4 });
    let out = pass(&mut proxy, 1, 0, &segment);
    assert_eq!(out.len(), 2);
    assert_eq!(out[1].1.options.timestamps, None);
}

#[test]
fn a_proxy_acknowledges_on_connections_that_the_receiver_opens() {
    for sender_scales in [true, false] {
        let mut proxy = chain(&[Planned::ProxyAck { sender: 0 }]);
        let mut opening = Segment {
            acknowledgement: 0,
            ..syn(ack(0))
        };
        opening.flags.ack = false;
        opening.options.window_shift = Some(2);
        let mut answer = syn(data(100, b""));
        answer.options.window_shift = sender_scales.then_some(7);
        pass(&mut proxy, 0, 1, &opening);
        pass(&mut proxy, 0, 0, &answer);
        let update = Segment {
            sequence: 501,
            ..ack(101)
        };
        pass(&mut proxy, 0, 1, &update);
        let segment = data(101, &[1; 400]);
        let expected = Segment {
            acknowledgement: 501,
            window: if sender_scales { 900 } else { 600 },
            ..update
        };
        let out = pass(&mut proxy, 0, 0, &segment);
        assert_eq!(out, [(0, segment), (1, expected)]);
    }
}

#[test]
fn a_proxy_speaks_with_the_latest_sequence_number_of_the_receiver() {
    let mut proxy = proxy();
    let from_receiver = |sequence: u32, bytes: usize| Segment {
        sequence,
        payload: vec![2; bytes].into(),
        ..ack(101)
    };
    pass(&mut proxy, 0, 1, &from_receiver(501, 300));
    // Its first half comes again.
    pass(&mut proxy, 0, 1, &from_receiver(501, 150));
    let out = pass(&mut proxy, 0, 0, &data(101, &[1; 400]));
    assert_eq!(out[1].1.sequence, 801);
}

#[test]
fn a_proxy_forgets_a_connection_whose_end_is_acknowledged() {
    let mut proxy = proxy();
    let mut last = data(101, &[1; 400]);
    last.flags.fin = true;
    assert_eq!(pass(&mut proxy, 0, 0, &last).len(), 2);
    // Its data, and not its end.
    pass(&mut proxy, 0, 1, &ack(501));
    assert_eq!(pass(&mut proxy, 0, 0, &last).len(), 2);
    pass(&mut proxy, 0, 1, &ack(502));
    assert_eq!(pass(&mut proxy, 0, 0, &last), [(0, last.clone())]);
    assert_eq!(proxy.deadline(), None);
}

#[test]
fn a_proxy_has_room_for_connections_after_many_that_have_ended() {
    let mut proxy = chain(&[Planned::ProxyAck { sender: 0 }]);
    for port in 0..5000 {
        let of_port = |mut segment: Segment, is_answer: bool| {
            let end = match is_answer {
                true => &mut segment.destination,
                false => &mut segment.source,
            };
            end.set_port(port);
            segment
        };
        pass(&mut proxy, 0, 0, &of_port(syn(data(100, b"")), false));
        pass(&mut proxy, 0, 1, &of_port(syn(ack(101)), true));
        let mut last = of_port(data(101, &[1; 400]), false);
        last.flags.fin = true;
        assert_eq!(pass(&mut proxy, 0, 0, &last).len(), 2, "{port}");
        pass(&mut proxy, 0, 1, &of_port(ack(502), true));
    }
}

#[test]
fn three_duplicates_make_a_proxy_send_at_once() {
    let mut proxy = proxy();
    let segment = data(101, &[1; 400]);
    pass(&mut proxy, 0, 0, &segment);
    let mut duplicate = Segment {
        sequence: 501,
        ..ack(101)
    };
    duplicate.options.sack.push(SackBlock {
        left: 501,
        right: 601,
    });
    // The sender is told what the box has acknowledged already.
    let told = Segment {
        acknowledgement: 501,
        window: 900,
        sequence: 501,
        ..ack(0)
    };
    let mut last = Vec::new();
    for _ in 0..3 {
        last = pass(&mut proxy, 1, 1, &duplicate);
        assert_eq!(last[0], (1, told.clone()));
    }
    assert_eq!(last[1..], [(0, segment)]);
}
