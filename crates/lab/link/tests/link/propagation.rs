//! Delay, jitter and order.

use mptcplab_link::{DirectionConfig, Jitter, LinkChange, Reordering};

use crate::support::{MS, arrivals, full, offer, times};

/// Delays of packets offered so far apart that none waits for another.
fn delays(delay_ns: u64, jitter: Jitter) -> Vec<u64> {
    let mut link = full(DirectionConfig {
        delay_ns,
        jitter,
        ..DirectionConfig::default()
    });
    let apart = 1000 * MS;
    for number in 0..20_000 {
        link.offer(0, u64::from(number) * apart, 100, number)
            .unwrap();
    }
    (0..)
        .zip(times(&mut link))
        .map(|(number, at)| at - number * apart)
        .collect()
}

fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

#[test]
fn uniform_jitter_spreads_the_delay_evenly_over_its_range() {
    let delays = delays(10 * MS, Jitter::Uniform { range_ns: 2 * MS });
    let (lowest, highest) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!((8 * MS..8 * MS + 2000).contains(lowest), "{lowest}");
    assert!((12 * MS - 2000..=12 * MS).contains(highest), "{highest}");
    // Five standard errors, 2 ms / √3 / √20 000 each.
    assert!((mean(&delays) - 10e6).abs() < 41e3, "{}", mean(&delays));
    let low_quarter = delays.iter().filter(|&&delay| delay < 9 * MS).count();
    assert!(low_quarter.abs_diff(5000) < 310, "{low_quarter}");
}

#[test]
fn uniform_jitter_includes_both_ends() {
    let mut delays = delays(10, Jitter::Uniform { range_ns: 1 });
    delays.sort_unstable();
    delays.dedup();
    assert_eq!(delays, [9, 10, 11]);
}

#[test]
fn normal_jitter_has_its_standard_deviation() {
    let delays = delays(100 * MS, Jitter::Normal { sd_ns: 5 * MS });
    // Five standard errors: sd / √n, and sd / √2n.
    assert!((mean(&delays) - 100e6).abs() < 177e3, "{}", mean(&delays));
    let squares: f64 = delays
        .iter()
        .map(|&delay| (delay as f64 - 100e6).powi(2))
        .sum();
    let sd = (squares / delays.len() as f64).sqrt();
    assert!((sd - 5e6).abs() < 125e3, "{sd}");
}

#[test]
fn the_delay_never_becomes_negative() {
    for jitter in [
        Jitter::Uniform { range_ns: 3 * MS },
        Jitter::Normal { sd_ns: 3 * MS },
    ] {
        let delays = delays(MS, jitter);
        let at_once = delays.iter().filter(|&&delay| delay == 0).count();
        // A third of the uniform, 37 % of the normal distribution.
        assert!((6300..7800).contains(&at_once), "{at_once}");
    }
}

#[test]
fn a_packet_that_would_overtake_arrives_with_its_predecessor() {
    let jitter = Jitter::Uniform { range_ns: 5 * MS };
    let mut link = full(DirectionConfig {
        delay_ns: 5 * MS,
        jitter,
        ..Default::default()
    });
    offer(&mut link, 0, 0, &[100; 1000]);
    let arrivals = arrivals(&mut link);
    assert!(arrivals.is_sorted());
    assert!(
        arrivals
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .count()
            > 900
    );
    assert!(arrivals.last().unwrap().0 <= 10 * MS);
}

fn holding(probability: f64, extra_ns: u64) -> Option<Reordering> {
    Some(Reordering {
        probability,
        extra_ns,
    })
}

#[test]
fn a_held_packet_arrives_later_by_the_extra_time_and_may_be_overtaken() {
    let mut link = full(DirectionConfig {
        delay_ns: MS,
        reordering: holding(1.0, 5 * MS),
        ..DirectionConfig::default()
    });
    link.offer(0, 0, 100, 0).unwrap();
    let none = LinkChange {
        reordering: holding(0.0, 0),
        ..LinkChange::default()
    };
    link.change(10, &none).unwrap();
    link.offer(0, 10, 100, 1).unwrap();
    link.offer(0, 5 * MS, 100, 2).unwrap();
    link.offer(0, 6 * MS, 100, 3).unwrap();
    // 2 arrives at the same time as 0, which was offered first.
    assert_eq!(
        arrivals(&mut link),
        [(MS + 10, 1), (6 * MS, 0), (6 * MS, 2), (7 * MS, 3)]
    );
    assert_eq!(link.counters(0).reordered, 1);
}

#[test]
fn held_packets_do_not_move_the_others() {
    let jitter = Jitter::Uniform { range_ns: MS };
    let config = |reordering| DirectionConfig {
        delay_ns: 2 * MS,
        jitter: jitter.clone(),
        reordering,
        ..DirectionConfig::default()
    };
    let run = |reordering| {
        let mut link = full(config(reordering));
        for number in 0..1000 {
            link.offer(0, u64::from(number) * 10_000, 100, number)
                .unwrap();
        }
        let mut arrivals = arrivals(&mut link);
        arrivals.sort_unstable_by_key(|&(_, number)| number);
        (arrivals, link.counters(0).reordered)
    };
    let (in_order, none) = run(None);
    let (reordered, held) = run(holding(0.2, 7 * MS));
    assert_eq!(none, 0);
    let later: Vec<u64> = in_order
        .iter()
        .zip(&reordered)
        .map(|(without, with)| with.0 - without.0)
        .collect();
    assert!(later.iter().all(|&extra| extra == 0 || extra == 7 * MS));
    assert_eq!(
        later.iter().filter(|&&extra| extra > 0).count() as u64,
        held
    );
    // Five standard deviations of a binomial.
    assert!(held.abs_diff(200) < 64, "{held}");
}

#[test]
fn a_shorter_hold_may_overtake_a_longer_one() {
    let mut link = full(DirectionConfig {
        reordering: holding(1.0, 5 * MS),
        ..DirectionConfig::default()
    });
    link.offer(0, 0, 100, 0).unwrap();
    link.offer(0, 1, 100, 1).unwrap();
    let shorter = LinkChange {
        reordering: holding(1.0, MS),
        ..LinkChange::default()
    };
    link.change(2, &shorter).unwrap();
    link.offer(0, 2, 100, 2).unwrap();
    assert_eq!(
        arrivals(&mut link),
        [(MS + 2, 2), (5 * MS, 0), (5 * MS + 1, 1)]
    );
}
