//! Switches without hosts, whose controller sends its frames of discovery each second.

use std::collections::BTreeMap;
use std::time::Instant;

use mptcplab_link::{Counters, DirectionConfig, Link, LinkConfig, Rate};
use mptcplab_middlebox::Chain;
use mptcplab_plan::{Controller, Interface, Mptcp, Node, Plan, SchedulerOptions, Sizes, Switch};
use mptcplab_segment::{PolicySupply, discovered};

use super::super::{EmulatedLink, Failure, Middleboxes};
use super::*;
use crate::run_clock::RunClock;

const MS: Nanos = 1_000_000;
const SECOND: Nanos = 1_000 * MS;
/// Links as pairs of switches.
const RING: [[usize; 2]; 4] = [[0, 1], [1, 2], [2, 3], [3, 0]];

fn config(number: usize) -> LinkConfig {
    let direction = DirectionConfig {
        rate: Rate::Fixed {
            bits_per_second: 10_000_000,
        },
        delay_ns: (number as Nanos + 1) * MS,
        ..DirectionConfig::default()
    };
    LinkConfig {
        directions: [direction.clone(), direction],
        ..LinkConfig::default()
    }
}

fn plan() -> Plan {
    let node = |number: usize| Node {
        name: format!("s{number}"),
        router: false,
        switch: Some(Switch {
            datapath_id: number as u64,
            is_open_vswitch: false,
        }),
        interfaces: Vec::new(),
        routes: Vec::new(),
        mptcp: Mptcp {
            enabled: false,
            checksum: false,
            syn_retries: None,
            scheduler: None,
            scheduler_options: SchedulerOptions::default(),
            subflows_per_pair: 1,
            limit_subflows: 0,
            limit_add_addr_accepted: 0,
            by_application: false,
        },
        clock_granularity_ns: 1,
        pacing: false,
        sysctls: BTreeMap::new(),
    };
    let mut plan = Plan {
        seed: 1,
        nodes: (0..RING.len()).map(node).collect(),
        links: Vec::new(),
        traffic: Vec::new(),
        events: Vec::new(),
        sample_interval_ns: SECOND,
        capture: None,
        time_limit_ns: SECOND,
        controller: Some(Controller {
            policy: Some("disjoint".to_owned()),
            policy_source: None,
            argv: None,
            address: None,
            discovery_ns: 0,
            link_probe_ns: 1_000_000_000,
            tcp_fallback: false,
            channel_delay_ns: MS,
            channel_rate_bps: None,
            sizes: Sizes::Unknown,
        }),
    };
    for (number, pair) in RING.into_iter().enumerate() {
        let ends = pair.map(|node| {
            let interfaces = &mut plan.nodes[node].interfaces;
            interfaces.push(Interface {
                name: format!("link{number}"),
                addresses: Vec::new(),
                gateways: Vec::new(),
                mtu: 1500,
                address_delay_ns: 0,
                endpoint: None,
            });
            let interface = interfaces.len() - 1;
            InterfaceRef { node, interface }
        });
        plan.links.push(mptcplab_plan::Link {
            name: format!("link{number}"),
            ends,
            config: config(number),
            offload: false,
            middleboxes: Vec::new(),
        });
    }
    plan
}

/// The switches of a ring that their controller knows, and their links.
fn ring() -> (Switched, Vec<DrivenLink>) {
    let plan = plan();
    let models = (0..RING.len()).map(|number| Link::new(&config(number), 1).unwrap());
    let (switching, warning) = discovered(&plan, models.collect(), None::<PolicySupply>).unwrap();
    assert_eq!(warning, None);
    let link = |(number, planned): (usize, &mptcplab_plan::Link)| {
        DrivenLink::new(EmulatedLink {
            config: config(number),
            seed: 1,
            middleboxes: Middleboxes::new(Chain::new(&[], 1, 0), [0; 6], 1500, Default::default()),
            ends: planned.ends.map(LinkEnd::Switch),
            taps: [None, None],
        })
        .unwrap()
    };
    let links: Vec<DrivenLink> = plan.links.iter().enumerate().map(link).collect();
    let switches = Switches {
        switching,
        connections: None,
        begins_later: false,
        failure: Failure::default(),
        decided: Box::new(|_| {}),
    };
    (Switched::new(switches, &links), links)
}

/// Does all that is due by a time.
fn deliver(switched: &mut Switched, links: &mut [DrivenLink], horizon: Nanos) {
    links.iter_mut().for_each(|link| link.horizon = horizon);
    let mut lateness = Lateness::default();
    switched
        .deliver(
            links,
            &LinkTime::since(Instant::now(), &RunClock::default()),
            &mut lateness,
        )
        .unwrap();
    let next = links.iter().filter_map(DrivenLink::next_deadline);
    let next = next.chain(switched.next_deadline()).min();
    assert!(
        next.is_some_and(|next| next > horizon),
        "{next:?} {horizon}"
    );
}

fn counters(links: &[DrivenLink]) -> Vec<Counters> {
    let counters = links.iter().map(|link| &link.model);
    counters
        .flat_map(|model| [0, 1].map(|direction| model.counters(direction)))
        .collect()
}

#[test]
fn what_is_due_is_done_in_one_turn_as_in_many() {
    let (mut once, mut links) = ring();
    deliver(&mut once, &mut links, 10 * SECOND - MS / 2);
    let all = counters(&links);
    // A frame each second by each port.
    for one in &all {
        assert!((9..=11).contains(&one.delivered_packets), "{one:?}");
    }
    let (mut often, mut links) = ring();
    for number in 1..=20_000 {
        deliver(&mut often, &mut links, number * MS / 2 - MS / 2);
    }
    assert_eq!(counters(&links), all);
}

#[test]
fn a_link_without_carrier_gets_no_frames_and_the_others_do() {
    let (mut switched, mut links) = ring();
    deliver(&mut switched, &mut links, 3 * SECOND);
    switched.set_link(3 * SECOND, &mut links, 1, false);
    let before = counters(&links);
    deliver(&mut switched, &mut links, 9 * SECOND);
    for (place, (then, now)) in before.iter().zip(counters(&links)).enumerate() {
        let more = now.offered_packets - then.offered_packets;
        let expected = if place / 2 == 1 { 0..=0 } else { 5..=7 };
        assert!(expected.contains(&more), "{place}: {more}");
    }
}
