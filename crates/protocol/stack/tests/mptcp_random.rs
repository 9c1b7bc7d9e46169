//! Whatever the paths do, the bytes arrive once and in order, or both ends see that they did not.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::congestion::CongestionAlgorithm;
use mptcplab_stack::scheduler::SchedulerKind;
use mptcplab_stack::{Event, Keepalive, MptcpConfig, SocketOptions};
use mptcplab_wire::Segment;
use proptest::prelude::*;

/// A generator that a middlebox can own: xorshift64* (Vigna 2016).
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// A middlebox in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Box {
    None,
    /// Removes the options of MPTCP from SYNs.
    StripSyn,
    /// From SYN/ACKs.
    StripSynAck,
    /// From segments that are no SYNs.
    StripOthers,
    /// From segments with payload.
    StripData,
    /// From segments without.
    StripAcks,
    /// Cuts segments in two, with the options on both.
    Split,
    /// Changes payload now and then.
    Change,
}

fn pass(kind: Box, random: &mut Random, mut segment: Segment) -> Vec<Segment> {
    let syn = segment.flags.syn;
    let data = !segment.payload.is_empty();
    let strip = match kind {
        Box::StripSyn => syn && !segment.flags.ack,
        Box::StripSynAck => syn && segment.flags.ack,
        Box::StripOthers => !syn,
        Box::StripData => data,
        Box::StripAcks => !syn && !data,
        _ => false,
    };
    if strip {
        segment.options.mptcp.clear();
    }
    match kind {
        Box::Split if segment.payload.len() > 1 => {
            let mut first = segment.clone();
            let middle = segment.payload.len() / 2;
            let rest = first.payload.split_off(middle);
            first.flags.fin = false;
            segment.payload = rest;
            segment.sequence = segment.sequence.wrapping_add(middle as u32);
            vec![first, segment]
        }
        Box::Change if data && random.chance(3) => {
            let mut payload = segment.payload.to_vec();
            payload[0] ^= 1;
            segment.payload = payload.into();
            vec![segment]
        }
        _ => vec![segment],
    }
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    /// Delay in ms, rate in Mbit/s.
    paths: Vec<(u64, u64)>,
    loss_percent: u64,
    late_percent: u64,
    twice_percent: u64,
    in_the_way: Box,
    /// Segments that pass before it begins to act.
    passes_first: u64,
    checksum: bool,
    /// The client, the server send data numbers of 4 bytes.
    short_numbers: [bool; 2],
    scheduler: SchedulerKind,
    congestion: CongestionAlgorithm,
    opportunistic: bool,
    up: usize,
    down: usize,
    /// A path that dies, and when it lives again.
    death: Option<(u64, u64, usize)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let paths = proptest::collection::vec((1_u64..60, 1_u64..50), 1..4);
    let network = (0_u64..4, 0_u64..10, 0_u64..4);
    let in_the_way = prop_oneof![
        8 => Just(Box::None),
        1 => Just(Box::StripSyn),
        1 => Just(Box::StripSynAck),
        1 => Just(Box::StripOthers),
        1 => Just(Box::StripData),
        1 => Just(Box::StripAcks),
        2 => Just(Box::Split),
        2 => Just(Box::Change),
    ];
    let scheduler = prop_oneof![
        Just(SchedulerKind::Default),
        Just(SchedulerKind::LowestRtt),
        Just(SchedulerKind::RoundRobin {
            segments: 2,
            window_limited: false
        }),
        Just(SchedulerKind::Redundant),
        Just(SchedulerKind::Blest),
        Just(SchedulerKind::Ecf),
    ];
    let congestion = prop_oneof![
        Just(CongestionAlgorithm::Reno),
        Just(CongestionAlgorithm::Cubic),
        Just(CongestionAlgorithm::Lia),
        Just(CongestionAlgorithm::Olia),
        Just(CongestionAlgorithm::Balia),
        Just(CongestionAlgorithm::WVegas),
    ];
    let death = proptest::option::of((0_u64..2000, 1_u64..4000, 0_usize..4));
    let passes_first = prop_oneof![Just(0_u64), 1_u64..20, 20_u64..500];
    (
        (any::<u64>(), paths, network, (in_the_way, passes_first)),
        (
            (any::<bool>(), any::<[bool; 2]>()),
            scheduler,
            congestion,
            any::<bool>(),
        ),
        (0_usize..400_000, 0_usize..400_000, death),
    )
        .prop_map(
            |(
                (
                    seed,
                    paths,
                    (loss_percent, late_percent, twice_percent),
                    (in_the_way, passes_first),
                ),
                ((checksum, short_numbers), scheduler, congestion, opportunistic),
                (up, down, death),
            )| Case {
                seed: seed | 1,
                paths,
                loss_percent,
                late_percent,
                twice_percent,
                in_the_way,
                passes_first,
                checksum,
                short_numbers,
                scheduler,
                congestion,
                opportunistic,
                up,
                down,
                death,
            },
        )
}

