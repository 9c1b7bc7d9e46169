//! Serialisation at fixed rates.

use mptcplab_link::{DirectionConfig, Rate};

use crate::support::{BYTES, MS, RATE, TIME, arrivals, due, full, offer, times};

fn at_rate(bits_per_second: u64) -> DirectionConfig {
    DirectionConfig {
        rate: Rate::Fixed { bits_per_second },
        ..Default::default()
    }
}

#[test]
fn a_packet_arrives_after_its_bits_over_the_rate_and_the_delay() {
    let mut link = full(DirectionConfig {
        rate: RATE,
        delay_ns: 10 * MS,
        ..Default::default()
    });
    offer(&mut link, 0, 5 * MS, &[BYTES]);
    assert_eq!(link.next_deadline(), Some(15 * MS + TIME));
    assert!(due(&mut link, 15 * MS + TIME - 1).is_empty());
    assert_eq!(arrivals(&mut link), [(15 * MS + TIME, 0)]);
}

#[test]
fn an_unlimited_link_adds_the_delay_alone() {
    let mut link = full(DirectionConfig {
        delay_ns: 7,
        ..Default::default()
    });
    offer(&mut link, 0, 100, &[1500, 1500]);
    assert_eq!(times(&mut link), [107, 107]);
}

#[test]
fn the_directions_of_a_full_duplex_link_do_not_delay_each_other() {
    let mut link = full(DirectionConfig {
        rate: RATE,
        ..Default::default()
    });
    offer(&mut link, 0, 0, &[BYTES; 2]);
    offer(&mut link, 1, 0, &[BYTES; 2]);
    let order: Vec<_> = due(&mut link, MS)
        .into_iter()
        .map(|d| (d.at, d.direction, d.packet))
        .collect();
    assert_eq!(
        order,
        [
            (TIME, 0, 0),
            (TIME, 1, 0),
            (2 * TIME, 0, 1),
            (2 * TIME, 1, 1)
        ]
    );
}

#[test]
fn framing_costs_time_but_counts_no_bytes() {
    let mut link = full(DirectionConfig {
        rate: RATE,
        framing_bytes: 38,
        ..Default::default()
    });
    offer(&mut link, 0, 0, &[BYTES, BYTES]);
    assert_eq!(link.backlog(0).queued_bytes, u64::from(BYTES));
    assert_eq!(times(&mut link), [TIME + 38 * 80, 2 * (TIME + 38 * 80)]);
    assert_eq!(link.counters(0).offered_bytes, 2 * u64::from(BYTES));
    assert_eq!(link.counters(0).delivered_bytes, 2 * u64::from(BYTES));
}

#[test]
fn packets_back_to_back_take_their_total_bits_over_the_rate_rounded_up_once() {
    let mut link = full(at_rate(7_000_000_000));
    offer(&mut link, 0, 0, &[1500; 1000]);
    let exact: Vec<u64> = (1..=1000)
        .map(|count: u64| (count * 12_000).div_ceil(7))
        .collect();
    assert_eq!(times(&mut link), exact);
}

#[test]
fn packets_that_follow_each_other_late_lose_the_fraction_of_a_nanosecond() {
    // One byte takes 8/3 ns. The second comes when the first has just left, at 3; the third waits
    // for the second and so ends at 3 + 16/3, not at 24/3.
    let mut link = full(at_rate(3_000_000_000));
    link.offer(0, 0, 1, 0).unwrap();
    link.offer(0, 3, 1, 1).unwrap();
    link.offer(0, 4, 1, 2).unwrap();
    assert_eq!(times(&mut link), [3, 6, 9]);
}

#[test]
fn several_packets_may_end_in_one_nanosecond() {
    let mut link = full(at_rate(24_000_000_000));
    offer(&mut link, 0, 0, &[1; 7]);
    assert_eq!(times(&mut link), [1, 1, 1, 2, 2, 2, 3]);
}

#[test]
fn the_slowest_rate_and_the_largest_packet_do_not_overflow() {
    let mut link = full(at_rate(1));
    link.offer(0, 0, 1, 0).unwrap();
    link.offer(0, 0, u32::MAX, 1).unwrap();
    assert_eq!(link.next_deadline(), Some(8_000_000_000));
    assert_eq!(due(&mut link, 8_000_000_000).len(), 1);
    // 2³⁵ seconds are beyond 64 bits of nanoseconds.
    assert_eq!(link.next_deadline(), Some(u64::MAX));
}

#[test]
fn an_offer_from_the_past_counts_as_of_now() {
    let mut link = full(DirectionConfig {
        rate: RATE,
        ..Default::default()
    });
    due(&mut link, MS);
    offer(&mut link, 0, 0, &[BYTES]);
    assert_eq!(times(&mut link), [MS + TIME]);
}
