//! Two directions that share one serialiser.

use mptcplab_link::{DirectionConfig, Dropped, Duplex, Link, LinkChange, LinkConfig, Rate};

use crate::support::{BYTES, MS, RATE, TIME, due, offer};

fn half(directions: [DirectionConfig; 2]) -> Link<u32> {
    Link::new(
        &LinkConfig {
            duplex: Duplex::Half,
            directions,
        },
        1,
    )
    .expect("a good configuration")
}

fn at(rate: Rate) -> DirectionConfig {
    DirectionConfig {
        rate,
        ..DirectionConfig::default()
    }
}

/// Time, direction and number of everything still on the link.
fn order(link: &mut Link<u32>) -> Vec<(u64, usize, u32)> {
    due(link, 1000 * MS)
        .into_iter()
        .map(|d| (d.at, d.direction, d.packet))
        .collect()
}

#[test]
fn queues_that_have_something_to_send_take_turns_by_packet() {
    let mut link = half([at(RATE), at(RATE)]);
    offer(&mut link, 0, 0, &[BYTES; 4]);
    offer(&mut link, 1, 0, &[BYTES; 2]);
    assert_eq!(
        order(&mut link),
        [
            (TIME, 0, 0),
            (2 * TIME, 1, 0),
            (3 * TIME, 0, 1),
            (4 * TIME, 1, 1),
            (5 * TIME, 0, 2),
            (6 * TIME, 0, 3)
        ]
    );
}

#[test]
fn the_turn_stays_with_the_other_direction_after_silence() {
    let mut link = half([at(RATE), at(RATE)]);
    offer(&mut link, 0, 0, &[BYTES]);
    offer(&mut link, 1, 5 * TIME, &[BYTES]);
    // Direction 1 was last: when both wait for its packet to end, direction 0 comes first.
    link.offer(1, 5 * TIME + 1, BYTES, 1).unwrap();
    link.offer(0, 5 * TIME + 2, BYTES, 1).unwrap();
    assert_eq!(
        order(&mut link),
        [
            (TIME, 0, 0),
            (6 * TIME, 1, 0),
            (7 * TIME, 0, 1),
            (8 * TIME, 1, 1)
        ]
    );
}

#[test]
fn each_packet_is_sent_at_the_rate_of_its_direction() {
    let slow = Rate::Fixed {
        bits_per_second: 10_000_000,
    };
    let mut link = half([at(RATE), at(slow)]);
    offer(&mut link, 0, 0, &[BYTES; 2]);
    offer(&mut link, 1, 0, &[BYTES; 2]);
    assert_eq!(
        order(&mut link),
        [
            (TIME, 0, 0),
            (11 * TIME, 1, 0),
            (12 * TIME, 0, 1),
            (22 * TIME, 1, 1)
        ]
    );
}

#[test]
fn both_directions_together_carry_the_rate_without_rounding_that_adds_up() {
    let rate = Rate::Fixed {
        bits_per_second: 7_000_000_000,
    };
    let mut link = half([at(rate.clone()), at(rate)]);
    offer(&mut link, 0, 0, &[1500; 500]);
    offer(&mut link, 1, 0, &[1500; 500]);
    let times: Vec<u64> = order(&mut link).into_iter().map(|(at, ..)| at).collect();
    let exact: Vec<u64> = (1..=1000)
        .map(|count: u64| (count * 12_000).div_ceil(7))
        .collect();
    assert_eq!(times, exact);
}

#[test]
fn between_different_rates_rounding_does_not_add_up_either() {
    // 12 000 bits take 12000/7 ns in one direction and 12000/11 ns in the other.
    let rate = |gigabits: u64| {
        at(Rate::Fixed {
            bits_per_second: gigabits * 1_000_000_000,
        })
    };
    let mut link = half([rate(7), rate(11)]);
    offer(&mut link, 0, 0, &[1500; 3000]);
    offer(&mut link, 1, 0, &[1500; 3000]);
    for (count, (at, ..)) in (1..).zip(order(&mut link)) {
        let exact =
            (count_of(count, 0) * 12_000 * 11 + count_of(count, 1) * 12_000 * 7).div_ceil(77);
        assert!(
            at == exact || at == exact + 1,
            "packet {count} at {at}, exactly {exact}"
        );
    }
}

/// Packets of a direction among the first `count`, where the directions take turns from 0 on.
fn count_of(count: u64, direction: u64) -> u64 {
    (count + 1 - direction) / 2
}

#[test]
fn a_packet_waits_for_one_of_the_other_direction_and_then_counts_against_the_limit() {
    let mut narrow = at(RATE);
    narrow.queue.limit_packets = Some(0);
    let mut link = half([narrow.clone(), narrow]);
    offer(&mut link, 0, 0, &[BYTES]);
    assert_eq!(link.offer(1, 1, BYTES, 0), Err(Dropped::QueueFull));
    assert_eq!(link.offer(1, TIME, BYTES, 1), Ok(()));
}

#[test]
fn the_deadline_is_that_of_the_direction_with_the_shorter_delay() {
    let mut link = half([
        DirectionConfig {
            delay_ns: 50 * MS,
            ..at(RATE)
        },
        at(RATE),
    ]);
    offer(&mut link, 0, 0, &[BYTES]);
    offer(&mut link, 1, 0, &[BYTES]);
    assert_eq!(link.next_deadline(), Some(TIME));
    assert!(due(&mut link, TIME).is_empty());
    assert_eq!(link.next_deadline(), Some(2 * TIME));
    assert_eq!(order(&mut link), [(2 * TIME, 1, 0), (50 * MS + TIME, 0, 0)]);
}

#[test]
fn a_direction_that_goes_down_frees_the_medium_for_the_other() {
    let mut link = half([at(RATE), at(RATE)]);
    offer(&mut link, 0, 0, &[BYTES; 3]);
    offer(&mut link, 1, 0, &[BYTES]);
    let down = LinkChange {
        direction: Some(0),
        up: Some(false),
        ..LinkChange::default()
    };
    link.change(TIME / 2, &down).unwrap();
    assert_eq!(order(&mut link), [(TIME / 2 + TIME, 1, 0)]);
    assert_eq!(link.counters(0).dropped_down, 3);
    assert_eq!(link.counters(1).dropped_down, 0);
}

#[test]
fn what_went_down_leaves_no_fraction_of_a_nanosecond_to_the_other() {
    let rate = Rate::Fixed {
        bits_per_second: 7_000_000_000,
    };
    let mut link = half([at(rate.clone()), at(rate)]);
    offer(&mut link, 0, 0, &[1500]);
    offer(&mut link, 1, 0, &[1500]);
    let down = LinkChange {
        direction: Some(0),
        up: Some(false),
        ..LinkChange::default()
    };
    link.change(1000, &down).unwrap();
    // 12000/7 = 1714.3
    assert_eq!(order(&mut link), [(1000 + 1715, 1, 0)]);
}

#[test]
fn a_new_rate_of_one_direction_leaves_the_packet_of_the_other_alone() {
    let mut link = half([at(RATE), at(RATE)]);
    offer(&mut link, 0, 0, &[BYTES]);
    offer(&mut link, 1, 0, &[BYTES]);
    let faster = Rate::Fixed {
        bits_per_second: 200_000_000,
    };
    let change = LinkChange {
        direction: Some(1),
        rate: Some(faster),
        ..LinkChange::default()
    };
    link.change(TIME / 2, &change).unwrap();
    assert_eq!(order(&mut link), [(TIME, 0, 0), (TIME + TIME / 2, 1, 0)]);
}
