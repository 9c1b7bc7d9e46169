//! ADD_ADDR and REMOVE_ADDR.
//!
//! Behaviours of packetdrill's scripts in `add_addr/`:
//!
//! | script | test |
//! |---|---|
//! | `add_addr_client` | `an_announcement_is_echoed_and_joined` |
//! | `add_addr_server` | `an_address_is_announced_once_the_connection_stands` |

mod mptcp_peer;

use mptcp_peer::*;
use mptcplab_stack::{ConnectionId, Event, LocalAddress, MAX_SOFTIRQ_NS, MptcpConfig, WorkerTimes};
use mptcplab_wire::keys::address_hmac;
use mptcplab_wire::option::{AddAddress, AddressIds, Join, MptcpOption};

/// A client that has had data acknowledged.
fn confirmed(addresses: &[LocalAddress]) -> (Bench, Flow, ConnectionId) {
    let (mut bench, flow, id) = Bench::connected(config(), addresses);
    bench.write(id, 100);
    bench.next();
    bench.inject(flow.with(".", 1, 101, bench.dss(101, None, false)));
    (bench, flow, id)
}

fn signalling(index: u8) -> LocalAddress {
    LocalAddress {
        endpoint: Some(SIGNAL),
        ..plain_address(index)
    }
}

/// The announcement of an address whose id is its number.
fn announced(bench: &Bench, index: u8) -> MptcpOption {
    let address = host_address(index);
    MptcpOption::AddAddress(AddAddress {
        echo: false,
        address_id: index,
        address,
        port: None,
        hmac: Some(address_hmac(bench.key, PEER_KEY, index, address, None)),
    })
}

fn echo(option: MptcpOption) -> MptcpOption {
    let MptcpOption::AddAddress(address) = option else {
        panic!("{option:?}");
    };
    MptcpOption::AddAddress(AddAddress {
        echo: true,
        hmac: None,
        ..address
    })
}

#[test]
fn an_announcement_is_echoed_and_joined() {
    let (mut bench, flow, id) = confirmed(&[plain_address(0)]);
    let option = bench.add_address(1, peer_address(1));
    bench.inject(flow.with(".", 1, 101, option));
    assert!(bench.has(|event| matches!(
        event,
        Event::AddressAnnounced { address_id: 1, address, .. }
            if address.ip() == peer_address(1) && address.port() == 80
    )));
    let echoes = |segment: &mptcplab_wire::Segment| segment.options.mptcp.contains(&echo(option));
    assert_eq!(
        bench.out.iter().filter(|segment| echoes(segment)).count(),
        1
    );
    let syn = bench
        .out
        .iter()
        .find(|segment| segment.flags.syn)
        .expect("a join");
    assert_eq!(syn.destination.ip(), peer_address(1));
    assert!(matches!(only(syn), MptcpOption::Join(Join::Syn { .. })));
    let info = bench.host.info(id).unwrap().multipath.unwrap();
    assert_eq!(info.add_addr_accepted, 1);
    // The same once more changes nothing but brings the echo again.
    bench.out.clear();
    bench.inject(flow.with(".", 1, 101, option));
    assert_eq!(bench.out.len(), 1);
    assert!(echoes(&bench.out[0]));
}

#[test]
fn an_announcement_with_a_wrong_hmac_is_ignored() {
    let (mut bench, flow, _) = confirmed(&[plain_address(0)]);
    let MptcpOption::AddAddress(address) = bench.add_address(1, peer_address(1)) else {
        unreachable!("add_address gives an ADD_ADDR");
    };
    bench.inject(flow.with(
        ".",
        1,
        101,
        MptcpOption::AddAddress(AddAddress {
            address_id: 2,
            ..address
        }),
    ));
    bench.nothing();
}

#[test]
fn announcements_beyond_the_limit_are_echoed_and_not_joined() {
    let (mut bench, flow, id) = confirmed(&[plain_address(0)]);
    for index in 1..10 {
        let option = bench.add_address(index, peer_address(index));
        bench.inject(flow.with(".", 1, 101, option));
    }
    let syns = bench.out.iter().filter(|segment| segment.flags.syn);
    assert_eq!(syns.count(), 4);
    let info = bench.host.info(id).unwrap().multipath.unwrap();
    assert_eq!(info.add_addr_accepted, 4);
}

