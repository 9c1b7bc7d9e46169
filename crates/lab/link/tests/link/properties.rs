//! Properties of every link with all traffic.

use std::ops::Range;

use mptcplab_link::{
    Delivery, DirectionConfig, Discipline, Duplex, Jitter, Link, LinkChange, LinkConfig, Loss,
    Nanos, QueueConfig, QueueLimits, Rate, Reordering,
};
use proptest::prelude::*;

use crate::support::MS;

/// An operation on a link, some time after the one before.
#[derive(Clone, Debug)]
enum Step {
    Offer { direction: usize, ip_bytes: u32 },
    Change(LinkChange),
}

type Script = Vec<(Nanos, Step)>;

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..0.4]
}

fn fixed_or_unlimited() -> impl Strategy<Value = Rate> {
    let rates = prop_oneof![1_000_u64..200_000_000, 1_000_000_000..100_000_000_000_u64];
    prop_oneof![
        1 => Just(Rate::Unlimited),
        4 => rates.prop_map(|bits_per_second| Rate::Fixed { bits_per_second }),
    ]
}

fn rate() -> impl Strategy<Value = Rate> {
    let trace =
        (prop::collection::vec(0_u64..12, 1..8), 1_u64..12).prop_map(|(mut times, last)| {
            times.push(last);
            times.sort_unstable();
            Rate::Trace {
                opportunities_ms: times,
            }
        });
    prop_oneof![3 => fixed_or_unlimited(), 1 => trace]
}

fn burst(duplex: Duplex) -> BoxedStrategy<u64> {
    match duplex {
        Duplex::Half => Just(0).boxed(),
        Duplex::Full => prop_oneof![Just(0), 0_u64..10_000].boxed(),
    }
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        (0..5 * MS).prop_map(|range_ns| Jitter::Uniform { range_ns }),
        (0..5 * MS).prop_map(|sd_ns| Jitter::Normal { sd_ns }),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        probability().prop_map(|probability| Loss::Random { probability }),
        (probability(), probability(), probability(), probability()).prop_map(
            |(p, r, loss_good, loss_bad)| Loss::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad
            }
        ),
    ]
}

fn reordering() -> impl Strategy<Value = Reordering> {
    (probability(), 0..5 * MS).prop_map(|(probability, extra_ns)| Reordering {
        probability,
        extra_ns,
    })
}

fn limits() -> impl Strategy<Value = QueueLimits> {
    (prop::option::of(0_u32..20), prop::option::of(0_u64..30_000)).prop_map(
        |(limit_packets, limit_bytes)| QueueLimits {
            limit_packets,
            limit_bytes,
        },
    )
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let codel = (0..5 * MS, 1..20 * MS).prop_map(|(target_ns, interval_ns)| Discipline::CoDel {
        target_ns,
        interval_ns,
    });
    (limits(), prop_oneof![Just(Discipline::DropTail), codel]).prop_map(|(limits, discipline)| {
        QueueConfig {
            limit_packets: limits.limit_packets,
            limit_bytes: limits.limit_bytes,
            discipline,
        }
    })
}

fn direction(duplex: Duplex) -> impl Strategy<Value = DirectionConfig> {
    (
        (
            rate(),
            (burst(duplex), 0..MS),
            0_u32..50,
            0..10 * MS,
            jitter(),
        ),
        (
            loss(),
            prop::option::of(reordering()),
            probability(),
            queue(),
        ),
    )
        .prop_map(|((rate, bucket, framing_bytes, delay_ns, jitter), rest)| {
            let (burst_bytes, least_packet_ns) = bucket;
            let (loss, reordering, duplication, queue) = rest;
            DirectionConfig {
                rate,
                burst_bytes,
                least_packet_ns,
                framing_bytes,
                delay_ns,
                jitter,
                loss,
                reordering,
                duplication,
                queue,
                up: true,
            }
        })
}

