//! Subflows that join, from both sides, and addresses that come and go.

use std::net::{IpAddr, Ipv4Addr};

use mptcplab_engine_kernel::node::kernel_flags;
use mptcplab_plan::{Action, EndpointFlags, InterfaceRef};
use mptcplab_stack::Event;

use crate::Test;
use crate::meeting::{BOTH, Meeting, OURS, Opener};

pub(crate) const TESTS: &[Test] = &[
    ("the_kernel_joins_from_its_second_address", kernel_joins),
    ("we_join_from_our_second_address", we_join),
    ("we_join_over_ipv6", we_join_over_ipv6),
    (
        "we_join_an_address_that_the_kernel_announces_and_echo_it",
        kernel_announces,
    ),
    (
        "the_kernel_joins_an_address_that_we_announce_and_echoes_it",
        we_announce,
    ),
    (
        "a_subflow_ends_when_the_kernel_withdraws_its_address",
        kernel_withdraws,
    ),
    ("a_subflow_ends_when_we_lose_its_address", we_withdraw),
    (
        "the_kernel_is_told_when_our_subflow_becomes_a_backup",
        we_change_priority,
    ),
    (
        "we_send_nothing_more_on_a_subflow_that_the_kernel_makes_a_backup",
        kernel_changes_priority,
    ),
];

const SUBFLOW: EndpointFlags = EndpointFlags {
    signal: false,
    subflow: true,
    backup: false,
    fullmesh: false,
};

const SIGNAL: EndpointFlags = EndpointFlags {
    signal: true,
    subflow: false,
    ..SUBFLOW
};

/// Bytes each way: enough for both paths to be used.
const BYTES: u64 = 1_000_000;

/// The second address of the kernel.
const SECOND_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 2, 1));

fn kernel_joins() {
    let meeting = Meeting::new(Opener::Kernel, BYTES)
        .kernel_endpoint(SUBFLOW)
        .held();
    let end = meeting.run(|now| now.go_on_if(now.application.established() == 2));
    end.assert_exchanged(BYTES);
    end.assert_multipath();
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinSynAckRx"), 1);
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinSynAckHMacFailure"), 0);
}

fn we_join() {
    let meeting = Meeting::new(Opener::Ours, BYTES)
        .our_endpoint(SUBFLOW)
        .held();
    let end = meeting.run(|now| now.go_on_if(now.application.established() == 2));
    end.assert_exchanged(BYTES);
    end.assert_multipath();
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinAckRx"), 1);
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinAckHMacFailure"), 0);
}

fn we_join_over_ipv6() {
    let meeting = Meeting::new(Opener::Ours, BYTES).our_endpoint(SUBFLOW);
    let end = meeting
        .over_ipv6()
        .held()
        .run(|now| now.go_on_if(now.application.established() == 2));
    end.assert_exchanged(BYTES);
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinAckRx"), 1);
}

/// The server announces: the client is the end that opens subflows.
fn kernel_announces() {
    let meeting = Meeting::side_by_side(Opener::Ours, BYTES)
        .kernel_endpoint(SIGNAL)
        .held();
    let end = meeting.run(|now| {
        let echoed = now.kernel.counter("MPTcpExtEchoAdd") == 1;
        now.go_on_if(echoed && now.application.established() == 2);
    });
    end.assert_exchanged(BYTES);
    let announced = end.application.events.iter().find_map(|event| match event {
        Event::AddressAnnounced { address, .. } => Some(address.ip()),
        _ => None,
    });
    assert_eq!(announced, Some(SECOND_ADDRESS));
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinAckRx"), 1);
}

fn we_announce() {
    let meeting = Meeting::side_by_side(Opener::Kernel, BYTES)
        .our_endpoint(SIGNAL)
        .held();
    let end = meeting.run(|now| now.go_on_if(now.application.established() == 2));
    end.assert_exchanged(BYTES);
    assert_eq!(end.kernel.counter("MPTcpExtAddAddr"), 1);
    assert_eq!(end.kernel.counter("MPTcpExtEchoAddTx"), 1);
    assert_eq!(end.kernel.counter("MPTcpExtMPJoinSynAckRx"), 1);
    assert_eq!(end.kernel.counter("MPTcpExtAddAddrDrop"), 0);
}

