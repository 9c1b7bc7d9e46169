//! CoDel against a calculation by hand and against the RFC's pseudocode.

use std::collections::VecDeque;

use mptcplab_link::{DirectionConfig, Discipline, Dropped, Link, LinkChange, QueueConfig, Rate};
use proptest::prelude::*;

use crate::support::{MS, arrivals, full, offer};

/// 1250 bytes at this rate take 1 ms.
const SLOW: Rate = Rate::Fixed {
    bits_per_second: 10_000_000,
};

fn codel(limit_packets: Option<u32>) -> Link<u32> {
    let discipline = Discipline::CoDel {
        target_ns: 5 * MS,
        interval_ns: 100 * MS,
    };
    let queue = QueueConfig {
        limit_packets,
        limit_bytes: None,
        discipline,
    };
    full(DirectionConfig {
        rate: SLOW,
        queue,
        ..DirectionConfig::default()
    })
}

/// The packets below `count` that are not among the arrivals.
fn missing(link: &mut Link<u32>, count: u32) -> Vec<u32> {
    let arrived: Vec<u32> = arrivals(link)
        .into_iter()
        .map(|(_, packet)| packet)
        .collect();
    (0..count)
        .filter(|packet| !arrived.contains(packet))
        .collect()
}

#[test]
fn a_standing_queue_is_dropped_from_at_the_times_of_the_control_law() {
    // A thousand packets at 0; a packet starts each millisecond. The one that starts at 5 ms is the
    // first to have waited for the target, so dropping begins at 105 ms, and goes on at 205, 205 +
    // 100/√2 = 275.71, + 100/√3 = 333.45, + 100/√4 = 383.45, + 100/√5 = 428.17, each time with the
    // first packet to start from then on. Without drops, packet n starts at n ms; each drop before
    // moves it up by one.
    let mut link = codel(None);
    offer(&mut link, 0, 0, &[1250; 450]);
    assert_eq!(
        missing(&mut link, 434 + 1),
        [105, 205 + 1, 276 + 2, 334 + 3, 384 + 4, 429 + 5]
    );
}

#[test]
fn dropping_ends_when_one_packet_fits_the_rest_of_the_queue() {
    let mut link = codel(None);
    offer(&mut link, 0, 0, &[1250; 108]);
    // At 105 ms 105 is dropped and 106 sent; 107 is the last and is sent, although it waited.
    assert_eq!(missing(&mut link, 108), [105]);
    assert_eq!(link.counters(0).dropped_aqm, 1);
}

#[test]
fn a_queue_below_the_target_is_left_alone() {
    let mut link = codel(None);
    // Five packets each 5 ms: none waits for 5 ms.
    for number in 0..1000 {
        link.offer(0, u64::from(number / 5) * 5 * MS, 1250, number)
            .unwrap();
    }
    assert!(missing(&mut link, 1000).is_empty());
}

#[test]
fn the_limit_of_the_queue_still_holds() {
    let mut link = codel(Some(10));
    offer(&mut link, 0, 0, &[1250; 11]);
    assert_eq!(link.offer(0, 0, 1250, 11), Err(Dropped::QueueFull));
}

#[test]
fn going_down_forgets_the_state() {
    let run = |interrupt: bool| {
        let mut link = codel(None);
        if interrupt {
            offer(&mut link, 0, 0, &[1250; 1000]);
            let up = |up| LinkChange {
                up: Some(up),
                ..LinkChange::default()
            };
            link.change(400 * MS, &up(false)).unwrap();
            link.change(400 * MS, &up(true)).unwrap();
        }
        let already = link.counters(0).dropped_aqm;
        offer(&mut link, 0, 400 * MS, &[1250; 450]);
        arrivals(&mut link);
        link.counters(0).dropped_aqm - already
    };
    assert_eq!(run(true), run(false));
}

