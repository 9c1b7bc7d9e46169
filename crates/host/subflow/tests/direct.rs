//! Commands given to the running kernel by the process itself.

mod stage;

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mptcplab_subflow::{Error, EventKind, Manager, Open, connection, subflow_ids, subflow_tuple};
use mptcplab_testbed::{Hosts, inside};
use stage::{Stage, any_port, from};

/// Opens a subflow from every address, steers them, and closes all but the last.
fn opens_steers_and_closes(six: bool) {
    let mut stage = Stage::new(3, six);
    let (hosts, mut client, mut server) = (&stage.hosts, &stage.client, &stage.server);
    let manager = &mut stage.client_manager;
    hosts
        .client
        .run(|| {
            let mut watch = manager.events(client).unwrap();
            let mut next = || {
                let event = watch.next_within(Some(Duration::from_secs(5)));
                event.unwrap().map(|event| (event.kind, event.subflow))
            };
            let (opened, closed) = (EventKind::SubflowEstablished, EventKind::SubflowClosed);
            let initial = subflow_ids(client).unwrap();
            assert_eq!(initial.len(), 1);
            let from = |link| Open::from(any_port(hosts.client_address(link, six)));
            let second = manager.open_subflow(client, &from(2)).unwrap();
            assert_eq!(next(), Some((opened, Some(second))));
            let backup = Open {
                backup: true,
                interface: Some("eth3".to_owned()),
                ..from(3)
            };
            let third = manager.open_subflow(client, &backup).unwrap();
            assert_eq!(next(), Some((opened, Some(third))));
            assert_eq!(subflow_ids(client).unwrap(), [initial[0], second, third]);
            let tuple = subflow_tuple(client, second).unwrap();
            assert_eq!(tuple.local.ip(), hosts.client_address(2, six));
            assert_eq!(tuple.remote, client.peer_addr().unwrap());
            assert_eq!((tuple.local_id, tuple.remote_id), (Some(1), Some(0)));
            assert_eq!(
                (tuple.state, tuple.backup),
                (Some("ESTABLISHED"), Some(false))
            );
            assert_eq!(subflow_tuple(client, third).unwrap().backup, Some(true));
            manager.set_backup(client, third, false).unwrap();
            assert_eq!(subflow_tuple(client, third).unwrap().backup, Some(false));
            manager.set_backup(client, second, true).unwrap();
            assert_eq!(subflow_tuple(client, second).unwrap().backup, Some(true));

            manager.close_subflow(client, initial[0]).unwrap();
            assert_eq!(next(), Some((closed, Some(initial[0]))));
            manager.close_subflow(client, second).unwrap();
            assert_eq!(next(), Some((closed, Some(second))));
            assert_eq!(subflow_ids(client).unwrap(), [third]);
            client.write_all(b"over the third").unwrap();
            let mut heard = [0; 14];
            server.read_exact(&mut heard).unwrap();
            assert_eq!(&heard, b"over the third");

            let gone = manager.close_subflow(client, second);
            assert_eq!(gone, Err(Error::NoSuchSubflow { id: second }));
        })
        .unwrap();
}

#[test]
fn subflows_of_ipv4_are_opened_steered_and_closed() {
    if inside("subflows_of_ipv4_are_opened_steered_and_closed") {
        opens_steers_and_closes(false);
    }
}

#[test]
fn subflows_of_ipv6_are_opened_steered_and_closed() {
    if inside("subflows_of_ipv6_are_opened_steered_and_closed") {
        opens_steers_and_closes(true);
    }
}

#[test]
fn a_hundred_subflows_on_one_pair_of_addresses_have_ids_of_their_own() {
    if !inside("a_hundred_subflows_on_one_pair_of_addresses_have_ids_of_their_own") {
        return;
    }
    let mut stage = Stage::new(1, false);
    let (hosts, client) = (&stage.hosts, &stage.client);
    let manager = &mut stage.client_manager;
    let open = || {
        let open = from(hosts, 1);
        let mut ids = subflow_ids(client).unwrap();
        for _ in 0..100 {
            ids.push(manager.open_subflow(client, &open).unwrap());
        }
        assert_eq!(subflow_ids(client).unwrap(), ids);
        assert!(ids.is_sorted_by(|a, b| a < b));
    };
    hosts.client.run(open).unwrap();
}

#[test]
fn an_address_keeps_its_id_while_it_has_a_subflow() {
    if !inside("an_address_keeps_its_id_while_it_has_a_subflow") {
        return;
    }
    let mut stage = Stage::new(3, false);
    let (hosts, client) = (&stage.hosts, &stage.client);
    let manager = &mut stage.client_manager;
    let commands = || {
        let mut open = |link| {
            let open = from(hosts, link);
            let id = manager.open_subflow(client, &open).unwrap();
            (id, subflow_tuple(client, id).unwrap().local_id)
        };
        let ((first, first_address), (_, second_address)) = (open(2), open(2));
        assert_eq!((first_address, second_address), (Some(1), Some(1)));
        Manager::direct()
            .unwrap()
            .close_subflow(client, first)
            .unwrap();
        assert_eq!(open(3).1, Some(2));
        assert_eq!(open(2).1, Some(1));
    };
    hosts.client.run(commands).unwrap();
}