fn world(case: &Case) -> World {
    let paths = case
        .paths
        .iter()
        .map(|(delay, rate)| Path::new(delay * MS, rate * 1_000_000))
        .collect();
    let mut config = generous();
    config.checksum = case.checksum;
    config.scheduler = case.scheduler;
    config.opportunistic_retransmission = case.opportunistic;
    config.penalisation = case.opportunistic;
    let configs = case.short_numbers.map(|short_numbers| MptcpConfig {
        short_numbers,
        ..config.clone()
    });
    let mut world = World::with_configs(paths, configs);
    world.keep_sent = false;
    let (case, mut random) = (case.clone(), Random(case.seed));
    let mut passed = 0;
    world.middlebox = std::boxed::Box::new(move |_, segment| {
        let mut out = Vec::new();
        let in_the_way = match passed < case.passes_first {
            true => Box::None,
            false => case.in_the_way,
        };
        passed += 1;
        for segment in pass(in_the_way, &mut random, segment) {
            if random.chance(case.loss_percent) {
                continue;
            }
            let late = u64::from(random.chance(case.late_percent)) * (random.next() % (30 * MS));
            if random.chance(case.twice_percent) {
                out.push((late + MS, segment.clone()));
            }
            out.push((late, segment));
        }
        out
    });
    world
}

/// Sends both ways at once, closes, and checks both ends.
fn run(case: &Case) {
    let mut world = world(case);
    let options = SocketOptions {
        congestion_control: case.congestion,
        // An end that only receives would never hear that the other end has given up.
        keepalive: Some(Keepalive {
            idle_ns: 60 * SECOND,
            interval_ns: 10 * SECOND,
            probes: 6,
        }),
        ..mptcp()
    };
    let client = world.open(options);
    let data = [pattern(case.up), pattern(case.down)];
    let mut ids = [Some(client), None];
    let mut written = [0, 0];
    let mut shut = [false, false];
    let mut received = [Vec::new(), Vec::new()];
    let mut gone_error = [false, false];
    // An end that hears of no acknowledgement gives up after 15 minutes of it.
    let end = 3000 * SECOND;
    let mut steps = 0_u64;
    loop {
        ids[SERVER] = ids[SERVER].or_else(|| world.accepted());
        for host in [CLIENT, SERVER] {
            let Some(id) = ids[host] else { continue };
            let connected = host == SERVER
                || world.count(CLIENT, |event| matches!(event, Event::Connected { .. })) > 0;
            if connected && written[host] < data[host].len() {
                written[host] += world.write(host, id, data[host].slice(written[host]..));
            }
            if connected && written[host] == data[host].len() && !shut[host] {
                shut[host] = true;
                world.shutdown(host, id);
            }
            received[host].extend(world.read(host, id));
        }
        if let Some((at, back, path)) = case.death {
            let path = path % world.paths.len();
            world.paths[path].dead = (at * MS..(at + back) * MS).contains(&world.now);
        }
        steps += 1;
        assert!(steps < 2_000_000, "the world spins");
        let closed = [CLIENT, SERVER].map(|host| {
            world.events[host]
                .iter()
                .any(|event| matches!(event, Event::Closed { .. }))
        });
        if (closed[CLIENT] && (closed[SERVER] || ids[SERVER].is_none())) || !world.step(end) {
            break;
        }
    }
    for host in [CLIENT, SERVER] {
        if let Some(id) = ids[host] {
            received[host].extend(world.read(host, id));
        }
        gone_error[host] = world.events[host].iter().any(|event| {
            matches!(event, Event::Closed { reason, .. }
                if *reason != mptcplab_stack::CloseReason::Finished)
        });
    }
    // Boxes that only remove options from the start on, or keep all of them, do no harm.
    let harmless = match case.in_the_way {
        Box::None | Box::Split | Box::StripSyn | Box::StripSynAck => true,
        Box::StripOthers => case.passes_first == 0,
        Box::StripData | Box::StripAcks | Box::Change => false,
    };
    let whole = received[SERVER].len() == case.up && received[CLIENT].len() == case.down;
    assert!(
        whole || (!harmless && gone_error[CLIENT] && (gone_error[SERVER] || ids[SERVER].is_none())),
        "{} of {} up, {} of {} down, errors {gone_error:?}, events {:?}",
        received[SERVER].len(),
        case.up,
        received[CLIENT].len(),
        case.down,
        world.events.clone().map(|mut events| {
            events
                .retain(|event| !matches!(event, Event::Readable { .. } | Event::Writable { .. }));
            events
        }),
    );
    // Only where nothing checks the payload a changed byte may come through.
    let changed = case.in_the_way == Box::Change;
    if !changed {
        assert!(
            data[CLIENT].starts_with(&received[SERVER]),
            "other bytes came up"
        );
        assert!(
            data[SERVER].starts_with(&received[CLIENT]),
            "other bytes came down"
        );
    }
    for host in [CLIENT, SERVER] {
        if let Some(id) = ids[host] {
            world.hosts[host].release(world.now, id);
        }
    }
    world.flush();
    world.run_for(1500 * SECOND);
    for host in [CLIENT, SERVER] {
        assert!(
            world.hosts[host].is_idle(),
            "host {host} is left with something"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases_or(64)))]
    #[test]
    fn the_bytes_arrive_once_and_in_order_or_both_ends_see_an_error(case in cases()) {
        run(&case);
    }
}

/// The first data overtakes the third ACK, so that only the client hears nothing of options: it
/// falls back, and the server does not.
#[test]
fn acknowledgements_without_options_truncate_nothing() {
    run(&Case {
        seed: 9_292_924_123_907_905_075,
        paths: vec![(11, 8)],
        loss_percent: 0,
        late_percent: 6,
        twice_percent: 0,
        in_the_way: Box::StripAcks,
        passes_first: 0,
        checksum: false,
        short_numbers: [false; 2],
        scheduler: SchedulerKind::LowestRtt,
        congestion: CongestionAlgorithm::Reno,
        opportunistic: false,
        up: 11_361,
        down: 14_201,
        death: None,
    });
}