fn change(duplex: Duplex) -> impl Strategy<Value = LinkChange> {
    use prop::option::of;
    (
        (
            of(0_usize..2),
            of(rate()),
            of(burst(duplex)),
            of(0..10 * MS),
            of(jitter()),
            of(loss()),
        ),
        (
            of(reordering()),
            of(probability()),
            of(limits()),
            of(any::<bool>()),
        ),
    )
        .prop_map(
            |((direction, rate, burst_bytes, delay_ns, jitter, loss), rest)| {
                let (reordering, duplication, limits, up) = rest;
                LinkChange {
                    direction,
                    rate,
                    burst_bytes,
                    delay_ns,
                    jitter,
                    loss,
                    reordering,
                    duplication,
                    limits,
                    up,
                }
            },
        )
}

/// A link and what is done to it.
fn link_and_script() -> impl Strategy<Value = (LinkConfig, Script)> {
    prop_oneof![Just(Duplex::Full), Just(Duplex::Half)].prop_flat_map(|duplex| {
        let offer = (0_usize..2, 0_u32..3000)
            .prop_map(|(direction, ip_bytes)| Step::Offer { direction, ip_bytes });
        let step = prop_oneof![12 => offer, 1 => change(duplex).prop_map(Step::Change)];
        let gap = prop_oneof![3 => Just(0), 3 => 0..1000_u64, 3 => 0..MS, 1 => 0..20 * MS, 1 => (0..20_u64).prop_map(|ms| ms * MS)];
        let script = prop::collection::vec((gap, step), 1..150);
        ((direction(duplex), direction(duplex)), script).prop_map(move |((a, b), script)| {
            (LinkConfig { duplex, directions: [a, b] }, script)
        })
    })
}

/// Everything that can be seen of a run.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    taken: Vec<bool>,
    deliveries: Vec<Delivery<u32>>,
}

/// Runs a script; `before` polls as it likes in a span of time before each step and at the end.
fn run(
    config: &LinkConfig,
    script: &Script,
    mut before: impl FnMut(&mut Link<u32>, Range<Nanos>, &mut Vec<Delivery<u32>>),
) -> (Link<u32>, Seen) {
    let mut link = Link::new(config, 7).expect("a good configuration");
    let mut seen = Seen::default();
    let mut now = 0;
    for (number, (gap, step)) in (0..).zip(script) {
        before(&mut link, now..now + gap, &mut seen.deliveries);
        now += gap;
        match step {
            &Step::Offer {
                direction,
                ip_bytes,
            } => {
                seen.taken
                    .push(link.offer(direction, now, ip_bytes, number).is_ok());
            }
            Step::Change(change) => link.change(now, change).expect("a good change"),
        }
        assert_conserved(&link);
    }
    before(&mut link, now..Nanos::MAX, &mut seen.deliveries);
    link.poll(Nanos::MAX, &mut seen.deliveries);
    assert_conserved(&link);
    (link, seen)
}

fn assert_conserved(link: &Link<u32>) {
    for direction in 0..2 {
        let counters = link.counters(direction);
        let backlog = link.backlog(direction);
        let dropped = counters.dropped_queue
            + counters.dropped_aqm
            + counters.dropped_loss
            + counters.dropped_down;
        assert_eq!(
            counters.offered_packets + counters.duplicated,
            counters.delivered_packets
                + dropped
                + backlog.queued_packets
                + backlog.in_flight_packets
        );
    }
}

/// Polls when the link asks for it and at no other time.
fn by_deadline(link: &mut Link<u32>, span: Range<Nanos>, due: &mut Vec<Delivery<u32>>) {
    let mut latest = None;
    while let Some(deadline) = link
        .next_deadline()
        .filter(|deadline| span.contains(deadline))
    {
        assert!(
            latest < Some(deadline),
            "the deadline {deadline} stays where it was"
        );
        latest = Some(deadline);
        let already = due.len();
        link.poll(deadline, due);
        for delivery in &due[already..] {
            assert_eq!(delivery.at, deadline, "the deadline was late");
        }
    }
}

/// Takes packets when the link asks for it, one by one.
fn one_by_one(link: &mut Link<u32>, span: Range<Nanos>, due: &mut Vec<Delivery<u32>>) {
    while let Some(deadline) = link
        .next_deadline()
        .filter(|deadline| span.contains(deadline))
    {
        let delivered = |link: &Link<u32>| [0, 1].map(|way| link.counters(way).delivered_packets);
        let before: u64 = delivered(link).iter().sum();
        let one = link.poll_one(deadline);
        let after: u64 = delivered(link).iter().sum();
        assert_eq!(after - before, u64::from(one.is_some()));
        due.extend(one);
    }
}

