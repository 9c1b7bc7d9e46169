//! Packets a second through offer and poll on one core.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_link::{
    DirectionConfig, Discipline, Duplex, Jitter, Link, LinkConfig, Loss, Nanos, QueueConfig, Rate,
    Reordering,
};

const PACKETS: u64 = 10_000;
/// A packet of 1500 bytes at 1 Gbit/s.
const INTERVAL: Nanos = 12_000;

fn plain() -> DirectionConfig {
    DirectionConfig {
        rate: Rate::Fixed {
            bits_per_second: 1_000_000_000,
        },
        delay_ns: 1_000_000,
        ..DirectionConfig::default()
    }
}

/// Every feature that a fixed rate allows.
fn everything() -> DirectionConfig {
    DirectionConfig {
        framing_bytes: 38,
        jitter: Jitter::Normal { sd_ns: 100_000 },
        loss: Loss::GilbertElliott {
            p: 0.01,
            r: 0.3,
            loss_good: 0.0,
            loss_bad: 0.5,
        },
        reordering: Some(Reordering {
            probability: 0.01,
            extra_ns: 500_000,
        }),
        duplication: 0.01,
        queue: QueueConfig {
            limit_packets: Some(1000),
            limit_bytes: None,
            discipline: Discipline::CoDel {
                target_ns: 5_000_000,
                interval_ns: 100_000_000,
            },
        },
        ..plain()
    }
}

/// A link that has long been busy: at its rate, one poll for each burst of 16 packets.
fn throughput(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("offer and poll");
    group.throughput(Throughput::Elements(PACKETS));
    for (name, direction) in [("plain", plain()), ("everything", everything())] {
        let config = LinkConfig {
            duplex: Duplex::Full,
            directions: [direction.clone(), direction],
        };
        let mut link = Link::new(&config, 1).expect("a good configuration");
        let mut due = Vec::new();
        let mut now = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for number in 0..PACKETS {
                    if number % 16 == 0 {
                        now += 16 * INTERVAL;
                        link.poll(now, &mut due);
                        black_box(&due);
                        due.clear();
                    }
                    black_box(link.offer(0, now, 1500, number)).ok();
                }
                black_box(link.next_deadline());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
