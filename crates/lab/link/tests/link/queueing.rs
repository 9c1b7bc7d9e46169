//! The queue and its limits.

use mptcplab_link::{
    Backlog, DirectionConfig, Dropped, LinkChange, QueueConfig, QueueLimits, Rate,
};

use crate::support::{BYTES, MS, RATE, TIME, arrivals, due, full, offer};

fn limited(limit_packets: Option<u32>, limit_bytes: Option<u64>) -> DirectionConfig {
    let queue = QueueConfig {
        limit_packets,
        limit_bytes,
        ..QueueConfig::default()
    };
    DirectionConfig {
        rate: RATE,
        queue,
        ..DirectionConfig::default()
    }
}

#[test]
fn a_queue_holds_its_limit_of_packets_beside_the_one_in_serialisation() {
    let mut link = full(limited(Some(3), None));
    offer(&mut link, 0, 0, &[BYTES; 4]);
    assert_eq!(link.offer(0, 0, BYTES, 4), Err(Dropped::QueueFull));
    assert_eq!(link.offer(0, TIME - 1, BYTES, 5), Err(Dropped::QueueFull));
    assert_eq!(link.offer(0, TIME, BYTES, 6), Ok(()));
    let packets: Vec<u32> = arrivals(&mut link)
        .into_iter()
        .map(|(_, packet)| packet)
        .collect();
    assert_eq!(packets, [0, 1, 2, 3, 6]);
    let counters = link.counters(0);
    assert_eq!((counters.offered_packets, counters.dropped_queue), (7, 2));
    assert_eq!(
        (counters.delivered_packets, counters.delivered_bytes),
        (5, 5 * 1250)
    );
}

#[test]
fn a_queue_holds_its_limit_of_bytes_and_a_smaller_packet_may_still_fit() {
    let mut link = full(limited(None, Some(3000)));
    offer(&mut link, 0, 0, &[BYTES, 1500, 1000]);
    assert_eq!(link.offer(0, 0, 501, 3), Err(Dropped::QueueFull));
    assert_eq!(link.offer(0, 0, 500, 4), Ok(()));
    assert_eq!(link.offer(0, 0, 1, 5), Err(Dropped::QueueFull));
}

#[test]
fn a_queue_smaller_than_a_packet_still_takes_one_that_need_not_wait() {
    for direction in [limited(Some(0), None), limited(None, Some(100))] {
        let mut link = full(direction);
        assert_eq!(link.offer(0, 0, BYTES, 0), Ok(()));
        assert_eq!(link.offer(0, TIME - 1, BYTES, 1), Err(Dropped::QueueFull));
        assert_eq!(link.offer(0, TIME, BYTES, 2), Ok(()));
        assert_eq!(arrivals(&mut link), [(TIME, 0), (2 * TIME, 2)]);
    }
}

#[test]
fn what_is_in_serialisation_or_on_its_way_is_in_flight_and_not_queued() {
    let mut link = full(DirectionConfig {
        delay_ns: MS,
        ..limited(None, None)
    });
    let backlog = |queued_packets, in_flight_packets| Backlog {
        queued_packets,
        queued_bytes: queued_packets * u64::from(BYTES),
        in_flight_packets,
    };
    assert_eq!(link.backlog(0), backlog(0, 0));
    offer(&mut link, 0, 0, &[BYTES; 3]);
    assert_eq!(link.backlog(0), backlog(2, 1));
    due(&mut link, 2 * TIME);
    assert_eq!(link.backlog(0), backlog(0, 3));
    due(&mut link, MS + TIME);
    assert_eq!(link.backlog(0), backlog(0, 2));
    due(&mut link, MS + 3 * TIME);
    assert_eq!(link.backlog(0), backlog(0, 0));
    assert_eq!(link.backlog(1), backlog(0, 0));
}

#[test]
fn a_lower_limit_keeps_what_waits() {
    let mut link = full(limited(Some(3), None));
    offer(&mut link, 0, 0, &[BYTES; 4]);
    let limits = QueueLimits {
        limit_packets: Some(1),
        limit_bytes: None,
    };
    link.change(
        0,
        &LinkChange {
            limits: Some(limits),
            ..LinkChange::default()
        },
    )
    .unwrap();
    assert_eq!(link.offer(0, 2 * TIME, BYTES, 4), Err(Dropped::QueueFull));
    assert_eq!(link.offer(0, 3 * TIME, BYTES, 5), Ok(()));
    assert_eq!(arrivals(&mut link).len(), 5);
}

#[test]
fn packets_that_wait_for_an_opportunity_of_a_trace_count_against_the_limit() {
    for (limit, taken) in [(0, 1), (1, 1), (3, 3)] {
        let opportunities_ms = vec![5];
        let mut link = full(DirectionConfig {
            rate: Rate::Trace { opportunities_ms },
            ..limited(Some(limit), None)
        });
        offer(&mut link, 0, 0, &vec![1504; taken]);
        assert_eq!(link.offer(0, 0, 1504, 9), Err(Dropped::QueueFull));
        assert_eq!(link.backlog(0).queued_packets, taken as u64);
    }
}
