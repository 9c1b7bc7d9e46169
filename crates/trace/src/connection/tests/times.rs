//! Order, round trips, windows, silences and moves.

use super::*;

const SECOND: Nanos = 1_000_000_000;

#[test]
fn late_is_what_comes_below_the_highest() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 100));
    lab.client(0, data(101, 1101, 100));
    assert_eq!(lab.sent_by_client().late_bytes, 0);
    // New, and late in its first half.
    lab.client(1, data(1, 701, 400));
    lab.client(1, data(401, 1101, 150));
    let sent = lab.sent_by_client();
    assert_eq!((sent.late_bytes, sent.late_extent_bytes), (400, 500));
    assert_eq!((sent.bytes, sent.reinjected_bytes), (650, 100));
}

#[test]
fn a_round_trip_of_data_goes_from_first_sending_to_data_ack() {
    let mut lab = Lab::new(2);
    lab.at = 1000;
    lab.client(0, data(1, 1, 100));
    lab.at = 1010;
    lab.client(0, data(101, 101, 100));
    lab.at = 1020;
    // A copy changes nothing.
    lab.client(1, data(1, 101, 100));
    lab.at = 1030;
    assert_eq!(lab.server(0, ack(101, 101)).data_rtt, Some(30));
    assert_eq!(lab.server(0, ack(101, 101)).data_rtt, None);
    lab.at = 1060;
    assert_eq!(lab.server(1, ack(101, 201)).data_rtt, Some(50));
    let expected = Spread {
        samples: 2,
        min_ns: 30,
        mean_ns: 40,
        max_ns: 50,
    };
    assert_eq!(lab.sent_by_client().round_trip, Some(expected));
}

#[test]
fn the_window_reaches_from_the_data_ack_over_all_subflows() {
    let mut lab = Lab::new(2);
    lab.window = 5000;
    lab.server(0, ack(1, 1));
    lab.at = 10;
    lab.client(0, data(1, 1, 3000));
    lab.at = 20;
    lab.client(1, data(1, 3001, 541));
    assert_eq!(lab.sent_by_client().window_limited_ns, 0);
    lab.client(1, data(542, 3542, 1));
    lab.at = 50;
    // An older DATA_ACK whose window reaches less far changes nothing.
    lab.window = 4000;
    lab.server(1, ack(543, 1001));
    assert_eq!(lab.sent_by_client().window_limited_ns, 30);
    lab.window = 9000;
    lab.server(1, ack(543, 1001));
    lab.at = 90;
    lab.server(1, ack(543, 3543));
    let sent = lab.sent_by_client();
    assert_eq!(sent.window_limited_ns, 30);
    assert_eq!(sent.window_bytes, Some((4000, 9000)));
    lab.window = 0;
    lab.server(1, ack(543, 12_543));
    lab.at = 100;
    lab.window = 500;
    lab.server(0, ack(543, 12_543));
    assert_eq!(lab.told(), [("zero_window", 90), ("window_opened", 100)]);
    assert_eq!(lab.events[1].text, "the window opens to 500 bytes");
}

#[test]
fn the_longest_silence_is_kept_and_told() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 100));
    lab.at = 3 * SECOND;
    // A retransmission does not break it, new data elsewhere does.
    lab.client(0, data(1, 1, 100));
    lab.at = 5 * SECOND;
    lab.client(1, data(1, 101, 100));
    lab.at = 6 * SECOND;
    lab.server(1, ack(101, 101));
    let sent = lab.sent_by_client();
    let longest_gap = Some(DataGap {
        ns: 5 * SECOND,
        at_ns: 0,
    });
    assert_eq!(
        (sent.longest_gap, sent.recovery),
        (longest_gap, longest_gap)
    );
    assert_eq!(
        (sent.first_data_ns, sent.last_data_ns),
        (Some(0), Some(5 * SECOND))
    );
    assert_eq!(lab.told(), [("silence", 5 * SECOND)]);
    // 100 bytes are never acknowledged.
    lab.at = 12 * SECOND;
    lab.server(1, ack(101, 101));
    let last = Some(DataGap {
        ns: 7 * SECOND,
        at_ns: 5 * SECOND,
    });
    assert_eq!(lab.sent_by_client().longest_gap, last);
    lab.server(1, ack(101, 201));
    assert_eq!(lab.sent_by_client().longest_gap, longest_gap);
}

#[test]
fn data_that_moves_is_told() {
    let mut lab = Lab::new(2);
    let mut dsn = 1;
    for tenth in 0..40 {
        lab.at = tenth * SECOND / 10;
        let (subflow, since) = if tenth < 18 { (0, 0) } else { (1, 18) };
        lab.client(subflow, data(1 + 100 * (tenth - since), dsn, 100));
        dsn += 100;
    }
    lab.connection.finish(0, &mut lab.events);
    assert_eq!(lab.told(), [("traffic_moved", 2 * SECOND)]);
    assert_eq!(
        lab.events[0].text,
        "new data of the client goes over subflow 1 now, 1000 of 1000 bytes, rather than over \
         subflow 0; last on that one 0.300 s before"
    );
    assert_eq!(lab.sent_by_client().path_switches, 1);
}

#[test]
fn a_timeout_is_told_once_until_something_is_acknowledged() {
    let mut lab = Lab::new(1);
    lab.client(0, data(1, 1, 100));
    let again = Draft {
        kind: Some(Kind::TimeoutRetransmission),
        ..data(1, 1, 100)
    };
    for at in [1, 2, 3] {
        lab.at = at;
        lab.client(0, again.clone());
    }
    lab.server(0, ack(101, 101));
    lab.client(0, data(101, 101, 100));
    lab.at = 4;
    let again = Draft {
        kind: Some(Kind::TimeoutRetransmission),
        ..data(101, 101, 100)
    };
    lab.client(0, again);
    assert_eq!(lab.told(), [("timeout", 1), ("timeout", 4)]);
    assert_eq!(
        lab.events[1].text,
        "retransmission timeout: sequence 101 is sent again"
    );
}
