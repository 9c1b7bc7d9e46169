//! Replay of Mahimahi traces.

use mptcplab_link::{DirectionConfig, Link, LinkChange, Nanos, Rate};

use crate::support::{MS, arrivals, full, offer, times};

fn trace(opportunities_ms: &[u64]) -> Link<u32> {
    full(DirectionConfig {
        rate: rate(opportunities_ms),
        ..Default::default()
    })
}

fn rate(opportunities_ms: &[u64]) -> Rate {
    Rate::Trace {
        opportunities_ms: opportunities_ms.to_vec(),
    }
}

fn in_ms(times: Vec<Nanos>) -> Vec<u64> {
    assert!(times.iter().all(|at| at % MS == 0), "{times:?}");
    times.into_iter().map(|at| at / MS).collect()
}

#[test]
fn a_packet_leaves_with_the_next_opportunity() {
    let mut link = trace(&[5, 5, 10]);
    offer(&mut link, 0, 0, &[1504]);
    assert_eq!(link.next_deadline(), Some(5 * MS));
    assert_eq!(in_ms(times(&mut link)), [5]);
}

#[test]
fn entries_of_one_time_are_several_opportunities_and_the_trace_repeats_from_its_last_entry() {
    let mut link = trace(&[5, 5, 10]);
    offer(&mut link, 0, 0, &[1504; 7]);
    assert_eq!(in_ms(times(&mut link)), [5, 5, 10, 15, 15, 20, 25]);
}

#[test]
fn an_entry_at_zero_falls_together_with_the_last_entry_of_the_cycle_before() {
    let mut link = trace(&[0, 10]);
    offer(&mut link, 0, MS, &[1504; 5]);
    assert_eq!(in_ms(times(&mut link)), [10, 10, 20, 20, 30]);
}

#[test]
fn opportunities_that_find_no_packet_are_lost() {
    let mut link = trace(&[5, 5, 10]);
    offer(&mut link, 1, 5 * MS, &[1504, 1504]);
    offer(&mut link, 0, 6 * MS, &[1504]);
    assert_eq!(in_ms(times(&mut link)), [10, 10, 15]);
}

#[test]
fn an_opportunity_carries_several_small_packets() {
    let mut link = trace(&[5, 10]);
    offer(&mut link, 0, 0, &[752, 700, 52, 1]);
    assert_eq!(in_ms(times(&mut link)), [5, 5, 5, 10]);
}

#[test]
fn a_packet_uses_what_is_left_and_leaves_with_its_last_opportunity() {
    let mut link = trace(&[1, 2, 3, 4]);
    offer(&mut link, 0, 0, &[1000, 1504, 504 + 1, 4000]);
    // 1000 | 504 + 1000 | 504 and 1 more | 1503 + 1504 + 993
    assert_eq!(in_ms(times(&mut link)), [1, 2, 3, 5]);
}

#[test]
fn what_an_opportunity_has_left_is_not_kept_for_later_packets() {
    let mut link = trace(&[5, 10, 12]);
    link.offer(0, 0, 752, 0).unwrap();
    link.offer(0, 5 * MS, 752, 1).unwrap();
    link.offer(0, 11 * MS, 752, 2).unwrap();
    assert_eq!(in_ms(times(&mut link)), [5, 10, 12]);
}

#[test]
fn a_trace_goes_on_after_a_long_silence() {
    let mut link = trace(&[2, 3, 7]);
    let cycles = 7 * 1_000_000_000;
    offer(&mut link, 0, cycles * MS, &[1504]);
    offer(&mut link, 1, cycles * MS + 3 * MS, &[1504, 1504]);
    assert_eq!(
        in_ms(times(&mut link)),
        [cycles + 2, cycles + 7, cycles + 9]
    );
}

#[test]
fn framing_four_counts_packets_as_mahimahi_does() {
    let config = DirectionConfig {
        rate: rate(&[1]),
        framing_bytes: 4,
        ..DirectionConfig::default()
    };
    let mut link = full(config);
    offer(&mut link, 0, 0, &[1500, 1500, 1501]);
    assert_eq!(in_ms(times(&mut link)), [1, 2, 4]);
}

#[test]
fn a_packet_waits_in_the_queue_until_its_first_opportunity() {
    let mut link = trace(&[5, 10]);
    offer(&mut link, 0, 0, &[2000, 1504]);
    assert_eq!(link.backlog(0).queued_packets, 2);
    assert_eq!(link.next_deadline(), Some(5 * MS));
    link.poll(5 * MS, &mut Vec::new());
    assert_eq!(link.backlog(0).queued_packets, 1);
    assert_eq!(link.backlog(0).in_flight_packets, 1);
    assert_eq!(link.next_deadline(), Some(10 * MS));
}

#[test]
fn a_trace_that_comes_with_a_change_begins_with_it_and_carries_what_is_left() {
    let fixed = Rate::Fixed {
        bits_per_second: 8_000_000,
    };
    let mut link = full(DirectionConfig {
        rate: fixed,
        ..DirectionConfig::default()
    });
    // A byte a microsecond; after 1 ms 3008 bytes remain, two opportunities.
    offer(&mut link, 0, 0, &[4008, 1504]);
    let change = LinkChange {
        rate: Some(rate(&[0, 4, 9])),
        ..LinkChange::default()
    };
    link.change(MS, &change).unwrap();
    link.offer(0, 91 * MS, 1504, 2).unwrap();
    // At 1 + 0 and 1 + 4 ms; at 1 + 9 ms; at 1 + 10 × 9 + 4 ms.
    assert_eq!(in_ms(times(&mut link)), [5, 10, 95]);
}

#[test]
fn a_packet_that_has_used_an_opportunity_sends_the_rest_at_the_new_rate() {
    let mut link = trace(&[5, 10]);
    offer(&mut link, 0, 0, &[2504, 1000]);
    let fixed = Rate::Fixed {
        bits_per_second: 8_000_000,
    };
    // The opportunity at the moment of the change is used before.
    link.change(
        5 * MS,
        &LinkChange {
            rate: Some(fixed),
            ..LinkChange::default()
        },
    )
    .unwrap();
    assert_eq!(in_ms(times(&mut link)), [6, 7]);
}

#[test]
fn a_packet_that_waits_for_an_opportunity_starts_when_the_rate_becomes_fixed() {
    let mut link = trace(&[5, 10]);
    offer(&mut link, 0, 0, &[1000]);
    let fixed = Rate::Fixed {
        bits_per_second: 8_000_000,
    };
    link.change(
        3 * MS,
        &LinkChange {
            rate: Some(fixed),
            ..LinkChange::default()
        },
    )
    .unwrap();
    assert_eq!(in_ms(times(&mut link)), [4]);
}

#[test]
fn opportunities_while_down_are_lost_and_those_after_are_not() {
    let mut link = trace(&[5, 10, 15]);
    // In serialisation until 15 ms.
    link.offer(0, 0, 4000, 0).unwrap();
    let up = |up| LinkChange {
        up: Some(up),
        ..LinkChange::default()
    };
    link.change(6 * MS, &up(false)).unwrap();
    link.change(7 * MS, &up(true)).unwrap();
    link.offer(0, 7 * MS, 1504, 1).unwrap();
    assert_eq!(arrivals(&mut link), [(10 * MS, 1)]);
}

#[test]
fn a_packet_without_bytes_leaves_with_an_opportunity_and_uses_none_of_it() {
    let mut link = trace(&[5, 10]);
    offer(&mut link, 0, 0, &[0, 1504, 1]);
    assert_eq!(in_ms(times(&mut link)), [5, 5, 10]);
}