#[test]
fn an_address_is_announced_once_the_connection_stands() {
    let (mut bench, flow, id) = Bench::accepted(&[plain_address(0), signalling(1)]);
    let option = announced(&bench, 1);
    let announcement = bench.next();
    assert!(
        announcement.options.mptcp.contains(&option),
        "{announcement:?}"
    );
    assert_eq!(bench.read_dss(&announcement), (Some(1), None));
    bench.inject(flow.with(".", 1, 1, echo(option)));
    bench.pass(600 * SECOND);
    bench.nothing();
    let data = bench.data(&flow, 1, 1, 1, 1, 1000);
    bench.inject(data);
    let ack = bench.next();
    assert_eq!(bench.read_dss(&ack), (Some(1001), None));
    assert_eq!(bench.read(id), 1000);
}

#[test]
fn an_announcement_without_an_echo_is_sent_again() {
    let (mut bench, flow, _) = Bench::accepted(&[plain_address(0), signalling(1)]);
    let option = announced(&bench, 1);
    bench.next();
    bench.pass(SECOND);
    assert!(bench.next().options.mptcp.contains(&option));
    bench.pass(2 * SECOND);
    assert!(bench.next().options.mptcp.contains(&option));
    bench.inject(flow.with(".", 1, 1, echo(option)));
    bench.pass(600 * SECOND);
    bench.nothing();
}

#[test]
fn an_announcement_without_an_echo_does_not_keep_the_next_back() {
    let addresses = [plain_address(0), signalling(1), signalling(2)];
    let (mut bench, _, _) = Bench::accepted(&addresses);
    let (one, other) = (announced(&bench, 1), announced(&bench, 2));
    let mut told = Vec::new();
    told.push(bench.next());
    bench.nothing();
    for pause in [1, 2, 4, 600] {
        bench.pass(pause * SECOND);
        told.extend(bench.out.drain(..));
    }
    let times = |option| {
        let bears = |segment: &&mptcplab_wire::Segment| segment.options.mptcp.contains(option);
        told.iter().filter(bears).count()
    };
    assert_eq!((times(&one), times(&other)), (4, 4));
}

#[test]
fn an_address_that_has_gone_is_withdrawn_and_its_subflows_closed() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let data = bench.data(&first, 1, 1, 1, 1, 2);
    bench.inject(data);
    bench.next();
    bench.join(1, 6000, 1, false);
    bench.host.set_addresses(bench.now, &[plain_address(0)]);
    bench.flush();
    let removal = MptcpOption::RemoveAddress(AddressIds::new(&[1]).unwrap());
    let told = |segment: &mptcplab_wire::Segment| {
        segment.destination == first.peer && segment.options.mptcp.contains(&removal)
    };
    assert!(bench.out.iter().any(told), "{:?}", bench.out);
    let open = bench.host.subflows(id);
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].tcp.tuple.remote, first.peer);
}

#[test]
fn a_withdrawn_address_of_the_peer_loses_its_subflows() {
    let (mut bench, first, id) = Bench::accepted(&[plain_address(0), plain_address(1)]);
    let second = bench.join(1, 6000, 1, false);
    let removal = MptcpOption::RemoveAddress(AddressIds::new(&[1, 9]).unwrap());
    bench.inject(first.with(".", 1, 1, removal));
    let reset = bench.next();
    assert!(reset.flags.rst && reset.destination == second.peer);
    assert!(bench.has(|event| matches!(event, Event::AddressRemoved { address_id: 1, .. })));
    assert_eq!(bench.host.subflows(id).len(), 1);
    assert!(!bench.closed());
}

