//! Each type of group.

use std::collections::BTreeMap;

use mptcplab_openflow::error::{BadAction, GroupModFailed};
use mptcplab_openflow::flow::{FlowFlags, FlowMod, FlowRemovedReason};
use mptcplab_openflow::group::{self, Bucket, GroupCommand, GroupType};
use mptcplab_openflow::multipart::{Reply, Request};
use mptcplab_openflow::{Action, Body, Field, Oxm};
use mptcplab_switch::DropReason;

use crate::frames::{arp, ipv4, udp};
use crate::support::{Bench, apply, bucket, flow, group_mod, messages, output};

fn add(group_type: GroupType, group: u32, buckets: Vec<Bucket>) -> Body {
    group_mod(GroupCommand::Add, group_type, group, buckets)
}

/// A switch that sends all packets to group 1.
fn with_group(group_type: GroupType, buckets: Vec<Bucket>) -> Bench {
    let mut bench = Bench::new();
    bench.done(add(group_type, 1, buckets));
    bench.done(Body::FlowMod(flow([], apply([Action::Group(1)]))));
    bench
}

fn watching(port: u32) -> Bucket {
    Bucket {
        watch_port: port,
        ..bucket([output(port)])
    }
}

fn ports(sent: Vec<(u32, Vec<u8>)>) -> Vec<u32> {
    sent.into_iter().map(|(port, _)| port).collect()
}

#[test]
fn all_buckets_get_a_copy_each_changed_by_its_own_actions() {
    let set = Action::SetField(Oxm::exact(Field::EthDst, 7_u8));
    // The actions of a bucket are a set: the output comes last.
    let buckets = vec![
        bucket([output(2), set]),
        bucket([output(3)]),
        bucket([output(1)]),
    ];
    let mut bench = with_group(GroupType::All, buckets);
    let changed = [&[0, 0, 0, 0, 0, 7], &arp()[6..]].concat();
    assert_eq!(bench.pass(1, &arp()), [(2, changed), (3, arp())]);
    assert_eq!(bench.account().blocked.of(DropReason::IngressPort), 1);
}

#[test]
fn the_packet_goes_on_unchanged_behind_a_group() {
    let mut bench = Bench::new();
    let set = Action::SetField(Oxm::exact(Field::EthDst, 7_u8));
    bench.done(add(GroupType::Indirect, 1, vec![bucket([set, output(2)])]));
    bench.done(Body::FlowMod(flow(
        [],
        apply([Action::Group(1), output(3)]),
    )));
    assert_eq!(bench.pass(1, &arp())[1], (3, arp()));
}

#[test]
fn packets_of_a_flow_take_one_bucket_and_flows_take_buckets_by_weight() {
    let weighted = |port, weight| Bucket {
        weight,
        ..bucket([output(port)])
    };
    let buckets = vec![weighted(2, 1), weighted(3, 3), weighted(4, 0)];
    let mut bench = with_group(GroupType::Select, buckets);
    let mut counts = BTreeMap::new();
    for source in 0..4000_u16 {
        let mut datagram = udp();
        datagram[..2].copy_from_slice(&source.to_be_bytes());
        let frame = ipv4(17, &datagram);
        let port = ports(bench.pass(1, &frame))[0];
        assert_eq!(ports(bench.pass(1, &frame)), [port]);
        *counts.entry(port).or_insert(0) += 1;
    }
    // A share of a quarter has a standard deviation of 27.
    assert!((counts[&2] - 1000_i32).abs() < 135, "{counts:?}");
    assert_eq!(counts[&2] + counts[&3], 4000);
}

#[test]
fn a_selected_bucket_that_watches_a_dead_port_is_passed_over() {
    let mut bench = with_group(GroupType::Select, vec![watching(2), watching(3)]);
    bench.switch.set_link(2, false, &mut Vec::new());
    for last in 0..20 {
        let mut frame = arp();
        frame[11] = last;
        assert_eq!(ports(bench.pass(1, &frame)), [3]);
    }
    bench.switch.set_link(3, false, &mut Vec::new());
    assert_eq!(bench.pass(1, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::NoLiveBucket), 1);
}

#[test]
fn fast_failover_takes_the_first_bucket_that_is_live() {
    let mut bench = with_group(GroupType::FastFailover, vec![watching(2), watching(3)]);
    assert_eq!(ports(bench.pass(1, &arp())), [2]);
    bench.switch.set_link(2, false, &mut Vec::new());
    assert_eq!(ports(bench.pass(1, &arp())), [3]);
    bench.switch.set_link(2, true, &mut Vec::new());
    assert_eq!(ports(bench.pass(1, &arp())), [2]);
    bench.switch.remove_port(2, &mut Vec::new());
    assert_eq!(ports(bench.pass(1, &arp())), [3]);
}

#[test]
fn a_bucket_watches_a_group_by_the_buckets_of_it() {
    let mut bench = Bench::new();
    bench.done(add(GroupType::FastFailover, 2, vec![watching(2)]));
    let by_group = Bucket {
        watch_group: 2,
        ..bucket([Action::Group(2)])
    };
    bench.done(add(GroupType::FastFailover, 1, vec![by_group, watching(3)]));
    bench.done(Body::FlowMod(flow([], apply([Action::Group(1)]))));
    assert_eq!(ports(bench.pass(1, &arp())), [2]);
    bench.switch.set_link(2, false, &mut Vec::new());
    assert_eq!(ports(bench.pass(1, &arp())), [3]);
}

