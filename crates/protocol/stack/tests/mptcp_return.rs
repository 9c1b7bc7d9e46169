//! Subflows that are closed, and addresses that go and come back.

mod mptcp_world;

use mptcp_world::*;
use mptcplab_stack::Nanos;
use mptcplab_stack::{ConnectionId, EndpointFlags, Event, LocalAddress, Route, SubflowInfo};
use mptcplab_wire::option::MptcpOption;

/// Delays of the two paths of [`two_networks`].
const DELAYS: [Nanos; 2] = [10 * MS, 25 * MS];

/// Two networks with nothing between them, and both hosts in both: the client opens subflows from
/// each address to each address, as `client` says; the server announces its own.
fn two_networks(client: Option<EndpointFlags>) -> World {
    let paths = DELAYS.map(|delay| Path::new(delay, 20_000_000)).to_vec();
    let mut world = World::new(paths, generous());
    world.middlebox = Box::new(|_, segment| {
        let network = |of: std::net::SocketAddr| match of.ip() {
            std::net::IpAddr::V4(address) => address.octets()[2],
            std::net::IpAddr::V6(_) => unreachable!("the paths have addresses of IPv4"),
        };
        let passes = network(segment.source) == network(segment.destination);
        passes.then_some((0, segment)).into_iter().collect()
    });
    let signal = Some(EndpointFlags {
        signal: true,
        ..EndpointFlags::default()
    });
    for (host, endpoint) in [(CLIENT, client), (SERVER, signal)] {
        let local = |path| LocalAddress {
            address: address(host, path),
            mtu: 1500,
            endpoint,
        };
        world.set_addresses(host, vec![local(0), local(1)]);
    }
    world
}

fn fullmesh() -> Option<EndpointFlags> {
    Some(EndpointFlags {
        fullmesh: true,
        ..SUBFLOW
    })
}

/// Whether a subflow between the addresses of this path is established at the client.
fn is_joined(world: &World, path: usize) -> bool {
    let known = |event: &Event| match event {
        Event::SubflowEstablished { tuple, .. } => {
            tuple.local.ip() == address(CLIENT, path) && tuple.remote.ip() == address(SERVER, path)
        }
        _ => false,
    };
    world.count(CLIENT, known) > 0
}

/// Takes an address from these hosts for a second and gives it back. Gives when.
fn flap(world: &mut World, hosts: &[usize], path: usize) -> Nanos {
    let before = [CLIENT, SERVER].map(|host| world.addresses(host));
    for &host in hosts {
        let mut left = before[host].clone();
        left.retain(|local| local.address != address(host, path));
        world.set_addresses(host, left);
    }
    world.run_for(SECOND);
    for &host in hosts {
        world.events[host].clear();
        world.set_addresses(host, before[host].clone());
    }
    world.events[CLIENT].clear();
    world.now
}

/// A connection with a subflow in each network.
fn stands(world: &mut World) -> [ConnectionId; 2] {
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(1000));
    world.run_for(SECOND);
    assert!(is_joined(world, 0) && is_joined(world, 1));
    ids
}

#[test]
fn the_first_subflow_s_addresses_are_joined_again_as_soon_as_the_peer_is_told() {
    for hosts in [&[CLIENT, SERVER][..], &[SERVER]] {
        let mut world = two_networks(fullmesh());
        stands(&mut world);
        let back = flap(&mut world, hosts, 0);
        // ADD_ADDR by the other network; SYN and SYN/ACK.
        let least = DELAYS[1] + 2 * DELAYS[0];
        world.run_until(back + least);
        assert!(!is_joined(&world, 0));
        // The time that the packets take to be sent.
        world.run_until(back + least + MS);
        assert!(is_joined(&world, 0), "{hosts:?}");
        world.run_for(2 * DELAYS[1]);
        assert_eq!(world.counter(SERVER, "MPTcpExtAddAddrTx"), 2);
        assert_eq!(world.counter(SERVER, "MPTcpExtEchoAdd"), 2);
        assert_eq!(world.counter(CLIENT, "MPTcpExtAddAddrDrop"), 0);
    }
}