#[test]
fn a_returned_address_is_joined_from_at_once() {
    let subflow = LocalAddress {
        endpoint: Some(mptcplab_stack::EndpointFlags {
            subflow: true,
            ..Default::default()
        }),
        ..plain_address(1)
    };
    let (mut bench, _, _) = confirmed(&[plain_address(0), subflow]);
    let syn = bench.next();
    assert!(syn.flags.syn && syn.source.ip() == host_address(1));
    bench.host.set_addresses(bench.now, &[plain_address(0)]);
    bench.flush();
    bench.out.clear();
    bench.pass(MS);
    bench
        .host
        .set_addresses(bench.now, &[plain_address(0), subflow]);
    bench.flush();
    let syn = bench.next();
    assert!(syn.flags.syn && syn.source.ip() == host_address(1));
    assert!(matches!(
        only(&syn),
        MptcpOption::Join(Join::Syn { address_id: 1, .. })
    ));
}

#[test]
fn the_first_address_is_announced_again_with_its_id_when_it_is_back() {
    let all = [signalling(0), plain_address(1)];
    let (mut bench, first, _) = Bench::accepted(&all);
    let data = bench.data(&first, 1, 1, 1, 1, 2);
    bench.inject(data);
    bench.next();
    let second = bench.join(1, 6000, 1, false);
    bench.pass(SECOND);
    bench.out.clear();
    bench.host.set_addresses(bench.now, &all[1..]);
    bench.flush();
    let on_second = |bench: &mut Bench| {
        let mut out = std::mem::take(&mut bench.out);
        out.retain(|segment| segment.destination == second.peer);
        let options = out.iter().flat_map(|segment| segment.options.mptcp.clone());
        let is_dss = |option: &MptcpOption| matches!(option, MptcpOption::Dss(_));
        options.filter(|option| !is_dss(option)).collect::<Vec<_>>()
    };
    let removal = MptcpOption::RemoveAddress(AddressIds::new(&[0]).unwrap());
    assert_eq!(on_second(&mut bench), [removal]);
    // It may be lost, and nothing would tell.
    bench.pass(SECOND);
    assert_eq!(on_second(&mut bench), [removal, removal]);
    bench.pass(30 * SECOND);
    assert_eq!(on_second(&mut bench), []);
    bench.host.set_addresses(bench.now, &all);
    bench.flush();
    let option = announced(&bench, 0);
    assert_eq!(on_second(&mut bench), [option]);
    // Without an echo it is sent again.
    bench.pass(SECOND);
    assert_eq!(on_second(&mut bench), [option]);
    bench.inject(second.with(".", 1, 1, echo(option)));
    bench.pass(30 * SECOND);
    assert_eq!(on_second(&mut bench), []);
}

/// A client whose worker takes 10 µs, that has been told of an address.
fn told_with_worker() -> Bench {
    let times = MptcpConfig {
        worker_times: WorkerTimes {
            announcing_ns: &[10_000],
            joining_ns: &[10_000],
        },
        ..config()
    };
    let (mut bench, flow, id) = Bench::connected(times, &[plain_address(0)]);
    bench.write(id, 100);
    bench.next();
    bench.inject(flow.with(".", 1, 101, bench.dss(101, None, false)));
    bench.pass(20_000);
    let option = bench.add_address(1, peer_address(1));
    bench.inject(flow.with(".", 1, 101, option));
    bench
}

fn has_joined(bench: &Bench) -> bool {
    bench.out.iter().any(|segment| segment.flags.syn)
}

#[test]
fn a_worker_takes_its_time() {
    let mut bench = told_with_worker();
    bench.pass(9_999);
    assert!(!has_joined(&bench));
    bench.pass(1);
    assert!(has_joined(&bench));
}

#[test]
fn a_worker_waits_for_the_processor_and_takes_its_time_again() {
    let mut bench = told_with_worker();
    bench.host.keep_busy(bench.now + 50_000);
    bench.pass(59_999);
    assert!(!has_joined(&bench));
    bench.pass(1);
    assert!(has_joined(&bench));
}

#[test]
fn a_worker_waits_for_no_longer_than_packets_are_handled_at_once() {
    let mut bench = told_with_worker();
    let called = bench.now;
    while bench.now - called < MAX_SOFTIRQ_NS {
        assert!(!has_joined(&bench));
        bench.host.keep_busy(bench.now + 30_000);
        bench.pass(20_000);
    }
    bench.host.keep_busy(bench.now + 30_000);
    bench.pass(20_000);
    assert!(has_joined(&bench));
}
