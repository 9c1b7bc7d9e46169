//! Entries that were removed, as a reader outside of OpenFlow sees them.

use mptcplab_openflow::Body;
use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod, FlowRemovedReason};
use mptcplab_switch::{Config, EntryEnd};

use crate::frames::arp;
use crate::support::{Bench, SECOND, apply, config, flow, output};

fn entry(priority: u16, idle_timeout: u16) -> Body {
    Body::FlowMod(FlowMod {
        priority,
        idle_timeout,
        ..flow([], apply([output(2)]))
    })
}

fn bench(max_removed: usize) -> Bench {
    Bench::with(Config {
        max_removed,
        ..config()
    })
}

#[test]
fn entries_are_remembered_with_their_counters_and_their_ends() {
    let mut bench = bench(8);
    bench.done(entry(1, 2));
    bench.pass(1, &arp());
    bench.advance(SECOND);
    bench.done(entry(2, 0));
    bench.advance(2 * SECOND);
    bench.done(entry(2, 0));
    let found: Vec<_> = bench.switch.flow_entries().collect();
    let [idle, replaced, there] = &found[..] else {
        panic!("{found:?}");
    };
    let idle_end = EntryEnd::Removed(FlowRemovedReason::IdleTimeout);
    assert_eq!(idle.removed, Some((2 * SECOND, idle_end)));
    assert_eq!((idle.priority, idle.packets, idle.added_ns), (1, 1, 0));
    assert_eq!(replaced.removed, Some((2 * SECOND, EntryEnd::Replaced)));
    assert_eq!((there.removed, there.added_ns), (None, 2 * SECOND));
}

#[test]
fn a_packet_counts_for_the_entry_alone_that_matched_it() {
    let mut bench = bench(8);
    // Packets before each replacement, the last one of which resets the counters.
    for (packets, flags) in [
        (3, FlowFlags::empty()),
        (2, FlowFlags::empty()),
        (1, FlowFlags::RESET_COUNTS),
    ] {
        bench.done(Body::FlowMod(FlowMod {
            flags,
            ..flow([], apply([output(2)]))
        }));
        (0..packets).for_each(|_| drop(bench.pass(1, &arp())));
    }
    let entries = bench.switch.flow_entries();
    let counts: Vec<_> = entries.map(|one| (one.packets, one.bytes)).collect();
    let length = arp().len() as u64;
    assert_eq!(counts, [3, 2, 1].map(|packets| (packets, packets * length)));
}

#[test]
fn packets_from_before_a_reset_of_counters_count_for_their_entry() {
    let mut bench = bench(8);
    let put = |bench: &mut Bench, command, flags| {
        bench.done(Body::FlowMod(FlowMod {
            command,
            flags,
            ..flow([], apply([output(2)]))
        }));
        (0..2).for_each(|_| drop(bench.pass(1, &arp())));
    };
    put(&mut bench, FlowCommand::Add, FlowFlags::empty());
    put(&mut bench, FlowCommand::Add, FlowFlags::empty());
    put(&mut bench, FlowCommand::Modify, FlowFlags::RESET_COUNTS);
    put(
        &mut bench,
        FlowCommand::ModifyStrict,
        FlowFlags::RESET_COUNTS,
    );
    let entries = bench.switch.flow_entries();
    let counts: Vec<_> = entries.map(|one| (one.packets, one.bytes)).collect();
    let length = arp().len() as u64;
    assert_eq!(counts, [2, 6].map(|packets| (packets, packets * length)));
}

#[test]
fn those_that_are_too_many_are_counted_until_all_are_forgotten() {
    let mut bench = bench(1);
    for _ in 0..4 {
        bench.done(entry(1, 0));
    }
    assert_eq!(bench.switch.flow_entries().count(), 2);
    assert_eq!(bench.switch.removed_left_out(), 2);
    bench.switch.forget_removed();
    assert_eq!(bench.switch.flow_entries().count(), 1);
    assert_eq!(bench.switch.removed_left_out(), 0);
}
