//! Token buckets.

use mptcplab_link::{
    Delivery, DirectionConfig, Discipline, Link, LinkChange, Nanos, QueueConfig, Rate,
};
use proptest::prelude::*;

use crate::support::{BYTES, MS, RATE, TIME, arrivals, due, full, offer, times};

const NANOBITS_PER_BYTE: u128 = 8_000_000_000;

fn bucket(rate: Rate, burst_bytes: u64) -> DirectionConfig {
    DirectionConfig {
        rate,
        burst_bytes,
        ..DirectionConfig::default()
    }
}

fn change(link: &mut Link<u32>, now: Nanos, change: &LinkChange) {
    link.change(now, change).expect("a good change");
}

#[test]
fn packets_leave_at_once_while_tokens_last_and_then_at_the_rate() {
    let mut link = full(bucket(RATE, 3 * u64::from(BYTES)));
    offer(&mut link, 0, MS, &[BYTES; 5]);
    assert_eq!(times(&mut link), [MS, MS, MS, MS + TIME, MS + 2 * TIME]);
}

#[test]
fn packets_that_leave_at_once_leave_one_by_one() {
    let least = |least_packet_ns| DirectionConfig {
        least_packet_ns,
        ..bucket(RATE, 3 * u64::from(BYTES))
    };
    let mut link = full(least(TIME / 10));
    offer(&mut link, 0, MS, &[BYTES; 5]);
    let [first, second, third] = [1, 2, 3].map(|packets| MS + packets * TIME / 10);
    // The tokens that come meanwhile are not lost.
    assert_eq!(
        times(&mut link),
        [first, second, third, MS + TIME, MS + 2 * TIME]
    );
    // They wait for each other, but not in the queue, which has room for one.
    let queue = QueueConfig {
        limit_packets: Some(1),
        ..QueueConfig::default()
    };
    let mut link = full(DirectionConfig {
        queue,
        ..least(TIME / 10)
    });
    offer(&mut link, 0, MS, &[BYTES; 4]);
    assert!(link.offer(0, MS, BYTES, 4).is_err());
    assert_eq!(times(&mut link), [first, second, third, MS + TIME]);
    // The rate alone decides where it is slower.
    let mut link = full(least(10 * TIME));
    offer(&mut link, 0, MS, &[BYTES; 5]);
    assert_eq!(times(&mut link), [1, 2, 3, 4, 5].map(|n| MS + n * TIME));
}

#[test]
fn the_bucket_fills_at_the_rate_and_no_further_than_its_size() {
    let mut link = full(bucket(RATE, 2 * u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES; 2]);
    // Half a packet's tokens after half a packet's time.
    link.offer(0, TIME / 2, BYTES, 2).unwrap();
    assert_eq!(times(&mut link), [0, 0, TIME]);
    let mut link = full(bucket(RATE, 2 * u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES; 2]);
    offer(&mut link, 0, 100 * TIME, &[BYTES; 4]);
    assert_eq!(
        times(&mut link),
        [0, 0, 100 * TIME, 100 * TIME, 101 * TIME, 102 * TIME]
    );
}

#[test]
fn a_packet_takes_tokens_for_its_framing_too() {
    let mut link = full(DirectionConfig {
        framing_bytes: 38,
        ..bucket(RATE, u64::from(BYTES))
    });
    offer(&mut link, 0, 0, &[BYTES]);
    assert_eq!(times(&mut link), [38 * 80]);
}

#[test]
fn a_packet_that_waits_for_tokens_is_in_serialisation_and_the_next_ones_wait_behind_it() {
    let mut link = full(DirectionConfig {
        queue: QueueConfig {
            limit_packets: Some(1),
            ..QueueConfig::default()
        },
        ..bucket(RATE, u64::from(BYTES))
    });
    offer(&mut link, 0, 0, &[BYTES; 3]);
    assert!(link.offer(0, 0, BYTES, 3).is_err(), "one waits");
    assert_eq!(link.backlog(0).queued_packets, 1);
    assert_eq!(link.backlog(0).in_flight_packets, 2);
    assert_eq!(link.next_deadline(), Some(0));
    assert_eq!(times(&mut link), [0, TIME, 2 * TIME]);
}