#[test]
fn several_who_open_subflows_at_once_get_one_each() {
    if !inside("several_who_open_subflows_at_once_get_one_each") {
        return;
    }
    const LINKS: u8 = 9;
    let stage = Stage::new(LINKS, false);
    let (hosts, client) = (&stage.hosts, &stage.client);
    let mut ids: Vec<u32> = std::thread::scope(|scope| {
        let open = |link| {
            scope.spawn(move || {
                let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
                let open = from(hosts, link);
                manager.open_subflow(client, &open).unwrap()
            })
        };
        let opening: Vec<_> = (2..=LINKS).map(open).collect();
        let opened = opening.into_iter().map(|one| one.join().unwrap());
        opened.collect()
    });
    ids.sort_unstable();
    assert_eq!(subflow_ids(client).unwrap()[1..], ids);
}

#[test]
fn an_address_is_announced_and_withdrawn() {
    if !inside("an_address_is_announced_and_withdrawn") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let (hosts, client, server) = (&stage.hosts, &stage.client, &stage.server);
    let client_manager = &mut stage.client_manager;
    let server_manager = &mut stage.server_manager;
    let mut watch = hosts
        .client
        .run(|| client_manager.events(client))
        .unwrap()
        .unwrap();
    let offered = any_port(hosts.server_address(2, false));
    let id = server_manager.announce(server, offered).unwrap();
    let second = Some(Duration::from_secs(5));
    let event = watch.next_within(second).unwrap().unwrap();
    assert_eq!(event.kind, EventKind::AddressAnnounced);
    assert_eq!(event.remote.map(|remote| remote.ip()), Some(offered.ip()));
    assert_eq!(event.remote_id, Some(id));

    let open = Open {
        remote: Some(offered),
        ..from(hosts, 2)
    };
    let subflow = client_manager.open_subflow(client, &open).unwrap();
    let remote = connection(client).unwrap().subflow(subflow).unwrap().remote;
    assert_eq!(remote.ip(), offered.ip());
    assert_eq!(remote.port(), client.peer_addr().unwrap().port());
    let event = watch.next_within(second).unwrap().unwrap();
    assert_eq!(
        (event.kind, event.subflow),
        (EventKind::SubflowEstablished, Some(subflow))
    );

    server_manager.withdraw(server, id).unwrap();
    let event = watch.next_within(second).unwrap().unwrap();
    assert_eq!(
        (event.kind, event.remote_id),
        (EventKind::AddressRemoved, Some(id))
    );
    let unknown = server_manager.withdraw(server, 77);
    assert_eq!(unknown, Err(Error::NoSuchAddress { id: 77 }));
}

#[test]
fn a_subflow_that_is_ordered_at_once_waits_until_the_peer_has_confirmed() {
    if !inside("a_subflow_that_is_ordered_at_once_waits_until_the_peer_has_confirmed") {
        return;
    }
    let hosts = Hosts::new(2);
    let (listener, port) = hosts.listen(false);
    let _server_events = hosts.server.run(Manager::direct).unwrap().unwrap();
    let target = SocketAddr::new(hosts.server_address(1, false), port);
    let mut client = hosts.client.run(|| hosts.dial(target)).unwrap();
    let (_server, _) = listener.accept().unwrap();
    let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
    let open = Open {
        timeout: Duration::from_millis(100),
        ..from(&hosts, 2)
    };
    // Nothing was said yet: the client cannot know that its last acknowledgement has arrived.
    let error = manager.open_subflow(&client, &open);
    assert_eq!(error, Err(Error::NotEstablished));
    let open = Open {
        timeout: Duration::from_secs(10),
        ..open
    };
    let own = client.try_clone().unwrap();
    let (said, opened) = std::thread::scope(|scope| {
        let opened = scope.spawn(|| manager.open_subflow(&own, &open));
        std::thread::sleep(Duration::from_millis(50));
        (client.write_all(b"x"), opened.join().unwrap())
    });
    said.unwrap();
    assert_eq!(subflow_ids(&client).unwrap().last(), Some(&opened.unwrap()));
}

#[test]
fn subflows_of_sockets_of_both_families_close() {
    if !inside("subflows_of_sockets_of_both_families_close") {
        return;
    }
    let hosts = Hosts::new(2);
    let (listener, port) = hosts.listen(true);
    let mut server_manager = hosts.server.run(Manager::direct).unwrap().unwrap();
    let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
    let mapped = |ip: IpAddr, port| match ip {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), port),
        IpAddr::V6(_) => unreachable!("the address is of IPv4"),
    };
    let target = mapped(hosts.server_address(1, false), port);
    let (client, server) = hosts.connect_to(&listener, target);
    let open = Open::from(mapped(hosts.client_address(2, false), 0));
    let second = manager.open_subflow(&client, &open).unwrap();
    let ids = subflow_ids(&server).unwrap();
    assert_eq!(ids.len(), 2);

    server_manager.close_subflow(&server, ids[1]).unwrap();
    assert_eq!(subflow_ids(&server).unwrap(), ids[..1]);
    let third = manager.open_subflow(&client, &open).unwrap();
    let initial = subflow_ids(&client).unwrap()[0];
    assert!(initial < second);
    manager.close_subflow(&client, initial).unwrap();
    assert_eq!(subflow_ids(&client).unwrap().last(), Some(&third));
    assert!(!subflow_ids(&client).unwrap().contains(&initial));
}

#[test]
fn events_are_those_of_the_managers_namespace() {
    if !inside("events_are_those_of_the_managers_namespace") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let client = &stage.client;
    let mut watch = stage.client_manager.events(client).unwrap();
    let open = from(&stage.hosts, 2);
    let opened = stage.client_manager.open_subflow(client, &open).unwrap();
    let event = watch.next_within(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(event.and_then(|event| event.subflow), Some(opened));
}