fn kernel_withdraws() {
    for opener in BOTH {
        let meeting = match opener {
            Opener::Kernel => Meeting::new(opener, BYTES).kernel_endpoint(SUBFLOW),
            Opener::Ours => Meeting::side_by_side(opener, BYTES).kernel_endpoint(SIGNAL),
        };
        let mut withdrawn = false;
        let end = meeting.held().run(|now| {
            if !withdrawn && now.application.established() == 2 {
                withdrawn = true;
                now.kernel.path_manager(|path_manager| {
                    let mut endpoints = path_manager.endpoints()?.into_iter();
                    let found = endpoints.find(|found| found.address == SECOND_ADDRESS);
                    path_manager.delete_endpoint(&found.expect("it has one"))
                });
            }
            now.go_on_if(now.application.subflows_closed() == 1);
        });
        end.assert_exchanged(BYTES);
        end.assert_multipath();
        let told = |event: &Event| matches!(event, Event::AddressRemoved { .. });
        assert!(end.application.events.iter().any(told), "{opener:?}");
    }
}

fn we_withdraw() {
    for opener in BOTH {
        let meeting = match opener {
            Opener::Kernel => Meeting::side_by_side(opener, BYTES).our_endpoint(SIGNAL),
            Opener::Ours => Meeting::new(opener, BYTES).our_endpoint(SUBFLOW),
        };
        let mut withdrawn = false;
        let end = meeting.held().run(|now| {
            if !withdrawn && now.application.established() == 2 {
                withdrawn = true;
                let interface = InterfaceRef {
                    node: OURS,
                    interface: 1,
                };
                let down = Action::Interface {
                    interface,
                    up: false,
                };
                now.world.act(&down).expect("it is a host's");
            }
            let told = now.kernel.counter("MPTcpExtRmAddr") > 0;
            now.go_on_if(told && now.application.subflows_closed() == 1);
        });
        end.assert_exchanged(BYTES);
        end.assert_multipath();
    }
}

fn we_change_priority() {
    let meeting = Meeting::new(Opener::Ours, BYTES).our_endpoint(SUBFLOW);
    let mut changed = false;
    let end = meeting.held().run(|now| {
        if !changed && now.application.established() == 2 {
            changed = true;
            let interface = InterfaceRef {
                node: OURS,
                interface: 1,
            };
            let backup = Action::Backup {
                interface,
                backup: true,
            };
            now.world.act(&backup).expect("it has an endpoint");
        }
        now.go_on_if(now.kernel.counter("MPTcpExtMPPrioRx") > 0);
    });
    end.assert_exchanged(BYTES);
    end.assert_multipath();
}

fn kernel_changes_priority() {
    let meeting = Meeting::new(Opener::Kernel, BYTES).kernel_endpoint(SUBFLOW);
    let mut changed = false;
    let (mut before, mut last) = (None, None);
    let end = meeting.held().run(|now| {
        let sent = now.bytes_by_subflow();
        if !changed && now.application.established() == 2 && now.application.sent >= BYTES / 2 {
            changed = true;
            now.kernel.path_manager(|path_manager| {
                let mut endpoints = path_manager.endpoints()?.into_iter();
                let found = endpoints.find(|found| found.address == SECOND_ADDRESS);
                let backup = kernel_flags(EndpointFlags {
                    backup: true,
                    ..SUBFLOW
                });
                path_manager.set_flags(&found.expect("it has one"), backup)
            });
        }
        if sent.len() == 2 {
            last = Some(sent);
        }
        if before.is_none() && now.backups() == 1 {
            before = last.clone();
        }
        now.go_on_if(before.is_some());
    });
    end.assert_exchanged(BYTES);
    end.assert_multipath();
    let (before, last) = (before.expect("it was told"), last.expect("there were two"));
    let [first, backup] = [0, 1].map(|subflow: usize| last[subflow][0] - before[subflow][0]);
    // But for what the subflow had been handed before.
    let most = 64_000;
    assert!(first >= BYTES / 2 && backup <= most, "{first} and {backup}");
    assert!(end.kernel.counter("MPTcpExtMPPrioTx") > 0);
}
