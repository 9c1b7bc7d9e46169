//! Loss and duplication.

use mptcplab_link::{DirectionConfig, Jitter, LinkChange, Loss, Reordering};

use crate::support::{BYTES, RATE, TIME, arrivals, due, full, offer, seeded, times};

/// Which of `count` packets are lost.
fn lost(loss: Loss, count: u32) -> Vec<bool> {
    let mut link = full(DirectionConfig {
        loss,
        ..DirectionConfig::default()
    });
    for number in 0..count {
        link.offer(0, 0, 100, number).unwrap();
    }
    let mut lost = vec![true; count as usize];
    for (_, number) in arrivals(&mut link) {
        lost[number as usize] = false;
    }
    assert_eq!(
        link.counters(0).dropped_loss,
        lost.iter().filter(|&&lost| lost).count() as u64
    );
    lost
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64
}

#[test]
fn a_lost_packet_has_used_its_share_of_the_rate() {
    let mut link = full(DirectionConfig {
        rate: RATE,
        ..DirectionConfig::default()
    });
    offer(&mut link, 0, 0, &[BYTES; 2]);
    let loss = |probability| Some(Loss::Random { probability });
    link.change(
        0,
        &LinkChange {
            loss: loss(1.0),
            ..LinkChange::default()
        },
    )
    .unwrap();
    link.change(
        TIME,
        &LinkChange {
            loss: loss(0.0),
            ..LinkChange::default()
        },
    )
    .unwrap();
    assert_eq!(arrivals(&mut link), [(2 * TIME, 1)]);
    assert_eq!(link.counters(0).dropped_loss, 1);
}

#[test]
fn random_loss_is_within_the_binomial_bounds() {
    for probability in [0.001, 0.01, 0.1, 0.5] {
        let share = share(&lost(Loss::Random { probability }, 200_000));
        let deviation = (probability * (1.0 - probability) / 200_000.0).sqrt();
        assert!(
            (share - probability).abs() < 5.0 * deviation,
            "{share} for {probability}"
        );
    }
}

#[test]
fn random_loss_is_independent_from_packet_to_packet() {
    let lost = lost(Loss::Random { probability: 0.3 }, 200_000);
    let after_a_loss: Vec<bool> = lost
        .windows(2)
        .filter(|pair| pair[0])
        .map(|pair| pair[1])
        .collect();
    // Five standard deviations of a binomial of some 60 000.
    assert!(
        (share(&after_a_loss) - 0.3).abs() < 0.0094,
        "{}",
        share(&after_a_loss)
    );
}

/// Lengths of the runs of lost packets.
fn bursts(lost: &[bool]) -> Vec<usize> {
    lost.split(|&lost| !lost)
        .map(<[bool]>::len)
        .filter(|&length| length > 0)
        .collect()
}

#[test]
fn gilbert_elliott_loses_its_stationary_share_in_bursts_of_its_mean_length() {
    let (p, r) = (0.02, 0.25);
    let loss = Loss::GilbertElliott {
        p,
        r,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let lost = lost(loss, 200_000);
    // Five standard errors; those of the share widened by the correlation 1 − p − r of neighbours.
    assert!(
        (share(&lost) - p / (p + r)).abs() < 0.0075,
        "{}",
        share(&lost)
    );
    let bursts = bursts(&lost);
    let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
    assert!((mean - 1.0 / r).abs() < 0.29, "{mean}");
}

#[test]
fn gilbert_elliott_loses_in_each_state_with_its_probability() {
    let (p, r, loss_good, loss_bad) = (0.05, 0.05, 0.01, 0.4);
    let share = share(&lost(
        Loss::GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        },
        200_000,
    ));
    assert!(
        (share - (loss_good + loss_bad) / 2.0).abs() < 0.011,
        "{share}"
    );
}