#[test]
fn codel_drops_of_what_stands_behind_an_empty_bucket() {
    let queue = QueueConfig {
        discipline: Discipline::CoDel {
            target_ns: MS,
            interval_ns: 10 * MS,
        },
        ..QueueConfig::default()
    };
    let offered = 300;
    let sent = |burst_bytes| {
        let mut link = full(DirectionConfig {
            queue: queue.clone(),
            ..bucket(RATE, burst_bytes)
        });
        offer(&mut link, 0, 0, &vec![BYTES; offered]);
        let sent = times(&mut link).len();
        assert_eq!(link.counters(0).dropped_aqm, (offered - sent) as u64);
        sent
    };
    assert_eq!(sent(offered as u64 * u64::from(BYTES)), offered);
    assert!(sent(10 * u64::from(BYTES)) < offered);
}

#[test]
fn tokens_stay_where_a_fixed_rate_follows_another() {
    let mut link = full(bucket(RATE, 2 * u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES]);
    let tenth = LinkChange {
        rate: Some(Rate::Fixed {
            bits_per_second: 10_000_000,
        }),
        ..LinkChange::default()
    };
    // One packet's tokens are left, and half of another's have come.
    change(&mut link, TIME / 2, &tenth);
    offer(&mut link, 0, TIME / 2, &[BYTES; 2]);
    assert_eq!(times(&mut link), [0, TIME / 2, TIME / 2 + 5 * TIME]);
}

#[test]
fn a_packet_that_waits_for_tokens_gets_the_rest_of_them_at_the_new_rate() {
    let mut link = full(bucket(RATE, u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES; 2]);
    let half = LinkChange {
        rate: Some(Rate::Fixed {
            bits_per_second: 50_000_000,
        }),
        ..LinkChange::default()
    };
    change(&mut link, TIME / 2, &half);
    assert_eq!(times(&mut link), [0, TIME / 2 + TIME]);
}

#[test]
fn a_smaller_bucket_loses_the_tokens_that_it_cannot_hold_and_a_larger_one_has_to_fill() {
    let to = |burst_bytes| LinkChange {
        burst_bytes: Some(burst_bytes),
        ..LinkChange::default()
    };
    let mut link = full(bucket(RATE, 4 * u64::from(BYTES)));
    change(&mut link, 0, &to(2 * u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES; 3]);
    assert_eq!(times(&mut link), [0, 0, TIME]);

    let mut link = full(bucket(RATE, u64::from(BYTES)));
    change(&mut link, 0, &to(3 * u64::from(BYTES)));
    offer(&mut link, 0, TIME, &[BYTES; 3]);
    assert_eq!(times(&mut link), [TIME, TIME, 2 * TIME]);
}

#[test]
fn a_bucket_that_comes_with_its_rate_is_full() {
    let mut link = full(bucket(Rate::Unlimited, 2 * u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES; 3]);
    let limited = LinkChange {
        rate: Some(RATE),
        ..LinkChange::default()
    };
    change(&mut link, MS, &limited);
    offer(&mut link, 0, MS, &[BYTES; 3]);
    assert_eq!(times(&mut link), [0, 0, 0, MS, MS, MS + TIME]);
}

#[test]
fn a_direction_that_goes_down_drops_the_packet_that_waits_for_tokens_and_frees_what_it_owes() {
    let mut link = full(bucket(RATE, u64::from(BYTES)));
    offer(&mut link, 0, 0, &[BYTES; 2]);
    let up = |up| LinkChange {
        up: Some(up),
        ..LinkChange::default()
    };
    assert_eq!(due(&mut link, 0).len(), 1);
    change(&mut link, TIME / 2, &up(false));
    change(&mut link, TIME / 2, &up(true));
    link.offer(0, TIME / 2, BYTES, 2).unwrap();
    assert_eq!(link.counters(0).dropped_down, 1);
    assert_eq!(arrivals(&mut link), [(TIME / 2 + TIME, 2)]);
}

#[test]
fn a_packet_larger_than_the_bucket_waits_for_what_the_bucket_lacks() {
    let mut link = full(bucket(RATE, 250));
    offer(&mut link, 0, 0, &[BYTES; 2]);
    assert_eq!(times(&mut link), [TIME * 4 / 5, TIME * 9 / 5]);
}

