//! Any sequence of operations on any link: packets are conserved, nothing is delivered late or
//! before its time, and nothing panics.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use mptcplab_link::{
    DirectionConfig, Discipline, Duplex, Jitter, Link, LinkChange, LinkConfig, Loss, QueueConfig,
    QueueLimits, Rate, Reordering,
};

#[derive(Arbitrary, Debug)]
struct Run {
    seed: u64,
    half_duplex: bool,
    directions: [Direction; 2],
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
struct Direction {
    rate: AnyRate,
    burst_bytes: u16,
    framing_bytes: u8,
    delay_ns: u32,
    jitter: AnyJitter,
    loss: AnyLoss,
    reordering: Option<(f64, u32)>,
    duplication: f64,
    limit_packets: Option<u8>,
    limit_bytes: Option<u16>,
    codel: Option<(u32, u32)>,
}

#[derive(Arbitrary, Debug)]
enum AnyRate {
    Unlimited,
    Fixed(u64),
    Trace(Vec<u16>),
}

#[derive(Arbitrary, Debug)]
enum AnyJitter {
    None,
    Uniform(u32),
    Normal(u32),
}

#[derive(Arbitrary, Debug)]
enum AnyLoss {
    None,
    Random(f64),
    GilbertElliott([f64; 4]),
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Offer {
        direction: bool,
        bytes: u16,
    },
    Wait(u32),
    /// Goes on to the next deadline.
    Next,
    Rate(Option<bool>, AnyRate),
    Burst(Option<bool>, u16),
    Delay(Option<bool>, u32),
    Jitter(Option<bool>, AnyJitter),
    Loss(Option<bool>, AnyLoss),
    Reordering(Option<bool>, f64, u32),
    Duplication(Option<bool>, f64),
    Limits(Option<bool>, Option<u8>, Option<u16>),
    Up(Option<bool>, bool),
}

impl From<&AnyRate> for Rate {
    fn from(rate: &AnyRate) -> Self {
        match rate {
            AnyRate::Unlimited => Self::Unlimited,
            AnyRate::Fixed(bits_per_second) => Self::Fixed {
                bits_per_second: *bits_per_second,
            },
            AnyRate::Trace(times) => Self::Trace {
                opportunities_ms: times.iter().copied().map(u64::from).collect(),
            },
        }
    }
}

impl From<&AnyJitter> for Jitter {
    fn from(jitter: &AnyJitter) -> Self {
        match *jitter {
            AnyJitter::None => Self::None,
            AnyJitter::Uniform(range) => Self::Uniform {
                range_ns: range.into(),
            },
            AnyJitter::Normal(sd) => Self::Normal { sd_ns: sd.into() },
        }
    }
}

impl From<&AnyLoss> for Loss {
    fn from(loss: &AnyLoss) -> Self {
        match *loss {
            AnyLoss::None => Self::None,
            AnyLoss::Random(probability) => Self::Random { probability },
            AnyLoss::GilbertElliott([p, r, loss_good, loss_bad]) => Self::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad,
            },
        }
    }
}

impl From<&Direction> for DirectionConfig {
    fn from(direction: &Direction) -> Self {
        let discipline = match direction.codel {
            None => Discipline::DropTail,
            Some((target, interval)) => Discipline::CoDel {
                target_ns: target.into(),
                interval_ns: interval.into(),
            },
        };
        Self {
            rate: (&direction.rate).into(),
            burst_bytes: direction.burst_bytes.into(),
            least_packet_ns: u64::from(direction.burst_bytes) % 7 * 1000,
            framing_bytes: direction.framing_bytes.into(),
            delay_ns: direction.delay_ns.into(),
            jitter: (&direction.jitter).into(),
            loss: (&direction.loss).into(),
            reordering: direction.reordering.map(|(probability, extra)| Reordering {
                probability,
                extra_ns: extra.into(),
            }),
            duplication: direction.duplication,
            queue: QueueConfig {
                limit_packets: direction.limit_packets.map(Into::into),
                limit_bytes: direction.limit_bytes.map(Into::into),
                discipline,
            },
            up: true,
        }
    }
}

/// The change that an operation asks for.
fn change(operation: &Operation) -> LinkChange {
    let mut change = LinkChange::default();
    let direction = match operation {
        Operation::Rate(direction, rate) => {
            change.rate = Some(rate.into());
            direction
        }
        Operation::Burst(direction, burst) => {
            change.burst_bytes = Some((*burst).into());
            direction
        }
        Operation::Delay(direction, delay) => {
            change.delay_ns = Some((*delay).into());
            direction
        }
        Operation::Jitter(direction, jitter) => {
            change.jitter = Some(jitter.into());
            direction
        }
        Operation::Loss(direction, loss) => {
            change.loss = Some(loss.into());
            direction
        }
        Operation::Reordering(direction, probability, extra) => {
            change.reordering = Some(Reordering {
                probability: *probability,
                extra_ns: (*extra).into(),
            });
            direction
        }
        Operation::Duplication(direction, probability) => {
            change.duplication = Some(*probability);
            direction
        }
        Operation::Limits(direction, packets, bytes) => {
            change.limits = Some(QueueLimits {
                limit_packets: packets.map(Into::into),
                limit_bytes: bytes.map(Into::into),
            });
            direction
        }
        Operation::Up(direction, up) => {
            change.up = Some(*up);
            direction
        }
        Operation::Offer { .. } | Operation::Wait(_) | Operation::Next => &None,
    };
    change.direction = direction.map(usize::from);
    change
}

/// Whether every packet of a direction is accounted for.
fn check_conservation(link: &Link<u64>) {
    for direction in 0..2 {
        let (seen, held) = (link.counters(direction), link.backlog(direction));
        let dropped = seen.dropped_queue + seen.dropped_aqm + seen.dropped_loss + seen.dropped_down;
        assert_eq!(
            seen.offered_packets + seen.duplicated,
            seen.delivered_packets + dropped + held.queued_packets + held.in_flight_packets
        );
    }
}

fuzz_target!(|run: Run| {
    let config = LinkConfig {
        duplex: if run.half_duplex {
            Duplex::Half
        } else {
            Duplex::Full
        },
        directions: [(&run.directions[0]).into(), (&run.directions[1]).into()],
    };
    let Ok(mut link) = Link::new(&config, run.seed) else {
        return;
    };
    let (mut now, mut due) = (0_u64, Vec::new());
    for operation in &run.operations {
        let before = now;
        match operation {
            Operation::Offer { direction, bytes } => {
                let _ = link.offer(usize::from(*direction), now, u32::from(*bytes), now);
            }
            Operation::Wait(span) => now = now.saturating_add(u64::from(*span)),
            Operation::Next => now = link.next_deadline().unwrap_or(now).max(now),
            other => {
                let _ = link.change(now, &change(other));
            }
        }
        due.clear();
        link.poll(now, &mut due);
        assert!(due.is_sorted_by_key(|delivery| delivery.at));
        for delivery in &due {
            assert!(before <= delivery.at && delivery.at <= now, "out of time");
            assert!(delivery.packet <= delivery.at, "before it was offered");
        }
        check_conservation(&link);
    }
});