/// The pseudocode of RFC 8289, section 5, with its names, on a queue of (tstamp, size, number).
#[derive(Default)]
struct CodelQueue {
    q: VecDeque<(i128, u32, u32)>,
    target: i128,
    interval: i128,
    maxpacket: u32,
    first_above_time: i128,
    drop_next: i128,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl CodelQueue {
    fn enque(&mut self, p: (i128, u32, u32)) {
        self.maxpacket = self.maxpacket.max(p.1);
        self.q.push_back(p);
    }

    fn control_law(&self, t: i128, count: u32) -> i128 {
        t + (self.interval as f64 / f64::from(count).sqrt()) as i128
    }

    fn dodeque(&mut self, now: i128) -> (Option<(i128, u32, u32)>, bool) {
        let mut ok_to_drop = false;
        let p = self.q.pop_front();
        match p {
            None => self.first_above_time = 0,
            Some((tstamp, ..)) => {
                let sojourn_time = now - tstamp;
                let bytes: u32 = self.q.iter().map(|p| p.1).sum();
                if sojourn_time < self.target || bytes <= self.maxpacket {
                    self.first_above_time = 0;
                } else if self.first_above_time == 0 {
                    self.first_above_time = now + self.interval;
                } else if now >= self.first_above_time {
                    ok_to_drop = true;
                }
            }
        }
        (p, ok_to_drop)
    }

    fn deque(&mut self, now: i128) -> Option<(i128, u32, u32)> {
        let mut r = self.dodeque(now);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                r = self.dodeque(now);
                if !r.1 {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                }
            }
        } else if r.1 {
            r = self.dodeque(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16 * self.interval {
                self.count = delta;
            }
            self.drop_next = self.control_law(now, self.count);
            self.lastcount = self.count;
        }
        r.0
    }
}

/// Departures of (arrival, size) packets through the RFC's queue and a server of 1 µs a byte.
fn by_the_pseudocode(target: u64, interval: u64, packets: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut queue = CodelQueue {
        target: i128::from(target),
        interval: i128::from(interval),
        ..CodelQueue::default()
    };
    let mut departures = Vec::new();
    let mut free_at = 0;
    let mut serve_until = |queue: &mut CodelQueue, until: i128| {
        while let Some(&(tstamp, ..)) = queue.q.front() {
            let start = free_at.max(tstamp);
            if start > until {
                break;
            }
            if let Some((_, size, number)) = queue.deque(start) {
                free_at = start + i128::from(size) * 1000;
                departures.push((free_at as u64, number));
            }
        }
    };
    for (number, &(arrival, size)) in (0..).zip(packets) {
        serve_until(&mut queue, i128::from(arrival));
        queue.enque((i128::from(arrival), size, number));
        serve_until(&mut queue, i128::from(arrival));
    }
    serve_until(&mut queue, i128::MAX);
    departures
}

proptest! {
    #[test]
    fn any_traffic_is_treated_as_by_the_pseudocode(
        target in 0..10 * MS,
        interval in 1..100 * MS,
        bursts in prop::collection::vec((0..200 * MS, 1_usize..150, 40_u32..1500), 1..12),
    ) {
        let mut now = 0;
        let mut packets = Vec::new();
        for (gap, count, size) in bursts {
            now += gap;
            packets.extend((0..count).map(|index| (now + index as u64 * 300_000, size)));
            now += count as u64 * 300_000;
        }
        let discipline = Discipline::CoDel { target_ns: target, interval_ns: interval };
        let queue = QueueConfig { discipline, ..QueueConfig::default() };
        let rate = Rate::Fixed { bits_per_second: 8_000_000 };
        let mut link = full(DirectionConfig { rate, queue, ..DirectionConfig::default() });
        for (number, &(arrival, size)) in (0..).zip(&packets) {
            link.offer(0, arrival, size, number).unwrap();
        }
        prop_assert_eq!(arrivals(&mut link), by_the_pseudocode(target, interval, &packets));
    }
}