#[test]
fn gilbert_elliott_begins_in_the_good_state_and_steps_with_each_packet() {
    let loss = Loss::GilbertElliott {
        p: 1.0,
        r: 1.0,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    assert_eq!(lost(loss, 5), [true, false, true, false, true]);
}

#[test]
fn between_gilbert_elliott_models_the_state_is_kept_and_otherwise_forgotten() {
    let chain = |p, r| Loss::GilbertElliott {
        p,
        r,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let change = |loss| LinkChange {
        loss: Some(loss),
        ..LinkChange::default()
    };
    let mut link = full(DirectionConfig {
        loss: chain(1.0, 0.0),
        ..DirectionConfig::default()
    });
    link.offer(0, 0, 100, 0).unwrap();
    link.change(0, &change(chain(0.0, 0.0))).unwrap();
    link.offer(0, 0, 100, 1).unwrap();
    link.change(0, &change(Loss::None)).unwrap();
    link.change(0, &change(chain(0.0, 0.0))).unwrap();
    link.offer(0, 0, 100, 2).unwrap();
    assert_eq!(arrivals(&mut link), [(0, 2)]);
}

#[test]
fn a_copy_costs_no_time_of_the_serialiser_and_follows_its_original() {
    let mut link = full(DirectionConfig {
        rate: RATE,
        duplication: 1.0,
        ..DirectionConfig::default()
    });
    offer(&mut link, 0, 0, &[BYTES; 2]);
    assert_eq!(
        arrivals(&mut link),
        [(TIME, 0), (TIME, 0), (2 * TIME, 1), (2 * TIME, 1)]
    );
    let counters = link.counters(0);
    assert_eq!((counters.duplicated, counters.delivered_packets), (2, 4));
    assert_eq!(counters.delivered_bytes, 4 * u64::from(BYTES));
}

#[test]
fn a_lost_packet_is_not_duplicated() {
    let loss = Loss::Random { probability: 1.0 };
    let mut link = full(DirectionConfig {
        duplication: 1.0,
        loss,
        ..DirectionConfig::default()
    });
    offer(&mut link, 0, 0, &[BYTES; 2]);
    assert!(times(&mut link).is_empty());
    assert_eq!(link.counters(0).duplicated, 0);
}

#[test]
fn duplication_is_within_the_binomial_bounds() {
    let mut link = full(DirectionConfig {
        duplication: 0.05,
        ..DirectionConfig::default()
    });
    offer(&mut link, 0, 0, &[100; 100_000]);
    assert_eq!(
        times(&mut link).len() as u64,
        100_000 + link.counters(0).duplicated
    );
    assert!(link.counters(0).duplicated.abs_diff(5000) < 345);
}

#[test]
fn what_happens_to_a_packet_for_one_purpose_does_not_depend_on_another() {
    // Packets so far apart that none waits for another; the delay tells jitter from hold.
    let apart = 100_000;
    let fates = |config: DirectionConfig| {
        let mut link = full(DirectionConfig {
            delay_ns: 1000,
            ..config
        });
        for number in 0..2000 {
            link.offer(0, u64::from(number) * apart, 100, number)
                .unwrap();
        }
        let mut fates = vec![Vec::new(); 2000];
        for (at, number) in arrivals(&mut link) {
            fates[number as usize].push(at - u64::from(number) * apart);
        }
        fates
    };
    let loss = Loss::Random { probability: 0.3 };
    let jitter = Jitter::Normal { sd_ns: 200 };
    let reordering = Some(Reordering {
        probability: 0.2,
        extra_ns: 10_000,
    });
    let only_loss = fates(DirectionConfig {
        loss: loss.clone(),
        ..DirectionConfig::default()
    });
    let only_jitter = fates(DirectionConfig {
        jitter: jitter.clone(),
        ..DirectionConfig::default()
    });
    let only_hold = fates(DirectionConfig {
        reordering: reordering.clone(),
        ..DirectionConfig::default()
    });
    let only_copies = fates(DirectionConfig {
        duplication: 0.2,
        ..DirectionConfig::default()
    });
    let all = fates(DirectionConfig {
        loss,
        jitter,
        reordering,
        duplication: 0.2,
        ..DirectionConfig::default()
    });
    for number in 0..2000 {
        let delay = only_jitter[number][0] + only_hold[number][0] - 1000;
        let copies = only_loss[number].len() * only_copies[number].len();
        assert_eq!(all[number], vec![delay; copies]);
    }
}

#[test]
fn the_same_seed_gives_the_same_losses_and_another_gives_others() {
    let survivors = |seed, direction| {
        let loss = Loss::Random { probability: 0.5 };
        let mut link = seeded(
            DirectionConfig {
                loss,
                ..DirectionConfig::default()
            },
            seed,
        );
        offer(&mut link, direction, 0, &[100; 100]);
        due(&mut link, 0)
            .into_iter()
            .map(|delivery| delivery.packet)
            .collect::<Vec<_>>()
    };
    assert_eq!(survivors(1, 0), survivors(1, 0));
    assert_ne!(survivors(1, 0), survivors(2, 0));
    assert_ne!(survivors(1, 0), survivors(1, 1));
}
