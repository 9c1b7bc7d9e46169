//! Reinjections, copies that are none, and the copy that wins.

use super::*;

/// New, reinjected, and from where.
fn told(found: DataVerdict) -> (u32, u32, Option<u32>) {
    (
        found.new_data_bytes,
        found.reinjected_bytes,
        found.reinjected_from,
    )
}

#[test]
fn a_copy_on_another_subflow_is_reinjected() {
    let mut lab = Lab::new(2);
    assert_eq!(told(lab.client(0, data(1, 1, 1000))), (1000, 0, None));
    assert_eq!(told(lab.client(1, data(1, 501, 700))), (200, 500, Some(0)));
    assert_eq!(lab.sent_by_client().bytes, 1200);
    assert_eq!(lab.sent_by_client().reinjected_bytes, 500);
    assert_eq!(lab.connection.reinjected_bytes(1, Side::Client), 500);
    assert_eq!(lab.connection.reinjected_bytes(0, Side::Client), 0);
}

#[test]
fn directions_are_apart() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 1000));
    assert_eq!(told(lab.server(1, data(1, 1, 1000))), (1000, 0, None));
}

#[test]
fn what_tcp_sends_again_is_no_reinjection() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 1000));
    assert_eq!(told(lab.client(0, data(1, 1, 1000))), (0, 0, None));
    lab.client(1, data(1, 1, 1000));
    // The copy once more, in other pieces, and the original.
    assert_eq!(told(lab.client(1, data(1, 1, 400))), (0, 0, None));
    assert_eq!(told(lab.client(1, bare(401, 600))), (0, 0, None));
    assert_eq!(told(lab.client(0, data(1, 1, 1000))), (0, 0, None));
    // Partly copied before.
    lab.client(0, data(1001, 1001, 1000));
    assert_eq!(
        told(lab.client(1, data(1001, 1001, 100))),
        (0, 100, Some(0))
    );
    assert_eq!(
        told(lab.client(1, data(1001, 1001, 300))),
        (0, 200, Some(0))
    );
    assert_eq!(lab.sent_by_client().reinjected_bytes, 1300);
}

#[test]
fn what_is_mapped_twice_on_one_subflow_counts_once_another_carried_it() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 100));
    assert_eq!(told(lab.client(0, data(101, 1, 100))), (0, 0, None));
    assert_eq!(told(lab.client(1, data(1, 1, 50))), (0, 50, Some(0)));
    assert_eq!(told(lab.client(0, data(101, 1, 100))), (0, 0, None));
    assert_eq!(told(lab.client(0, data(201, 1, 100))), (0, 50, Some(0)));
}

#[test]
fn copies_on_each_further_subflow_count() {
    let mut lab = Lab::new(4);
    for subflow in 0..4 {
        let found = lab.client(subflow, data(1, 1, 10));
        let expected = if subflow == 0 {
            (10, 0, None)
        } else {
            (0, 10, Some(0))
        };
        assert_eq!(told(found), expected);
    }
    assert_eq!(lab.sent_by_client().reinjected_bytes, 30);
}

#[test]
fn the_copy_that_is_acknowledged_first_wins() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 1000));
    lab.client(1, data(1, 1, 1000));
    // Of the original only the first part arrives in time.
    lab.server(0, ack(301, 1));
    lab.server(1, ack(601, 1));
    assert_eq!(lab.sent_by_client().reinjected_won_bytes, 300);
    lab.server(0, ack(1001, 1001));
    lab.server(1, ack(1001, 1001));
    assert_eq!(lab.sent_by_client().reinjected_won_bytes, 300);
}

#[test]
fn of_several_copies_one_wins() {
    let mut lab = Lab::new(3);
    for subflow in 0..3 {
        lab.client(subflow, data(1, 1, 100));
    }
    lab.server(2, ack(101, 101));
    lab.server(1, ack(101, 101));
    lab.server(0, ack(101, 101));
    assert_eq!(lab.sent_by_client().reinjected_won_bytes, 100);
}

#[test]
fn what_had_arrived_otherwise_does_not_win() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 100));
    lab.client(1, data(1, 1, 100));
    // The acknowledgement of subflow 0 is late, the DATA_ACK is not.
    lab.server(1, ack(1, 101));
    lab.server(1, ack(101, 101));
    assert_eq!(lab.sent_by_client().reinjected_won_bytes, 0);
    // Both in one segment: the copy brought it about.
    lab.client(0, data(101, 101, 100));
    lab.client(1, data(101, 101, 100));
    lab.server(1, ack(201, 201));
    assert_eq!(lab.sent_by_client().reinjected_won_bytes, 100);
}

#[test]
fn late_copies_of_acknowledged_data_are_recognised() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 1000));
    lab.server(0, ack(1001, 1001));
    assert_eq!(told(lab.client(1, data(1, 1, 1000))), (0, 1000, Some(0)));
    lab.server(1, ack(1001, 1001));
    assert_eq!(lab.sent_by_client().reinjected_won_bytes, 0);
}

#[test]
fn beyond_memory_it_is_known_that_data_was_sent() {
    let mut lab = Lab::new(3);
    // Turn by turn: each segment is a range of its own.
    let ranges = 2 * coverage::HISTORY_RANGES as i64;
    for index in 0..ranges {
        let ssn = 1 + 10 * (index / 2);
        lab.client((index % 2) as u32, data(ssn, 1 + 10 * index, 10));
    }
    lab.server(0, ack(1, 1 + 10 * ranges));
    // The next segment makes memory short.
    lab.client(0, data(1 + 5 * ranges, 1 + 10 * ranges, 10));
    assert_eq!(told(lab.client(2, data(1, 1, 10))), (0, 10, None));
    assert_eq!(told(lab.client(2, data(1, 1, 10))), (0, 0, None));
    // TCP of the subflow that carried it.
    assert_eq!(told(lab.client(1, data(1, 11, 10))), (0, 0, None));
    assert_eq!(lab.sent_by_client().bytes, 10 * ranges as u64 + 10);
}

#[test]
fn a_series_is_told_when_it_is_over() {
    let mut lab = Lab::new(2);
    lab.client(0, data(1, 1, 1000));
    lab.at = 10;
    lab.client(1, data(1, 1, 100));
    lab.at = 20;
    lab.client(1, data(101, 101, 100));
    assert_eq!(lab.told(), []);
    lab.connection.finish(0, &mut lab.events);
    assert_eq!(lab.told(), [("reinjection", 10)]);
    assert_eq!(
        lab.events[0].text,
        "the client sends 200 bytes again over subflow 1 that subflow 0 carried first: data \
         sequence 1 to 200"
    );
    lab.connection.finish(0, &mut lab.events);
    assert_eq!(lab.events.len(), 1);
}