#[test]
fn loops_are_refused_also_over_others_and_by_watching() {
    let mut bench = Bench::new();
    let to = |group| vec![bucket([Action::Group(group)])];
    let itself = add(GroupType::Indirect, 1, to(1));
    assert_eq!(bench.refused(itself), GroupModFailed::Loop.into());
    bench.done(add(GroupType::Indirect, 1, vec![bucket([output(2)])]));
    bench.done(add(GroupType::Indirect, 2, to(1)));
    bench.done(add(GroupType::Indirect, 3, to(2)));
    let modify = group_mod(GroupCommand::Modify, GroupType::Indirect, 1, to(3));
    assert_eq!(bench.refused(modify), GroupModFailed::Loop.into());
    let watching = Bucket {
        watch_group: 3,
        ..bucket([output(2)])
    };
    let modify = group_mod(
        GroupCommand::Modify,
        GroupType::FastFailover,
        1,
        vec![watching],
    );
    assert_eq!(bench.refused(modify), GroupModFailed::Loop.into());
}

#[test]
fn groups_that_are_wrong_are_refused_by_their_codes() {
    let mut bench = Bench::new();
    let one = || vec![bucket([output(2)])];
    let indirect = |group, buckets| add(GroupType::Indirect, group, buckets);
    bench.done(indirect(1, one()));
    let watch = |watch_port, watch_group| {
        vec![Bucket {
            watch_port,
            watch_group,
            ..bucket([])
        }]
    };
    let any = group::number::ANY;
    let cases = [
        (indirect(1, one()), GroupModFailed::GroupExists.into()),
        (
            indirect(group::number::ALL, one()),
            GroupModFailed::InvalidGroup.into(),
        ),
        (indirect(2, vec![]), GroupModFailed::InvalidGroup.into()),
        (
            group_mod(GroupCommand::Modify, GroupType::All, 9, one()),
            GroupModFailed::UnknownGroup.into(),
        ),
        (
            add(GroupType::FastFailover, 2, watch(any, any)),
            GroupModFailed::BadWatch.into(),
        ),
        (
            add(GroupType::FastFailover, 2, watch(99, any)),
            GroupModFailed::BadWatch.into(),
        ),
        (
            add(GroupType::FastFailover, 2, watch(any, 99)),
            GroupModFailed::BadWatch.into(),
        ),
        (
            indirect(2, vec![bucket([Action::Group(99)])]),
            BadAction::BadOutGroup.into(),
        ),
        (
            indirect(2, vec![bucket([output(99)])]),
            BadAction::BadOutPort.into(),
        ),
        (
            add(GroupType::All, 2, vec![bucket([]); 300]),
            GroupModFailed::OutOfBuckets.into(),
        ),
    ];
    for (body, kind) in cases {
        assert_eq!(bench.refused(body.clone()), kind, "{body:?}");
    }
}

#[test]
fn a_deleted_group_takes_its_entries_with_it_but_not_while_others_forward_to_it() {
    let mut bench = with_group(GroupType::All, vec![bucket([output(2)])]);
    bench.done(add(
        GroupType::Indirect,
        2,
        vec![bucket([Action::Group(1)])],
    ));
    let delete = |group| group_mod(GroupCommand::Delete, GroupType::All, group, vec![]);
    assert_eq!(
        bench.refused(delete(1)),
        GroupModFailed::ChainedGroup.into()
    );
    bench.done(delete(2));
    bench.done(Body::FlowMod(FlowMod {
        priority: 7,
        flags: FlowFlags::SEND_FLOW_REM,
        ..flow([], apply([Action::Group(1)]))
    }));
    let told = messages(&bench.say(delete(group::number::ALL)));
    let [Body::FlowRemoved(removed)] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(removed.reason, FlowRemovedReason::GroupDelete);
    assert_eq!(bench.pass(1, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::TableMiss), 1);
    // One that is not there needs no deletion.
    bench.done(delete(5));
}

#[test]
fn groups_of_groups_cannot_make_a_packet_endless() {
    let mut bench = Bench::new();
    bench.done(add(GroupType::All, 0, vec![bucket([output(2)])]));
    for group in 1..14 {
        let buckets = vec![bucket([Action::Group(group - 1)]); 8];
        bench.done(add(GroupType::All, group, buckets));
    }
    bench.done(Body::FlowMod(flow([], apply([Action::Group(13)]))));
    assert!(bench.pass(1, &arp()).len() < 4096);
    let account = bench.account();
    assert_eq!(account.forwarded + account.dropped.total(), 1);
}

#[test]
fn statistics_have_buckets_and_references() {
    let mut bench = with_group(GroupType::FastFailover, vec![watching(2), watching(3)]);
    bench.done(add(
        GroupType::Indirect,
        2,
        vec![bucket([Action::Group(1)])],
    ));
    bench.pass(1, &arp());
    bench.now_ns = 3;
    let Reply::Group(stats) = bench.reply(Request::Group(1)) else {
        panic!("no groups");
    };
    let [stats] = &stats[..] else {
        panic!("{stats:?}");
    };
    let bytes = arp().len() as u64;
    assert_eq!(
        (stats.ref_count, stats.packet_count, stats.byte_count),
        (2, 1, bytes)
    );
    assert_eq!(stats.duration.as_nanos(), 3);
    let counts: Vec<_> = stats.buckets.iter().map(|one| one.packet_count).collect();
    assert_eq!(counts, [1, 0]);
    let Reply::GroupDesc(groups) = bench.reply(Request::GroupDesc) else {
        panic!("no groups");
    };
    assert_eq!(groups[0].buckets, [watching(2), watching(3)]);
}
