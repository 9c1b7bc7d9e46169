//! Timeouts in the given time.

use mptcplab_openflow::Body;
use mptcplab_openflow::flow::{FlowFlags, FlowMod, FlowRemoved, FlowRemovedReason};

use crate::frames::arp;
use crate::support::{Bench, SECOND, apply, flow, output};

fn entry(idle_timeout: u16, hard_timeout: u16) -> Body {
    Body::FlowMod(FlowMod {
        idle_timeout,
        hard_timeout,
        flags: FlowFlags::SEND_FLOW_REM,
        ..flow([], apply([output(2)]))
    })
}

fn removed(told: &[Body]) -> Vec<&FlowRemoved> {
    fn one(body: &Body) -> &FlowRemoved {
        match body {
            Body::FlowRemoved(removed) => removed,
            other => panic!("{other:?}"),
        }
    }
    told.iter().map(one).collect()
}

#[test]
fn an_entry_that_nothing_matches_goes_after_its_idle_timeout() {
    let mut bench = Bench::new();
    bench.done(entry(2, 0));
    assert_eq!(bench.switch.next_deadline(), Some(2 * SECOND));
    assert!(bench.advance(2 * SECOND - 1).is_empty());
    let told = bench.advance(2 * SECOND);
    let [removed] = removed(&told)[..] else {
        panic!("{told:?}");
    };
    assert_eq!(removed.reason, FlowRemovedReason::IdleTimeout);
    assert_eq!(removed.duration.as_nanos(), 2 * SECOND);
    assert_eq!(bench.switch.next_deadline(), None);
}

#[test]
fn a_packet_keeps_an_entry_for_another_idle_timeout() {
    let mut bench = Bench::new();
    bench.done(entry(2, 0));
    bench.advance(SECOND);
    bench.pass(1, &arp());
    assert!(bench.advance(2 * SECOND).is_empty());
    assert_eq!(bench.switch.next_deadline(), Some(3 * SECOND));
    assert_eq!(bench.advance(3 * SECOND).len(), 1);
}

#[test]
fn the_hard_timeout_comes_whatever_packets_come() {
    let mut bench = Bench::new();
    bench.done(entry(2, 3));
    for second in 1..3 {
        assert!(bench.advance(second * SECOND).is_empty());
        bench.pass(1, &arp());
    }
    let told = bench.advance(3 * SECOND);
    assert_eq!(removed(&told)[0].reason, FlowRemovedReason::HardTimeout);
    assert_eq!(removed(&told)[0].packet_count, 2);
}

#[test]
fn a_packet_at_the_time_of_the_timeout_comes_too_late() {
    let mut bench = Bench::new();
    bench.done(entry(0, 1));
    bench.now_ns = SECOND;
    let mut out = Vec::new();
    bench
        .switch
        .receive_packet(SECOND, 1, arp().into(), &mut out);
    assert!(matches!(
        &out[..],
        [mptcplab_switch::Output::Message { message, .. }]
            if matches!(message.body, Body::FlowRemoved(_))
    ));
}

#[test]
fn replaced_and_deleted_entries_leave_no_deadline() {
    let mut bench = Bench::new();
    bench.done(entry(5, 0));
    bench.done(entry(0, 0));
    assert_eq!(bench.switch.next_deadline(), None);
}

#[test]
fn late_times_are_told_as_they_were_due_in_their_order() {
    let mut bench = Bench::new();
    for (priority, hard_timeout) in [(1, 3), (2, 1), (3, 2)] {
        bench.done(Body::FlowMod(FlowMod {
            priority,
            hard_timeout,
            flags: FlowFlags::SEND_FLOW_REM,
            ..flow([], vec![])
        }));
    }
    let told = bench.advance(100 * SECOND);
    let order = removed(&told);
    let order: Vec<_> = order
        .iter()
        .map(|one| (one.priority, one.duration.seconds))
        .collect();
    assert_eq!(order, [(2, 1), (3, 2), (1, 3)]);
}