#[test]
fn an_address_that_only_the_client_lost_is_joined_from_without_an_announcement() {
    let mut world = two_networks(fullmesh());
    stands(&mut world);
    let back = flap(&mut world, &[CLIENT], 0);
    world.run_until(back + 2 * DELAYS[0] + MS);
    assert!(is_joined(&world, 0));
    assert_eq!(world.counter(SERVER, "MPTcpExtAddAddrTx"), 1);
}

#[test]
fn a_passive_client_joins_the_first_address_again_when_it_is_announced() {
    let mut world = two_networks(None);
    world.middlebox = Box::new(|_, segment| vec![(0, segment)]);
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(1000));
    world.run_for(SECOND);
    assert_eq!(world.subflows(CLIENT, ids[CLIENT]).len(), 2);
    let back = flap(&mut world, &[SERVER], 0);
    assert!(!is_joined(&world, 0));
    world.run_until(back + 5 * DELAYS[0] + MS);
    assert!(is_joined(&world, 0));
}

#[test]
fn a_passive_client_joins_from_the_address_that_its_routes_choose() {
    let mut world = two_networks(None);
    let route = |path| Route {
        network: address(SERVER, path),
        prefix_bits: 24,
        source: address(CLIENT, path),
    };
    world.hosts[CLIENT].set_routes(&[route(0), route(1)]);
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(1000));
    world.run_for(SECOND);
    assert!(is_joined(&world, 1));
    // The routes of a connection that stands follow those of the host.
    flap(&mut world, &[CLIENT, SERVER], 1);
    world.run_for(SECOND);
    assert!(is_joined(&world, 1));
    let wrong = Route {
        source: address(CLIENT, 0),
        ..route(1)
    };
    world.hosts[CLIENT].set_routes(&[route(0), wrong]);
    flap(&mut world, &[CLIENT, SERVER], 1);
    world.run_for(SECOND);
    assert!(!is_joined(&world, 1));
}

#[test]
fn a_withdrawal_may_be_lost_twice_and_ends_when_the_address_is_back() {
    let paths = vec![Path::new(10 * MS, 20_000_000); 2];
    let mut world = World::new(paths, generous());
    let mut lost = 0;
    world.middlebox = Box::new(move |_, segment| {
        let removal = |option: &MptcpOption| matches!(option, MptcpOption::RemoveAddress(_));
        if segment.options.mptcp.iter().any(removal) && lost < 2 {
            lost += 1;
            return vec![];
        }
        vec![(0, segment)]
    });
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(1000));
    world.run_for(SECOND);
    assert_eq!(world.subflows(SERVER, ids[SERVER]).len(), 2);
    let all = world.addresses(CLIENT);
    world.set_addresses(CLIENT, all[..1].to_vec());
    world.run_for(SECOND);
    assert_eq!(world.counter(SERVER, "MPTcpExtRmAddr"), 1);
    assert_eq!(world.subflows(SERVER, ids[SERVER]).len(), 1);
    // It is not told of what is back.
    world.set_addresses(CLIENT, all.clone());
    world.run_for(SECOND);
    world.set_addresses(CLIENT, all[..1].to_vec());
    world.run_for(MS);
    world.set_addresses(CLIENT, all);
    world.run_for(10 * SECOND);
    assert_eq!(world.counter(CLIENT, "MPTcpExtRmAddrTx"), 4);
    assert_eq!(world.subflows(SERVER, ids[SERVER]).len(), 2);
}

#[test]
fn a_returned_first_address_that_is_lost_on_its_way_is_announced_again() {
    let mut world = two_networks(fullmesh());
    stands(&mut world);
    let all = world.addresses(SERVER);
    world.set_addresses(SERVER, all[1..].to_vec());
    world.run_for(SECOND);
    world.events[CLIENT].clear();
    world.paths[1].dead = true;
    world.set_addresses(SERVER, all);
    world.run_for(500 * MS);
    world.paths[1].dead = false;
    assert!(!is_joined(&world, 0));
    // The repetition is due a second after the announcement.
    world.run_for(600 * MS);
    assert!(is_joined(&world, 0));
}

