//! MP_PRIO.
//!
//! Behaviours of packetdrill's script `mp_prio/mp_prio_server_v4`: each of its steps is a test
//! here.

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::{EndpointFlags, LocalAddress, SubflowId};
use mptcplab_wire::option::MptcpOption;

fn priority(backup: bool) -> MptcpOption {
    MptcpOption::Priority {
        backup,
        address_id: None,
    }
}

#[test]
fn the_peer_makes_a_subflow_a_backup_and_an_active_one_again() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let mut data = bench.data(&first, 1, 1, 1, 1, 2);
    data.options.mptcp.push(priority(true));
    bench.inject(data);
    assert_eq!(bench.read_dss(&bench.out[0].clone()), (Some(3), None));
    bench.next();
    assert_eq!(bench.host.subflows(id)[0].backup, Some(true));
    // A second subflow that is a backup too: data goes on either; made active, on it.
    let second = bench.join(1, 6000, 1, true);
    let mut data = bench.data(&second, 1, 1, 1, 3, 10);
    data.options.mptcp.push(priority(false));
    bench.inject(data);
    bench.next();
    bench.write(id, 100);
    let sent = bench.next();
    assert_eq!(sent.destination, second.peer);
    assert_eq!(bench.read_dss(&sent), (Some(13), Some((1, 1, 100, false))));
}

#[test]
fn the_option_of_version_0_is_refused() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0)]);
    let mut segment = first.with(".", 1, 1, bench.dss(1, None, false));
    segment.options.mptcp.push(MptcpOption::Priority {
        backup: true,
        address_id: Some(0),
    });
    bench.inject(segment);
    assert_eq!(bench.host.subflows(id)[0].backup, Some(false));
}

#[test]
fn the_application_makes_a_subflow_a_backup() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let second = bench.join(1, 6000, 1, false);
    assert!(bench.host.set_backup(bench.now, id, SubflowId(0), true));
    bench.flush();
    let told = bench.next();
    assert_eq!(told.destination, first.peer);
    assert!(told.options.mptcp.contains(&priority(true)));
    bench.write(id, 10);
    assert_eq!(bench.next().destination, second.peer);
    assert!(!bench.host.set_backup(bench.now, id, SubflowId(7), true));
}

#[test]
fn a_changed_flag_of_an_endpoint_changes_its_subflows() {
    let endpoint = |backup| LocalAddress {
        endpoint: Some(EndpointFlags {
            subflow: true,
            backup,
            ..EndpointFlags::default()
        }),
        ..plain_address(0)
    };
    let (mut bench, _, id) = Bench::accepted(&[endpoint(false)]);
    bench.host.set_addresses(bench.now, &[endpoint(true)]);
    bench.flush();
    assert!(bench.next().options.mptcp.contains(&priority(true)));
    assert_eq!(bench.host.subflows(id)[0].backup, Some(true));
}
