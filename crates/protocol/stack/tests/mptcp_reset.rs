//! MP_TCPRST.
//!
//! Behaviours of packetdrill's scripts in `mp_reset/`:
//!
//! | script | test |
//! |---|---|
//! | `mp_reset_single` | `a_reset_counts_only_with_rst_and_within_the_window` |
//! | `mp_reset_single_tcp` | `after_a_fallback_a_reset_is_that_of_tcp` |
//! | `mp_reset_multi_v4` | `a_reset_of_one_subflow_leaves_the_others` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::{CloseReason, Event};
use mptcplab_wire::option::{MptcpOption, Reset};

const RESET: MptcpOption = MptcpOption::Reset(Reset {
    transient: false,
    reason: 1,
});

#[test]
fn a_reset_counts_only_with_rst_and_within_the_window() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    // Not where it is expected: a challenge.
    bench.inject(flow.with("R.", 1002, 1, RESET));
    let challenge = bench.next();
    assert!(!challenge.flags.rst);
    assert_eq!(bench.read_dss(&challenge), (Some(1), None));
    // Without RST.
    bench.inject(flow.with(".", 1, 1, RESET));
    bench.nothing();
    bench.write(id, 1000);
    let sent = bench.next();
    assert_eq!(bench.read_dss(&sent), (Some(1), Some((1, 1, 1000, false))));
    bench.inject(flow.with(".", 1, 1001, bench.dss(1001, None, false)));
    bench.inject(flow.with("R.", 1, 1001, RESET));
    assert!(bench.has(|event| matches!(
        event,
        Event::SubflowClosed {
            reason: CloseReason::Reset,
            ..
        }
    )));
    // The subflow is gone.
    bench.inject(flow.segment(".", 1, 1001));
    let answer = bench.next();
    assert!(answer.flags.rst);
}

#[test]
fn after_a_fallback_a_reset_is_that_of_tcp() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let mut flow = Flow::new(0, 5000, 80);
    bench.syn_capable(&mut flow, capable());
    bench.inject(flow.segment(".", 1, 1));
    let id = bench.accepted_id();
    bench.inject(flow.with("R.", 1, 1, RESET));
    assert!(bench.has(|event| *event
        == Event::Closed {
            id,
            reason: CloseReason::Reset
        }));
}

#[test]
fn a_reset_of_one_subflow_leaves_the_others() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let data = bench.data(&first, 1, 1, 1, 1, 1000);
    bench.inject(data);
    bench.next();
    let second = bench.join(1, 6000, 2, false);
    let data = bench.data(&second, 1, 1, 1, 1001, 1001);
    bench.inject(data.clone());
    assert_eq!(bench.read_dss(&bench.out[0].clone()), (Some(2002), None));
    bench.next();
    bench.inject(second.with(".", 1002, 1, RESET));
    bench.inject(second.with("R.", 3001, 1, RESET));
    let challenge = bench.next();
    assert_eq!(bench.read_dss(&challenge), (Some(2002), None));
    bench.inject(second.with("R.", 1002, 1, RESET));
    bench.inject(data);
    let answer = bench.next();
    assert!(answer.flags.rst && answer.destination == second.peer);
    let data = bench.data(&first, 1001, 1, 1, 2002, 1002);
    bench.inject(data);
    assert_eq!(bench.read(id), 3003);
    assert!(!bench.closed());
}