/// Sends from `from`, reading as data comes; gives what was read and the longest silence of the
/// reader while the world runs.
fn stream(
    world: &mut World,
    from: usize,
    ids: [ConnectionId; 2],
    data: &bytes::Bytes,
    written: &mut usize,
    until: Nanos,
) -> (Vec<u8>, Nanos) {
    let (mut received, mut silence, mut last) = (Vec::new(), 0, world.now);
    loop {
        *written += world.write(from, ids[from], data.slice(*written..));
        let new = world.read(1 - from, ids[1 - from]);
        if !new.is_empty() {
            silence = silence.max(world.now - last);
            last = world.now;
            received.extend(new);
        }
        if !world.step(until) {
            world.now = until;
            return (received, silence.max(until - last));
        }
    }
}

#[test]
fn what_a_lost_address_had_is_sent_by_others_before_new_data() {
    let paths = vec![
        Path::new(10 * MS, 20_000_000),
        Path::new(30 * MS, 10_000_000),
    ];
    let mut world = World::new(paths, generous());
    world.keep_sent = false;
    let ids = world.establish(mptcp());
    let data = pattern(20_000_000);
    let mut written = 0;
    let begin = world.now;
    let (mut received, _) = stream(
        &mut world,
        CLIENT,
        ids,
        &data,
        &mut written,
        begin + 2 * SECOND,
    );
    let retransmits = |world: &World| world.counter(CLIENT, "MPTcpExtMPTCPRetrans");
    let before = retransmits(&world);
    let first = world.addresses(CLIENT)[..1].to_vec();
    world.set_addresses(CLIENT, first);
    let (more, silence) = stream(
        &mut world,
        CLIENT,
        ids,
        &data,
        &mut written,
        begin + 3 * SECOND,
    );
    received.extend(more);
    assert!(data.starts_with(&received));
    // It waits behind what is in the send buffer of the subflow that is left.
    assert!(silence < 200 * MS, "{silence}");
    assert_eq!(retransmits(&world), before);
}

#[test]
fn closed_subflows_leave_what_they_have_not_sent_to_the_one_that_comes() {
    let paths = vec![Path::new(10 * MS, 20_000_000); 2];
    let mut world = World::new(paths, generous());
    let ids = world.establish(mptcp());
    world.write(CLIENT, ids[CLIENT], pattern(1000));
    world.run_for(SECOND);
    // So that the path manager opens no others.
    let mut locals = world.addresses(CLIENT);
    for local in &mut locals {
        local.endpoint = None;
    }
    world.set_addresses(CLIENT, locals);
    let data = pattern(16_000_000);
    let mut written = 0;
    let begin = world.now;
    let (mut received, _) = stream(
        &mut world,
        SERVER,
        ids,
        &data,
        &mut written,
        begin + 2 * SECOND,
    );
    let waiting = |subflow: &SubflowInfo| subflow.tcp.unsent_bytes > 0;
    assert!(world.subflows(SERVER, ids[SERVER]).iter().all(waiting));
    let subflows = world.subflows(CLIENT, ids[CLIENT]);
    assert_eq!(subflows.len(), 2);
    for subflow in subflows {
        assert!(world.hosts[CLIENT].close_subflow(world.now, ids[CLIENT], subflow.id));
    }
    world.flush();
    let closed_at = world.now;
    let (more, _) = stream(
        &mut world,
        SERVER,
        ids,
        &data,
        &mut written,
        begin + 20 * SECOND,
    );
    received.extend(more);
    assert!(received.len() < data.len());
    // The server sends no data once it has the FINs.
    let later = world.sent.iter().filter(|(at, from, _, segment)| {
        *from == SERVER && *at > closed_at + 20 * MS && !segment.payload.is_empty()
    });
    assert_eq!(later.count(), 0);
    for host in [CLIENT, SERVER] {
        let over = |event: &Event| matches!(event, Event::Closed { .. });
        assert_eq!(world.count(host, over), 0);
    }
    let remote = (address(SERVER, 0), PORT).into();
    let local = address(CLIENT, 0);
    assert!(world.hosts[CLIENT].open_subflow(world.now, ids[CLIENT], local, remote, false));
    world.flush();
    let (rest, _) = stream(
        &mut world,
        SERVER,
        ids,
        &data,
        &mut written,
        begin + 30 * SECOND,
    );
    received.extend(rest);
    assert!(received == data);
}
