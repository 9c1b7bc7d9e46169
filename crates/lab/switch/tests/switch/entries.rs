//! Modifications of flow tables.

use mptcplab_openflow::error::FlowModFailed;
use mptcplab_openflow::flow::{ALL_TABLES, FlowCommand, FlowFlags, FlowMod, FlowRemovedReason};
use mptcplab_openflow::multipart::{FlowStats, FlowStatsRequest, Reply, Request};
use mptcplab_openflow::{Action, Body, Field, Instruction, Match, Oxm, group, port};
use mptcplab_switch::{Config, DropReason};

use crate::frames::{arp, ipv4, tcp};
use crate::support::{Bench, apply, config, ether_type, flow, ip_proto, messages, output};

/// All entries.
pub(crate) fn all() -> FlowStatsRequest {
    FlowStatsRequest {
        table: ALL_TABLES,
        out_port: port::number::ANY,
        out_group: group::number::ANY,
        cookie: 0,
        cookie_mask: 0,
        fields: Match::default(),
    }
}

fn entries(bench: &mut Bench) -> Vec<FlowStats> {
    match bench.reply(Request::Flow(all())) {
        Reply::Flow(entries) => entries,
        other => panic!("{other:?}"),
    }
}

fn priorities(bench: &mut Bench) -> Vec<u16> {
    let mut found: Vec<u16> = entries(bench).iter().map(|one| one.priority).collect();
    found.sort_unstable();
    found
}

fn with(command: FlowCommand, flow_mod: &FlowMod) -> Body {
    Body::FlowMod(FlowMod {
        command,
        ..flow_mod.clone()
    })
}

/// Entries of priorities 1 to 4, each more exact than the one before; the cookie is the priority.
fn four(bench: &mut Bench) -> Vec<FlowMod> {
    let fields = [
        ether_type(0x0800),
        ip_proto(6),
        Oxm::masked(Field::Ipv4Src, 0x0a00_0000_u32, 0xff00_0000_u32),
        Oxm::exact(Field::TcpDst, 80_u8),
    ];
    let entry = |priority: u16| FlowMod {
        priority,
        cookie: priority.into(),
        ..flow(
            fields[..usize::from(priority)].to_vec(),
            apply([output(u32::from(priority % 3) + 2)]),
        )
    };
    let entries: Vec<FlowMod> = (1..=4).map(entry).collect();
    for entry in &entries {
        bench.done(Body::FlowMod(entry.clone()));
    }
    entries
}

#[test]
fn the_highest_priority_decides() {
    let mut bench = Bench::new();
    four(&mut bench);
    assert_eq!(bench.pass(1, &ipv4(6, &tcp()))[0].0, 3);
    assert_eq!(bench.pass(1, &ipv4(17, &[0; 8]))[0].0, 3);
    assert_eq!(bench.pass(1, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::TableMiss), 1);
}

#[test]
fn the_same_match_and_priority_replace_an_entry_whatever_the_order_of_fields() {
    let mut bench = Bench::new();
    let fields = [
        Oxm::exact(Field::EthDst, 0x0200_0000_0002_u64),
        ether_type(0x0806),
    ];
    bench.done(Body::FlowMod(flow(fields, apply([output(2)]))));
    bench.pass(1, &arp());
    let all_bits = Oxm::masked(Field::EthDst, 0x0200_0000_0002_u64, 0xffff_ffff_ffff_u64);
    let mut again = flow([fields[1], all_bits], apply([output(3)]));
    bench.now_ns = 5;
    bench.done(Body::FlowMod(again.clone()));
    assert_eq!(bench.pass(1, &arp())[0].0, 3);
    let found = entries(&mut bench);
    // The counters stay, but the entry is a new one.
    assert!(found.len() == 1 && found[0].packet_count == 2);
    assert_eq!(found[0].duration.nanoseconds, 0);
    again.flags = FlowFlags::RESET_COUNTS;
    bench.done(Body::FlowMod(again));
    assert_eq!(entries(&mut bench)[0].packet_count, 0);
}

#[test]
fn entries_that_overlap_are_refused_where_that_is_asked_for() {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([ether_type(0x0800)], vec![])));
    let check = |fields: Vec<Oxm>| FlowMod {
        flags: FlowFlags::CHECK_OVERLAP,
        ..flow(fields, vec![])
    };
    let overlapping = check(vec![Oxm::exact(Field::EthSrc, 5_u8)]);
    assert_eq!(
        bench.refused(Body::FlowMod(overlapping.clone())),
        FlowModFailed::Overlap.into()
    );
    bench.done(Body::FlowMod(check(vec![ether_type(0x0806)])));
    bench.done(Body::FlowMod(FlowMod {
        priority: 7,
        ..overlapping
    }));
    assert_eq!(priorities(&mut bench), [7, 100, 100]);
}