proptest! {
    #[test]
    fn packets_that_are_taken_one_by_one_are_the_same((config, script) in link_and_script()) {
        let (_, expected) = run(&config, &script, |_, _, _| ());
        let (_, seen) = run(&config, &script, one_by_one);
        prop_assert_eq!(&seen, &expected);
    }

    #[test]
    fn how_often_the_link_is_polled_changes_nothing(
        (config, script) in link_and_script(),
        places in prop::collection::vec(prop::collection::vec(0.0..1.0, 0..4), 151),
    ) {
        let (never, expected) = run(&config, &script, |_, _, _| ());
        let mut places = places.into_iter();
        let (at_random, seen) = run(&config, &script, |link, span, due| {
            let mut times: Vec<Nanos> = places
                .next()
                .unwrap_or_default()
                .into_iter()
                .map(|place: f64| span.start + (place * (span.end - span.start).min(50 * MS) as f64) as Nanos)
                .collect();
            times.sort_unstable();
            for now in times {
                link.poll(now, due);
                assert_conserved(link);
            }
        });
        prop_assert_eq!(&seen, &expected);
        let (by_deadline, seen) = run(&config, &script, by_deadline);
        prop_assert_eq!(&seen, &expected);
        for direction in 0..2 {
            prop_assert_eq!(at_random.counters(direction), never.counters(direction));
            prop_assert_eq!(by_deadline.counters(direction), never.counters(direction));
        }
    }

    #[test]
    fn deliveries_come_in_order_of_time_and_then_of_offers((config, script) in link_and_script()) {
        let (_, seen) = run(&config, &script, |_, _, _| ());
        prop_assert!(seen.deliveries.is_sorted_by_key(|delivery| (delivery.at, delivery.packet)));
    }

    #[test]
    fn nothing_overtakes_without_reordering((mut config, mut script) in link_and_script()) {
        for direction in &mut config.directions {
            direction.reordering = None;
        }
        for (_, step) in &mut script {
            if let Step::Change(change) = step {
                change.reordering = None;
            }
        }
        let (_, seen) = run(&config, &script, |_, _, _| ());
        for direction in 0..2 {
            let packets = seen.deliveries.iter().filter(|delivery| delivery.direction == direction);
            prop_assert!(packets.is_sorted_by_key(|delivery| delivery.packet));
        }
    }

    #[test]
    fn in_any_time_no_more_than_the_rate_and_one_packet_is_carried(
        bits_per_second in prop_oneof![1_000_u64..200_000_000, 1_000_000_000..100_000_000_000_u64],
        queue in queue(),
        framing_bytes in 0_u32..50,
        offers in prop::collection::vec((0..MS, 0_u32..3000), 1..60),
    ) {
        let direction = DirectionConfig {
            rate: Rate::Fixed { bits_per_second },
            queue,
            framing_bytes,
            ..DirectionConfig::default()
        };
        let directions = [direction.clone(), direction];
        let config = LinkConfig { duplex: Duplex::Full, directions };
        let script: Script = offers
            .iter()
            .map(|&(gap, ip_bytes)| (gap, Step::Offer { direction: 0, ip_bytes }))
            .collect();
        let (_, seen) = run(&config, &script, |_, _, _| ());
        let bits = |delivery: &Delivery<u32>| {
            u128::from(offers[delivery.packet as usize].1 + framing_bytes) * 8
        };
        for (index, first) in seen.deliveries.iter().enumerate() {
            prop_assert_eq!(first.ip_bytes, offers[first.packet as usize].1);
            let mut carried = 0;
            for last in &seen.deliveries[index + 1..] {
                carried += bits(last);
                // Times are rounded up, so the span may be short by just under a nanosecond.
                let span = u128::from(last.at - first.at + 1);
                prop_assert!(carried * 1_000_000_000 < span * u128::from(bits_per_second) + 1);
            }
        }
    }
}
