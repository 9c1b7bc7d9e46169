//! Rate traces of two directions that share one serialiser.

use mptcplab_link::{DirectionConfig, Duplex, Link, LinkChange, LinkConfig, Nanos, Rate};
use proptest::prelude::*;

use crate::support::{MS, due, offer};

fn trace(opportunities_ms: &[u64]) -> Rate {
    Rate::Trace {
        opportunities_ms: opportunities_ms.to_vec(),
    }
}

fn half(rates: [Rate; 2]) -> Link<u32> {
    let directions = rates.map(|rate| DirectionConfig {
        rate,
        ..DirectionConfig::default()
    });
    let config = LinkConfig {
        duplex: Duplex::Half,
        directions,
    };
    Link::new(&config, 1).expect("a good configuration")
}

/// Times in microseconds, rounded up, and direction of what comes by a time.
fn order(link: &mut Link<u32>, by: Nanos) -> Vec<(u64, usize)> {
    due(link, by)
        .into_iter()
        .map(|delivery| (delivery.at.div_ceil(1000), delivery.direction))
        .collect()
}

#[test]
fn an_opportunity_is_1504_bytes_in_the_millisecond_that_ends_with_it() {
    let mut link = half([trace(&[5, 5, 10]), trace(&[5, 5, 10])]);
    offer(&mut link, 0, 0, &[1504; 5]);
    let times = [4500, 5000, 10_000, 14_500, 15_000].map(|at| (at, 0));
    assert_eq!(order(&mut link, 100 * MS), times);
}

#[test]
fn an_entry_at_zero_is_in_the_last_millisecond_of_the_cycle_before() {
    let mut link = half([trace(&[0, 4]), trace(&[0, 4])]);
    offer(&mut link, 0, 0, &[1504; 3]);
    let times = [3500, 4000, 7500].map(|at| (at, 0));
    assert_eq!(order(&mut link, 100 * MS), times);
}

#[test]
fn directions_of_one_trace_take_turns_and_share_what_it_carries() {
    let mut link = half([trace(&[1, 1, 2, 2]), trace(&[1, 1, 2, 2])]);
    offer(&mut link, 0, 0, &[1504; 3]);
    offer(&mut link, 1, 0, &[1504; 2]);
    assert_eq!(
        order(&mut link, 100 * MS),
        [(500, 0), (1000, 1), (1500, 0), (2000, 1), (2500, 0)]
    );
}

#[test]
fn each_direction_is_sent_at_the_rate_of_its_own_trace() {
    let mut link = half([trace(&[1]), trace(&[1, 1, 1, 1])]);
    offer(&mut link, 0, 0, &[1504; 2]);
    offer(&mut link, 1, 0, &[1504; 3]);
    assert_eq!(
        order(&mut link, 100 * MS),
        [(1000, 0), (1250, 1), (2250, 0), (2500, 1), (2750, 1)]
    );
}

#[test]
fn a_direction_without_a_rate_at_the_moment_leaves_the_medium_to_the_other() {
    let mut link = half([
        trace(&[10]),
        Rate::Fixed {
            bits_per_second: 12_032_000,
        },
    ]);
    offer(&mut link, 0, 0, &[1504; 2]);
    offer(&mut link, 1, 0, &[1504; 10]);
    let seen = order(&mut link, 100 * MS);
    // Nine of the other's, then the turn at 9 ms is the trace's, then the tenth.
    let ones: Vec<_> = (1..10).map(|ms| (ms * 1000, 1)).collect();
    assert_eq!(seen[..9], ones);
    assert_eq!(seen[9..], [(10_000, 0), (11_000, 1), (20_000, 0)]);
}

#[test]
fn a_packet_that_a_pause_of_the_trace_interrupts_keeps_the_medium() {
    let mut link = half([
        trace(&[1, 5]),
        Rate::Fixed {
            bits_per_second: 12_032_000,
        },
    ]);
    offer(&mut link, 0, 0, &[752, 1504]);
    link.offer(1, MS / 2 + 1, 1504, 0).unwrap();
    // The second packet of the trace comes to its turn in the middle of the first millisecond.
    assert_eq!(order(&mut link, 100 * MS), [(500, 0), (4500, 0), (5500, 1)]);
}

#[test]
fn what_is_left_of_a_packet_goes_on_at_a_new_rate() {
    let mut link = half([trace(&[1, 1]), trace(&[1])]);
    offer(&mut link, 0, 0, &[3008]);
    let fixed = Rate::Fixed {
        bits_per_second: 12_032_000,
    };
    let to = |rate| LinkChange {
        rate: Some(rate),
        ..LinkChange::default()
    };
    link.change(MS / 2, &to(fixed)).unwrap();
    link.change(MS, &to(trace(&[10]))).unwrap();
    // 1504 bytes in half a millisecond, 752 in the next; the rest in the tenth from then.
    assert_eq!(order(&mut link, 100 * MS), [(10_500, 0)]);
}

fn opportunities() -> impl Strategy<Value = Vec<u64>> {
    (prop::collection::vec(0_u64..12, 0..8), 1_u64..12).prop_map(|(mut times, last)| {
        times.push(last);
        times.sort_unstable();
        times
    })
}

proptest! {
    #[test]
    fn two_busy_directions_of_one_trace_carry_exactly_what_it_carries(
        opportunities in opportunities(),
        sizes in prop::collection::vec(40_u32..1504, 2),
        cycles in 1_u64..6,
    ) {
        let last = opportunities[opportunities.len() - 1];
        let mut link = half([trace(&opportunities), trace(&opportunities)]);
        for (direction, &ip_bytes) in sizes.iter().enumerate() {
            offer(&mut link, direction, 0, &vec![ip_bytes; 3000]);
        }
        let by = cycles * last * MS;
        let carried: u64 = due(&mut link, by).iter().map(|one| u64::from(one.ip_bytes)).sum();
        // The opportunity of the first cycle at 0 came before the link.
        let capacity = cycles * opportunities.len() as u64 * 1504;
        let next = u64::from(sizes[0].max(sizes[1]));
        prop_assert!(carried <= capacity && capacity < carried + next, "{carried} of {capacity}");
    }

    #[test]
    fn the_time_that_different_traces_take_is_never_more_than_there_is(
        traces in (opportunities(), opportunities()),
        counts in (1_usize..60, 1_usize..60),
    ) {
        let mut link = half([trace(&traces.0), trace(&traces.1)]);
        offer(&mut link, 0, 0, &vec![1000; counts.0]);
        offer(&mut link, 1, 0, &vec![1000; counts.1]);
        let seen = due(&mut link, Nanos::MAX);
        prop_assert_eq!(seen.len(), counts.0 + counts.1);
        // Each packet has the medium for itself from its begin, which is not before its
        // predecessor's end: in between lies at least its time at the fastest rate of its trace.
        let fastest = |opportunities: &[u64]| {
            let last = opportunities[opportunities.len() - 1];
            let within = |ms: u64| if ms == 0 { last } else { ms };
            let in_one = |ms: u64| opportunities.iter().filter(|&&other| within(other) == ms).count();
            opportunities.iter().map(|&ms| in_one(within(ms))).max().unwrap_or(1) as u64
        };
        let shortest = [&traces.0, &traces.1].map(|one| MS * 1000 / 1504 / fastest(one));
        let mut ended = 0;
        for delivery in &seen {
            prop_assert!(ended + shortest[delivery.direction] <= delivery.at + 1);
            ended = delivery.at;
        }
    }
}
