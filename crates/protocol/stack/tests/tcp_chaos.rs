//! Any pattern of loss, reordering and duplication: the bytes arrive once and in order, or both
//! ends end with an error.

mod harness;

use bytes::Bytes;
use harness::*;
use mptcplab_stack::congestion::CongestionAlgorithm;
use mptcplab_stack::{CloseReason, ConnectionId, EcnPolicy, Event, SocketOptions};
use proptest::prelude::*;

/// A small generator, so that a case is as short as its seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    drop: u64,
    late: u64,
    twice: u64,
    delay: u64,
    granularity: u64,
    spacing: u64,
    bytes: usize,
    options: SocketOptions,
    strip_sack: bool,
}

fn case() -> impl Strategy<Value = Case> {
    (
        any::<u64>(),
        (0_u64..30, 0_u64..20, 0_u64..20),
        prop_oneof![Just(0), Just(1), Just(10), Just(40)],
        prop_oneof![Just(1), Just(MS), Just(10 * MS)],
        prop_oneof![Just(0_u64), Just(120_000)],
        0_usize..200_000,
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(seed, (drop, late, twice), delay, granularity, spacing, bytes, flags)| Case {
                seed,
                drop,
                late,
                twice,
                delay: delay * MS,
                granularity,
                spacing,
                bytes,
                options: SocketOptions {
                    no_delay: flags.0,
                    pacing: flags.1,
                    ecn: if flags.2 {
                        EcnPolicy::Request
                    } else {
                        EcnPolicy::Agree
                    },
                    congestion_control: CongestionAlgorithm::Reno,
                    ..SocketOptions::default()
                },
                strip_sack: flags.3,
            },
        )
}

fn wire(case: &Case) -> Wire {
    let mut wire = Wire::new(case.delay, case.granularity);
    wire.spacing = case.spacing;
    if case.strip_sack {
        wire.strip = Some(|options| options.sack_permitted = false);
    }
    let mut numbers = Numbers(case.seed);
    let (drop, late, twice, ecn) = (
        case.drop,
        case.late,
        case.twice,
        case.options.ecn == EcnPolicy::Request,
    );
    wire.script(move |_, _, segment| {
        if numbers.chance(drop) {
            Fate::Drop
        } else if numbers.chance(late) {
            Fate::Late(numbers.next() % (60 * MS))
        } else if numbers.chance(twice) {
            Fate::Twice
        } else if ecn && !segment.payload.is_empty() && numbers.chance(10) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    wire
}

/// Sends `data` both ways, closes both ways, and runs until nothing is left to happen.
struct Exchange {
    written: [usize; 2],
    received: [Vec<u8>; 2],
    finished: [bool; 2],
    closed: [Option<CloseReason>; 2],
    ids: [Option<ConnectionId>; 2],
}

fn exchange(wire: &mut Wire, case: &Case, data: &Bytes) -> Exchange {
    wire.hosts[SERVER].listen(PORT, case.options.clone());
    let client = wire.connect(case.options.clone());
    let mut state = Exchange {
        written: [0; 2],
        received: Default::default(),
        finished: [false; 2],
        closed: [None; 2],
        ids: [Some(client), None],
    };
    loop {
        for host in [CLIENT, SERVER] {
            while let Some(event) = wire.events[host].pop_front() {
                match event {
                    Event::Accepted { id, .. } => state.ids[host] = Some(id),
                    Event::Finished { .. } => state.finished[host] = true,
                    Event::Closed { reason, .. } => state.closed[host] = Some(reason),
                    _ => {}
                }
            }
            let Some(id) = state.ids[host] else { continue };
            let left = data.slice(state.written[host]..);
            if !left.is_empty() {
                state.written[host] += wire.write(host, id, left);
            }
            if state.written[host] == data.len() {
                wire.shutdown(host, id);
            }
            let read = wire.read(host, id);
            state.received[host].extend(read);
        }
        if !wire.step(u64::MAX) {
            return state;
        }
        assert!(wire.now < 10_000 * SECOND, "the connection does not end");
        assert!(wire.sent.len() < 200_000, "the connection spins");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_bytes_arrive_once_and_in_order_or_both_ends_see_an_error(case in case()) {
        let data = pattern(case.bytes);
        let mut wire = wire(&case);
        let state = exchange(&mut wire, &case, &data);
        let good = state.closed == [Some(CloseReason::Finished); 2];
        for host in [CLIENT, SERVER] {
            let received = &state.received[host];
            prop_assert!(received.len() <= data.len());
            prop_assert!(received[..] == data[..received.len()]);
            if good {
                prop_assert!(state.finished[host]);
                prop_assert_eq!(received.len(), data.len());
            }
        }
        if !good {
            // The last answer may be lost: then one end has closed in order.
            let accepted = state.ids[SERVER].is_some();
            prop_assert!(state.closed[CLIENT].is_some());
            prop_assert!(state.closed[SERVER].is_some() || !accepted);
        }
        for host in [CLIENT, SERVER] {
            if let Some(id) = state.ids[host] {
                wire.release(host, id);
            }
            prop_assert!(wire.hosts[host].is_idle());
        }
    }
}

#[test]
fn a_wire_that_delivers_most_packets_ends_every_connection_in_order() {
    for seed in 0..200 {
        let case = Case {
            seed,
            drop: 10,
            late: 10,
            twice: 5,
            delay: 10 * MS,
            granularity: 1,
            spacing: 0,
            bytes: 100_000,
            options: SocketOptions::default(),
            strip_sack: false,
        };
        let data = pattern(case.bytes);
        let mut wire = wire(&case);
        let state = exchange(&mut wire, &case, &data);
        assert_eq!(
            state.closed,
            [Some(CloseReason::Finished); 2],
            "seed {seed}"
        );
        assert!(state.received.iter().all(|received| *received == data));
    }
}
