//! Several threads, watches and interruptions.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mptcplab_subflow::{
    Error, EventKind, Interrupt, Manager, Managers, Open, connection, subflow_ids, subflow_option,
};
use mptcplab_testbed::{Hosts, inside, ip};

/// An address of link 2 that no host has, so that no answer comes.
const NOBODY: &str = "10.0.2.77:80";

fn with_nobody() -> Hosts {
    let hosts = Hosts::new(2);
    ip(
        &hosts.client,
        "neigh add 10.0.2.77 lladdr 02:00:00:00:00:77 dev eth2",
    );
    hosts
}

fn from_second(hosts: &Hosts) -> Open {
    Open::from(SocketAddr::new(hosts.client_address(2, false), 0))
}

#[test]
fn who_waits_keeps_no_other_from_his_orders_and_can_be_interrupted() {
    if !inside("who_waits_keeps_no_other_from_his_orders_and_can_be_interrupted") {
        return;
    }
    let hosts = with_nobody();
    let listener = hosts.listen(false);
    let _server_events = hosts.server.run(Manager::direct).unwrap().unwrap();
    let (client, _server) = hosts.connect(&listener, false);
    let commands = || {
        let managers = Managers::direct().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let interrupt: Interrupt = Arc::new(move || flag.load(Ordering::Relaxed));
        let in_vain = Open {
            remote: Some(NOBODY.parse().unwrap()),
            timeout: Duration::from_secs(600),
            ..from_second(&hosts)
        };
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                managers.run(Some(interrupt), |manager| {
                    manager.open_subflow(&client, &in_vain)
                })
            });
            while connection(&client).unwrap().subflows.len() < 2 {
                thread::yield_now();
            }
            let opened = managers.run(None, |manager| {
                manager.open_subflow(&client, &from_second(&hosts))
            });
            assert!(subflow_ids(&client).unwrap().contains(&opened.unwrap()));
            assert!(!waiting.is_finished());
            stop.store(true, Ordering::Relaxed);
            assert_eq!(waiting.join().unwrap(), Err(Error::Interrupted));
        });
        assert_eq!(connection(&client).unwrap().subflows.len(), 2);
    };
    hosts.client.run(commands).unwrap();
}

#[test]
fn threads_that_open_at_the_same_time_get_ids_of_their_own() {
    if !inside("threads_that_open_at_the_same_time_get_ids_of_their_own") {
        return;
    }
    let hosts = Hosts::new(2);
    let listener = hosts.listen(false);
    let _server_events = hosts.server.run(Manager::direct).unwrap().unwrap();
    let (client, _server) = hosts.connect(&listener, false);
    // Threads outside of the namespace, too: commands are given where the first manager was made.
    let managers = hosts.client.run(Managers::direct).unwrap().unwrap();
    let mut ids = thread::scope(|scope| {
        let open = || {
            managers.run(None, |manager| {
                manager.open_subflow(&client, &from_second(&hosts))
            })
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        let ids = threads.into_iter().map(|thread| thread.join().unwrap());
        ids.collect::<Result<Vec<_>, _>>().unwrap()
    });
    ids.sort_unstable();
    assert_eq!(subflow_ids(&client).unwrap()[1..], ids);
}

#[test]
fn a_watched_connection_ends_when_its_socket_is_closed() {
    if !inside("a_watched_connection_ends_when_its_socket_is_closed") {
        return;
    }
    let hosts = Hosts::new(1);
    let listener = hosts.listen(false);
    let (client, mut server) = hosts.connect(&listener, false);
    let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
    let watch = hosts.client.run(|| manager.events(&client));
    let mut watch = watch.unwrap().unwrap();
    drop(client);
    assert_eq!(server.read(&mut [0]).unwrap(), 0);
    drop(server);
    let kinds: Vec<_> = (&mut watch).map(|event| event.unwrap().kind).collect();
    assert_eq!(kinds.last(), Some(&EventKind::Closed));
    assert!(watch.has_ended());
}

#[test]
fn anybody_is_told_the_kernels_own_structure_of_a_subflow() {
    if !inside("anybody_is_told_the_kernels_own_structure_of_a_subflow") {
        return;
    }
    let hosts = Hosts::new(1);
    let listener = hosts.listen(false);
    let (client, _server) = hosts.connect(&listener, false);
    let told = connection(&client).unwrap();
    let subflow = &told.subflows[0];
    let value = subflow_option(&client, subflow.id, libc::IPPROTO_TCP, libc::TCP_INFO);
    let value = value.unwrap().unwrap();
    // Linux 4.9 has 168 bytes; TCP_ESTABLISHED is 1.
    assert!(value.len() >= 168);
    assert_eq!(value[0], 1);
    let of_none = subflow_option(&client, 99, libc::IPPROTO_TCP, libc::TCP_INFO);
    assert_eq!(of_none, Err(Error::NoSuchSubflow { id: 99 }));
    let of_another = subflow_option(&client, subflow.id, libc::SOL_SOCKET, libc::SO_MARK);
    assert_eq!(of_another, Ok(None));
}
