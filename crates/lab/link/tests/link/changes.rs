//! Changes of a link that is working.

use mptcplab_link::{Backlog, DirectionConfig, Dropped, Link, LinkChange, Loss, Rate};

use crate::support::{BYTES, MS, RATE, TIME, arrivals, due, full, offer, times};

fn plain() -> Link<u32> {
    full(DirectionConfig {
        rate: RATE,
        delay_ns: 10 * MS,
        ..DirectionConfig::default()
    })
}

fn rate(bits_per_second: u64) -> LinkChange {
    LinkChange {
        rate: Some(Rate::Fixed { bits_per_second }),
        ..LinkChange::default()
    }
}

fn up(up: bool) -> LinkChange {
    LinkChange {
        up: Some(up),
        ..LinkChange::default()
    }
}

#[test]
fn a_packet_in_serialisation_sends_its_remaining_bits_at_the_new_rate() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 2]);
    // A quarter is sent; three quarters at a tenth of the rate take 7.5 times as long.
    link.change(TIME / 4, &rate(10_000_000)).unwrap();
    let first = TIME / 4 + TIME * 15 / 2;
    assert_eq!(
        times(&mut link),
        [10 * MS + first, 10 * MS + first + 10 * TIME]
    );
}

#[test]
fn a_change_to_the_same_rate_changes_nothing_however_often() {
    let odd = DirectionConfig {
        rate: Rate::Fixed {
            bits_per_second: 7_000_000_000,
        },
        ..DirectionConfig::default()
    };
    let mut link = full(odd);
    offer(&mut link, 0, 0, &[1500; 100]);
    for now in (0..170_000).step_by(13) {
        link.change(now, &rate(7_000_000_000)).unwrap();
    }
    let exact: Vec<u64> = (1..=100)
        .map(|count: u64| (count * 12_000).div_ceil(7))
        .collect();
    let times = times(&mut link);
    assert_eq!(times, exact);
}

#[test]
fn an_unlimited_rate_sends_at_once_what_is_left_and_what_waits() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 3]);
    let change = LinkChange {
        rate: Some(Rate::Unlimited),
        ..LinkChange::default()
    };
    link.change(TIME + 1, &change).unwrap();
    assert_eq!(link.rate_bps(0), None);
    assert_eq!(link.backlog(0).queued_packets, 0);
    assert_eq!(
        times(&mut link),
        [TIME, TIME + 1, TIME + 1].map(|sent| sent + 10 * MS)
    );
}

#[test]
fn a_fixed_rate_after_an_unlimited_one_starts_with_the_next_packet() {
    let mut link = full(DirectionConfig::default());
    link.offer(0, 5, BYTES, 0).unwrap();
    link.change(5, &rate(100_000_000)).unwrap();
    assert_eq!(link.rate_bps(1), Some(100_000_000));
    link.offer(0, 5, BYTES, 1).unwrap();
    assert_eq!(arrivals(&mut link), [(5, 0), (5 + TIME, 1)]);
}

#[test]
fn a_change_of_one_direction_leaves_the_other() {
    let mut link = plain();
    link.change(
        0,
        &LinkChange {
            direction: Some(1),
            ..rate(50_000_000)
        },
    )
    .unwrap();
    assert_eq!(
        (link.rate_bps(0), link.rate_bps(1)),
        (Some(100_000_000), Some(50_000_000))
    );
}

#[test]
fn a_new_delay_is_for_packets_that_leave_the_serialiser_later() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 2]);
    let change = LinkChange {
        delay_ns: Some(30 * MS),
        ..LinkChange::default()
    };
    link.change(TIME, &change).unwrap();
    assert_eq!(times(&mut link), [10 * MS + TIME, 30 * MS + 2 * TIME]);
}

#[test]
fn after_a_shorter_delay_packets_still_arrive_in_order() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 2]);
    let change = LinkChange {
        delay_ns: Some(0),
        ..LinkChange::default()
    };
    link.change(TIME, &change).unwrap();
    assert_eq!(link.next_deadline(), Some(10 * MS + TIME));
    assert_eq!(
        arrivals(&mut link),
        [(10 * MS + TIME, 0), (10 * MS + TIME, 1)]
    );
}

#[test]
fn going_down_drops_what_waits_and_is_in_serialisation_and_delivers_what_is_on_its_way() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 4]);
    offer(&mut link, 1, 0, &[BYTES; 4]);
    link.change(
        TIME,
        &LinkChange {
            direction: Some(0),
            ..up(false)
        },
    )
    .unwrap();
    assert_eq!(link.counters(0).dropped_down, 3);
    assert_eq!(
        link.backlog(0),
        Backlog {
            queued_packets: 0,
            queued_bytes: 0,
            in_flight_packets: 1
        }
    );
    assert_eq!(link.offer(0, TIME, BYTES, 9), Err(Dropped::Down));
    assert_eq!(link.counters(0).dropped_down, 4);
    assert_eq!(link.counters(0).offered_packets, 5);
    let (first, second): (Vec<_>, Vec<_>) = due(&mut link, 100 * MS)
        .into_iter()
        .partition(|delivery| delivery.direction == 0);
    assert_eq!((first.len(), second.len()), (1, 4));
}

#[test]
fn a_link_that_comes_up_again_is_free_at_once() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 4]);
    link.change(TIME / 2, &up(false)).unwrap();
    link.change(TIME / 2 + 10, &up(true)).unwrap();
    link.offer(0, TIME / 2 + 10, BYTES, 7).unwrap();
    assert_eq!(arrivals(&mut link), [(10 * MS + TIME / 2 + 10 + TIME, 7)]);
}

#[test]
fn a_link_may_begin_down() {
    let mut link = full(DirectionConfig {
        up: false,
        ..DirectionConfig::default()
    });
    assert_eq!(link.offer(1, 0, BYTES, 0), Err(Dropped::Down));
    link.change(1, &up(true)).unwrap();
    assert_eq!(link.offer(1, 1, BYTES, 1), Ok(()));
}

#[test]
fn loss_decides_when_the_packet_leaves_the_serialiser() {
    let mut link = plain();
    offer(&mut link, 0, 0, &[BYTES; 3]);
    let loss = |probability| LinkChange {
        loss: Some(Loss::Random { probability }),
        ..LinkChange::default()
    };
    link.change(TIME, &loss(1.0)).unwrap();
    link.change(2 * TIME, &loss(0.0)).unwrap();
    assert_eq!(
        arrivals(&mut link),
        [(10 * MS + TIME, 0), (10 * MS + 3 * TIME, 2)]
    );
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut link = plain();
    let change = LinkChange {
        delay_ns: Some(0),
        up: Some(false),
        ..rate(0)
    };
    assert!(link.change(0, &change).is_err());
    offer(&mut link, 0, 0, &[BYTES]);
    assert_eq!(times(&mut link), [10 * MS + TIME]);
}