#[test]
fn modifications_change_instructions_and_nothing_else() {
    let mut bench = Bench::new();
    let four = four(&mut bench);
    bench.pass(1, &ipv4(6, &tcp()));
    let mut change = FlowMod {
        cookie: 9,
        instructions: apply([output(4)]),
        ..four[1].clone()
    };
    // Those that the match covers: the last three.
    bench.done(with(FlowCommand::Modify, &change));
    let changed: Vec<_> = entries(&mut bench)
        .into_iter()
        .filter(|one| one.instructions == change.instructions)
        .collect();
    assert_eq!(changed.len(), 3);
    assert!(
        changed
            .iter()
            .all(|one| one.cookie == u64::from(one.priority))
    );
    assert_eq!(changed.iter().map(|one| one.packet_count).sum::<u64>(), 1);
    // Only the one of the same match and priority.
    change.instructions = apply([output(2)]);
    change.flags = FlowFlags::RESET_COUNTS;
    bench.done(with(FlowCommand::ModifyStrict, &change));
    let found = entries(&mut bench);
    let changed = found
        .iter()
        .filter(|one| one.instructions == change.instructions);
    assert_eq!(changed.map(|one| one.priority).collect::<Vec<_>>(), [2]);
    // Nothing is added where nothing is found.
    change.priority = 1000;
    bench.done(with(FlowCommand::ModifyStrict, &change));
    assert_eq!(priorities(&mut bench), [1, 2, 3, 4]);
}

#[test]
fn deletions_take_what_the_match_covers_or_exactly_one_entry() {
    let mut bench = Bench::new();
    let four = four(&mut bench);
    bench.done(with(FlowCommand::DeleteStrict, &four[1]));
    assert_eq!(priorities(&mut bench), [1, 3, 4]);
    // A wider mask covers a narrower one, but not the other way around.
    let narrower = flow(
        [
            ether_type(0x0800),
            Oxm::masked(Field::Ipv4Src, 0x0a00_0000_u32, 0xffff_0000_u32),
        ],
        vec![],
    );
    bench.done(with(FlowCommand::Delete, &narrower));
    assert_eq!(priorities(&mut bench), [1, 3, 4]);
    let wider = flow(
        [
            ether_type(0x0800),
            Oxm::masked(Field::Ipv4Src, 0x0800_0000_u32, 0xf800_0000_u32),
        ],
        vec![],
    );
    bench.done(with(FlowCommand::Delete, &wider));
    assert_eq!(priorities(&mut bench), [1]);
    bench.done(with(FlowCommand::Delete, &flow([], vec![])));
    assert_eq!(priorities(&mut bench), []);
    assert_eq!(bench.pass(1, &ipv4(6, &tcp())), []);
}

#[test]
fn deletions_are_limited_by_cookie_port_group_and_table() {
    let mut bench = Bench::new();
    four(&mut bench);
    let by = |change: fn(&mut FlowMod)| {
        let mut request = flow([], vec![]);
        change(&mut request);
        with(FlowCommand::Delete, &request)
    };
    bench.done(by(|one| (one.cookie, one.cookie_mask) = (0b100, 0b100)));
    assert_eq!(priorities(&mut bench), [1, 2, 3]);
    bench.done(by(|one| one.out_port = 3));
    assert_eq!(priorities(&mut bench), [2, 3]);
    bench.done(by(|one| one.out_group = 3));
    bench.done(by(|one| one.table = 1));
    assert_eq!(priorities(&mut bench), [2, 3]);
    bench.done(by(|one| one.table = ALL_TABLES));
    assert_eq!(priorities(&mut bench), []);
}

#[test]
fn a_removal_is_told_where_the_entry_says_so() {
    let mut bench = Bench::new();
    let mut entry = flow([ether_type(0x0806)], apply([output(2)]));
    entry.flags = FlowFlags::SEND_FLOW_REM;
    entry.cookie = 42;
    bench.done(Body::FlowMod(entry.clone()));
    bench.pass(1, &arp());
    bench.now_ns = 1_500_000_000;
    let told = messages(&bench.say(with(FlowCommand::Delete, &entry)));
    let [Body::FlowRemoved(removed)] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(removed.reason, FlowRemovedReason::Delete);
    assert_eq!(
        (removed.cookie, removed.priority, removed.table),
        (42, 100, 0)
    );
    assert_eq!(
        (removed.packet_count, removed.byte_count),
        (1, arp().len() as u64)
    );
    assert_eq!(removed.duration.as_nanos(), 1_500_000_000);
    assert_eq!(removed.fields, entry.fields);
}

#[test]
fn counters_are_not_kept_where_the_entry_says_so() {
    let mut bench = Bench::new();
    let mut entry = flow([], apply([output(2)]));
    entry.flags = FlowFlags::NO_PKT_COUNTS;
    bench.done(Body::FlowMod(entry.clone()));
    bench.pass(1, &arp());
    let found = &entries(&mut bench)[0];
    assert_eq!(
        (found.packet_count, found.byte_count),
        (0, arp().len() as u64)
    );
}

#[test]
fn a_table_that_is_full_takes_only_what_replaces() {
    let mut bench = Bench::with(Config {
        max_entries: 1,
        ..config()
    });
    let entry = flow([], apply([output(2)]));
    bench.done(Body::FlowMod(entry.clone()));
    bench.done(Body::FlowMod(entry.clone()));
    let other = FlowMod {
        priority: 1,
        ..entry
    };
    assert_eq!(
        bench.refused(Body::FlowMod(other)),
        FlowModFailed::TableFull.into()
    );
}

#[test]
fn a_write_of_actions_counts_as_an_output_for_filters() {
    let mut bench = Bench::new();
    let write = Instruction::WriteActions(vec![Action::SetNwTtl(3), output(4)]);
    bench.done(Body::FlowMod(flow([], vec![write])));
    let wanted = FlowStatsRequest {
        out_port: 4,
        ..all()
    };
    let Reply::Flow(found) = bench.reply(Request::Flow(wanted)) else {
        panic!("no entries");
    };
    assert_eq!(found.len(), 1);
}