/// Times at which a token bucket filter lets packets out, rounded up: tokens come one by one, and a
/// packet waits until there are as many as it costs.
///
/// Times are counted in the time that one token, a billionth of a bit, takes to come.
fn token_bucket_filter(
    bits_per_second: u64,
    burst_bytes: u64,
    packets: &[(Nanos, u64)],
) -> Vec<Nanos> {
    let tick = u128::from(bits_per_second);
    let most = u128::from(burst_bytes) * NANOBITS_PER_BYTE;
    let (mut tokens, mut now) = (most, 0);
    let out = packets.iter().map(|&(arrived, bytes)| {
        let cost = u128::from(bytes) * NANOBITS_PER_BYTE;
        let head = now.max(u128::from(arrived) * tick);
        tokens = (tokens + head - now).min(most);
        now = head + cost.saturating_sub(tokens);
        tokens = tokens.saturating_sub(cost);
        Nanos::try_from(now.div_ceil(tick)).unwrap_or(Nanos::MAX)
    });
    out.collect()
}

proptest! {
    #[test]
    fn packets_leave_when_a_token_bucket_filter_lets_them(
        bits_per_second in prop_oneof![1_000_u64..200_000_000, 1_000_000_000..100_000_000_000_u64],
        burst_bytes in prop_oneof![0_u64..3000, 0_u64..100_000],
        framing_bytes in 0_u32..50,
        offers in prop::collection::vec((prop_oneof![Just(0), 0..MS], 0_u32..3000), 1..80),
    ) {
        let mut link = full(DirectionConfig {
            framing_bytes,
            ..bucket(Rate::Fixed { bits_per_second }, burst_bytes)
        });
        let (mut now, mut packets, mut seen) = (0, Vec::new(), Vec::new());
        for (number, &(gap, ip_bytes)) in (0..).zip(&offers) {
            now += gap;
            packets.push((now, u64::from(ip_bytes + framing_bytes)));
            link.offer(0, now, ip_bytes, number).unwrap();
            link.poll(now, &mut seen);
        }
        link.poll(Nanos::MAX, &mut seen);
        let left: Vec<_> = seen.iter().map(|delivery: &Delivery<u32>| delivery.at).collect();
        prop_assert_eq!(&left, &token_bucket_filter(bits_per_second, burst_bytes, &packets));

        let nanobits = |number: usize| u128::from(packets[number].1) * NANOBITS_PER_BYTE;
        let burst = u128::from(burst_bytes) * NANOBITS_PER_BYTE;
        for first in 0..left.len() {
            let mut carried = 0;
            for last in first..left.len() {
                carried += nanobits(last);
                // Times are rounded up, so the span may be short by just under a nanosecond.
                let span = u128::from(left[last] - left[first] + 1);
                let most = burst.max(nanobits(first)) + span * u128::from(bits_per_second);
                prop_assert!(carried <= most, "{first} to {last}: {carried} of {most}");
            }
        }
    }

    #[test]
    fn a_busy_link_with_a_bucket_carries_its_rate_exactly(
        bits_per_second in 1_000_u64..10_000_000_000,
        burst_bytes in 0_u64..100_000,
        changes in prop::collection::vec(0..1000_u64, 0..10),
    ) {
        let mut link = full(bucket(Rate::Fixed { bits_per_second }, burst_bytes));
        let count = 400_u64;
        offer(&mut link, 0, 0, &vec![1500; count as usize]);
        // A change to the same rate changes nothing, wherever it comes.
        let same = LinkChange {
            rate: Some(Rate::Fixed { bits_per_second }),
            ..LinkChange::default()
        };
        let end = count * 1500 * 8 * 1_000_000_000 / bits_per_second;
        let mut moments: Vec<_> = changes.iter().map(|place| end / 1000 * place).collect();
        moments.sort_unstable();
        for &now in &moments {
            change(&mut link, now, &same);
        }
        let last = times(&mut link).pop().unwrap_or_default();
        let owed = u128::from((count * 1500).saturating_sub(burst_bytes)) * NANOBITS_PER_BYTE;
        let exact = owed.div_ceil(u128::from(bits_per_second)) as Nanos;
        // Each change begins a nanosecond of its own.
        prop_assert!(exact <= last && last <= exact + moments.len() as u64, "{last}, exactly {exact}");
    }
}
