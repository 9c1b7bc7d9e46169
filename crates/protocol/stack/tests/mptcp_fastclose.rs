//! MP_FASTCLOSE.
//!
//! Behaviours of packetdrill's scripts in `fastclose/`:
//!
//! | script | test |
//! |---|---|
//! | `receive_fastclose_with_ack` | `a_fast_close_in_an_ack_counts_with_the_right_key` |
//! | `receive_fastclose_with_ack_multi_v4` | `a_fast_close_in_an_ack_resets_all_subflows` |
//! | `receive_fastclose_with_rst_v4` | `a_fast_close_in_a_rst_ends_the_connection` |
//! | `receive_fastclose_with_rst_multi_v4` | `a_fast_close_in_a_rst_resets_the_other_subflows` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::{CloseReason, Event};
use mptcplab_wire::option::MptcpOption;

fn fast_close(bench: &Bench) -> MptcpOption {
    MptcpOption::FastClose {
        receiver_key: bench.key.0,
    }
}

fn was_reset(bench: &Bench) -> bool {
    bench.has(|event| {
        matches!(
            event,
            Event::Closed {
                reason: CloseReason::Reset,
                ..
            }
        )
    })
}

#[test]
fn a_connection_that_was_closed_waits_for_no_acknowledgement_of_its_data() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let data = bench.data(&flow, 1, 1, 1, 1, 1000);
    bench.inject(data);
    bench.next();
    bench.write(id, 100);
    bench.next();
    bench.inject(flow.with(".", 1001, 1, fast_close(&bench)));
    assert!(bench.next().flags.rst);
    bench.pass(3600 * SECOND);
    bench.nothing();
    assert_eq!(bench.host.next_deadline(), None);
}

#[test]
fn a_fast_close_in_an_ack_counts_with_the_right_key() {
    let (mut bench, flow, _) = Bench::accepted(&[plain_address(0)]);
    let data = bench.data(&flow, 1, 1, 1, 1, 1000);
    bench.inject(data);
    bench.next();
    bench.inject(flow.with(".", 1001, 1, MptcpOption::FastClose { receiver_key: 42 }));
    bench.nothing();
    let data = bench.data(&flow, 1001, 1, 1, 1001, 1000);
    bench.inject(data);
    assert_eq!(bench.read_dss(&bench.out[0].clone()), (Some(2001), None));
    bench.next();
    bench.inject(flow.with(".", 2001, 1, fast_close(&bench)));
    let reset = bench.next();
    assert!(reset.flags.rst);
    assert_eq!(reason_of(&reset), Some(0));
    assert!(was_reset(&bench));
    let data = bench.data(&flow, 2001, 1, 1, 2001, 1000);
    bench.inject(data);
    let answer = bench.next();
    assert!(answer.flags.rst && answer.window == 0);
}

#[test]
fn a_fast_close_in_an_ack_resets_all_subflows() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let data = bench.data(&first, 1, 1, 1, 1, 1000);
    bench.inject(data);
    bench.next();
    let second = bench.join(1, 6000, 1, false);
    let data = bench.data(&second, 1, 1, 1, 1001, 1001);
    bench.inject(data);
    bench.next();
    // Old sequence numbers.
    bench.inject(second.with(".", 0, 1, fast_close(&bench)));
    assert!(!was_reset(&bench));
    bench.out.clear();
    bench.inject(second.with(".", 1002, 1, fast_close(&bench)));
    let ends: Vec<_> = bench
        .out
        .drain(..)
        .filter(|segment| segment.flags.rst)
        .map(|segment| segment.destination)
        .collect();
    assert_eq!(ends, [first.peer, second.peer]);
    assert!(was_reset(&bench));
    assert_eq!(bench.read(id), 2001);
}

#[test]
fn a_fast_close_in_a_rst_ends_the_connection() {
    let (mut bench, flow, _) = Bench::accepted(&[plain_address(0)]);
    bench.inject(flow.with("R.", 1, 1, fast_close(&bench)));
    assert!(was_reset(&bench));
    bench.nothing();
}

#[test]
fn a_fast_close_in_a_rst_resets_the_other_subflows() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let second = bench.join(1, 6000, 2, false);
    let data = bench.data(&second, 1, 1, 1, 1, 1001);
    bench.inject(data);
    bench.next();
    bench.inject(second.with("R.", 3001, 1, fast_close(&bench)));
    assert!(!was_reset(&bench));
    bench.out.clear();
    bench.inject(second.with("R.", 1002, 1, fast_close(&bench)));
    let reset = bench.next();
    assert!(reset.flags.rst && reset.destination == first.peer);
    bench.nothing();
    assert_eq!(bench.read(id), 1001);
}

#[test]
fn an_abort_sends_a_fast_close_on_every_subflow() {
    let (mut bench, _, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    bench.join(1, 6000, 2, false);
    bench.host.abort(bench.now, id);
    bench.flush();
    let closes: Vec<_> = bench.out.drain(..).collect();
    assert_eq!(closes.len(), 2);
    for close in closes {
        assert!(close.flags.rst);
        assert_eq!(
            only(&close),
            MptcpOption::FastClose {
                receiver_key: PEER_KEY.0
            }
        );
    }
    assert!(bench.has(|event| matches!(
        event,
        Event::Closed {
            reason: CloseReason::Aborted,
            ..
        }
    )));
}

#[test]
fn letting_go_of_unread_data_is_an_abort() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    let data = bench.data(&flow, 1, 1, 1, 1, 1000);
    bench.inject(data);
    bench.next();
    bench.host.release(bench.now, id);
    bench.flush();
    let close = bench.next();
    assert!(close.flags.rst);
    assert!(matches!(only(&close), MptcpOption::FastClose { .. }));
    assert!(bench.host.is_idle());
}
