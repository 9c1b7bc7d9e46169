//! DATA_FIN.
//!
//! Behaviours of packetdrill's scripts in `dss/` and `syscalls/`:
//!
//! | script | test |
//! |---|---|
//! | `dss_fin_server` | `a_data_fin_is_acknowledged_and_answered` |
//! | `connect_close` | `a_client_that_closes_at_once_sends_a_data_fin` |
//! | `connect_close_ack_ooo` | `a_data_fin_is_acknowledged_by_a_segment_out_of_order_too` |
//! | `connect_close_full` | `subflows_are_closed_when_both_directions_are` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::Event;

#[test]
fn a_data_fin_is_acknowledged_and_answered() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0)]);
    bench.inject(flow.with(".", 1, 1, bench.dss(1, Some((1, 0, 1)), true)));
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(2), None));
    assert!(bench.has(|event| *event == Event::Finished { id }));
    // The peer closes the subflow; this end still can say that it is done.
    bench.inject(flow.with("F.", 1, 1, bench.dss(1, None, false)));
    let ack = bench.next();
    assert_eq!(flow.acknowledgement_of(&ack), 2);
    assert!(!ack.flags.fin);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    let fin = bench.next();
    assert_eq!(bench.read_dss(&fin), (Some(2), Some((1, 0, 1, true))));
    assert!(!fin.flags.fin);
    bench.inject(flow.with(".", 2, 1, bench.dss(2, None, false)));
    let fin = bench.next();
    assert!(fin.flags.fin);
    assert!(bench.closed());
}

#[test]
fn a_data_fin_that_gets_lost_is_sent_again() {
    let (mut bench, _, id) = Bench::accepted(&[plain_address(0)]);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    let fin = bench.next();
    bench.pass(10 * SECOND);
    let repeated = bench.next();
    assert_eq!(bench.read_dss(&fin), bench.read_dss(&repeated));
    assert_eq!(bench.read_dss(&fin).1, Some((1, 0, 1, true)));
}

#[test]
fn a_data_fin_is_sent_again_after_200_ms_and_then_after_pauses_from_400_ms_on() {
    let (mut bench, _, id) = Bench::accepted(&[plain_address(0)]);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    bench.next();
    for pause in [200, 400, 800, 1600] {
        bench.pass(pause * MS - 1);
        bench.nothing();
        bench.pass(1);
        bench.next();
    }
    let info = bench.host.info(id).unwrap().multipath.unwrap();
    assert_eq!(info.retransmits, 4);
}

#[test]
fn a_data_fin_is_not_sent_by_itself_while_data_is_outstanding() {
    let (mut bench, _, id) = Bench::accepted(&[plain_address(0)]);
    bench.write(id, 1000);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    bench.out.clear();
    bench.pass(10 * SECOND);
    assert!(!bench.out.is_empty());
    assert!(bench.out.iter().all(|sent| !sent.payload.is_empty()));
}

#[test]
fn a_client_that_closes_at_once_sends_a_data_fin() {
    let (mut bench, _, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.host.release(bench.now, id);
    bench.flush();
    let fin = bench.next();
    assert_eq!(bench.read_dss(&fin), (Some(1), Some((1, 0, 1, true))));
    assert!(!fin.flags.fin);
}

#[test]
fn a_data_fin_is_acknowledged_by_a_segment_out_of_order_too() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.host.release(bench.now, id);
    bench.flush();
    bench.next();
    bench.inject(flow.with(".", 2, 1, bench.dss(2, None, false)));
    bench.out.clear();
    // It is not sent again.
    bench.pass(30 * SECOND);
    bench.nothing();
}

#[test]
fn subflows_are_closed_when_both_directions_are() {
    let (mut bench, flow, id) = Bench::connected(config(), &[plain_address(0)]);
    bench.host.release(bench.now, id);
    bench.flush();
    bench.next();
    bench.inject(flow.with(".", 1, 1, bench.dss(2, None, false)));
    bench.nothing();
    bench.inject(flow.with(".", 1, 1, bench.dss(2, Some((1, 0, 1)), true)));
    let fin = bench.next();
    assert!(fin.flags.fin);
    assert_eq!(bench.read_dss(&fin).0, Some(2));
    bench.inject(flow.with(".", 1, 2, bench.dss(2, None, false)));
    bench.inject(flow.with("F.", 1, 2, bench.dss(2, None, false)));
    let last = bench.next();
    assert_eq!(flow.acknowledgement_of(&last), 2);
    bench.pass(60 * SECOND);
    assert!(bench.host.is_idle());
}

#[test]
fn a_data_fin_rides_on_data_that_is_handed_out_after_it_was_asked_for() {
    let mut bench = Bench::new(config(), &[plain_address(0)]);
    let mut roomy = options();
    roomy.send_buffer.initial_bytes = 100_000;
    bench.host.listen(80, roomy);
    let mut flow = Flow::new(0, 5000, 80);
    bench.syn_capable(&mut flow, capable());
    bench.inject(flow.with(".", 1, 1, bench.keys()));
    let id = bench.accepted_id();
    bench.write(id, 40_000);
    bench.host.shutdown(bench.now, id);
    bench.flush();
    let mut sent = 0;
    while sent < 40_000 {
        let segment = bench.next();
        sent += segment.payload.len();
        let (ack, dack) = (1 + sent as u32, 1 + sent as u64);
        if sent == 40_000 {
            let (data, _, bytes, fin) = bench.read_dss(&segment).1.unwrap();
            assert!(fin);
            assert_eq!(data + u64::from(bytes), 40_002);
            bench.inject(flow.with(".", 1, ack, bench.dss(dack + 1, None, false)));
        } else {
            bench.inject(flow.with(".", 1, ack, bench.dss(dack, None, false)));
        }
    }
    // It is acknowledged, and not said again.
    bench.out.clear();
    bench.pass(30 * SECOND);
    bench.nothing();
}
