//! Commands that are not carried out, and why.

mod stage;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mptcplab_subflow::{Error, Manager, Open, connection, subflow_ids};
use mptcplab_testbed::{Hosts, inside, ip};
use stage::{Stage, any_port, from};

/// Leaves the calling thread no capability.
fn drop_capabilities() {
    const VERSION_3: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION_3, 0];
    let none = [0_u32; 6];
    // SAFETY: the structures are those of capset(2).
    let status = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn what_cannot_be_opened_fails_with_its_reason() {
    if !inside("what_cannot_be_opened_fails_with_its_reason") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let (hosts, client) = (&stage.hosts, &stage.client);
    let manager = &mut stage.client_manager;
    let local = any_port(hosts.client_address(2, false));

    let foreign: SocketAddr = "10.9.9.9:0".parse().unwrap();
    let error = manager
        .open_subflow(client, &Open::from(foreign))
        .unwrap_err();
    assert_eq!(error, Error::NotLocal { address: foreign });

    let open = Open {
        interface: Some("wlan7".to_owned()),
        ..Open::from(local)
    };
    let error = manager.open_subflow(client, &open).unwrap_err();
    assert_eq!(
        error,
        Error::NoInterface {
            name: "wlan7".to_owned()
        }
    );

    let remote: SocketAddr = "[fd00:2::1]:80".parse().unwrap();
    let open = Open {
        remote: Some(remote),
        ..Open::from(local)
    };
    let error = manager.open_subflow(client, &open).unwrap_err();
    assert_eq!(error, Error::FamiliesDiffer { local, remote });

    let remote: SocketAddr = "192.0.2.1:80".parse().unwrap();
    let open = Open {
        remote: Some(remote),
        ..Open::from(local)
    };
    let error = manager.open_subflow(client, &open).unwrap_err();
    assert_eq!(error, Error::NoRoute { local, remote });

    // No socket listens on that port.
    let remote = SocketAddr::new(hosts.server_address(2, false), 9);
    let open = Open {
        remote: Some(remote),
        ..Open::from(local)
    };
    let error = manager.open_subflow(client, &open).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");

    // The path loses everything.
    ip(&hosts.server, "link set eth2 down");
    let open = Open {
        timeout: Duration::from_millis(300),
        ..Open::from(local)
    };
    let error = manager.open_subflow(client, &open).unwrap_err();
    assert!(
        matches!(error, Error::TimedOut { .. } | Error::NoRoute { .. }),
        "{error}"
    );
    assert_eq!(subflow_ids(client).unwrap().len(), 1);
    assert_eq!(connection(client).unwrap().subflows.len(), 1);
}

#[test]
fn nothing_joins_a_connection_that_is_being_closed() {
    if !inside("nothing_joins_a_connection_that_is_being_closed") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let (hosts, client) = (&stage.hosts, &stage.client);
    let manager = &mut stage.client_manager;
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let open = from(hosts, 2);
    assert_eq!(manager.open_subflow(client, &open), Err(Error::Closing));
}

#[test]
fn a_connection_has_its_limit() {
    if !inside("a_connection_has_its_limit") {
        return;
    }
    let mut stage = Stage::new(1, false);
    let (hosts, client) = (&stage.hosts, &stage.client);
    let manager = &mut stage.client_manager;
    let open = || {
        let open = from(hosts, 1);
        for _ in 0..254 {
            manager.open_subflow(client, &open).unwrap();
        }
        let error = manager.open_subflow(client, &open);
        assert_eq!(error, Err(Error::LimitReached { limit: 255 }));
    };
    hosts.client.run(open).unwrap();
}

#[test]
fn commands_about_other_sockets_are_refused() {
    if !inside("commands_about_other_sockets_are_refused") {
        return;
    }
    let mut stage = Stage::new(1, false);
    let (manager, client) = (&mut stage.server_manager, &stage.client);
    assert_eq!(
        manager.close_subflow(client, 0),
        Err(Error::ForeignNamespace)
    );
    assert_eq!(
        manager.close_subflow(&stage.listener, 0),
        Err(Error::NotConnected)
    );
    let plain = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    assert_eq!(subflow_ids(&plain), Err(Error::NotMptcp));
}

#[test]
fn a_connection_under_the_kernels_path_manager_is_known() {
    if !inside("a_connection_under_the_kernels_path_manager_is_known") {
        return;
    }
    let hosts = Hosts::new(2);
    let kernel = || {
        let set =
            |name: &str, value: &str| std::fs::write(format!("/proc/sys/net/mptcp/{name}"), value);
        set("path_manager", "kernel")
            .or_else(|_| set("pm_type", "0"))
            .unwrap();
    };
    hosts.client.run(kernel).unwrap();
    let listener = hosts.listen(false);
    let (client, _server) = hosts.connect(&listener, false);
    let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
    let open = from(&hosts, 2);
    assert_eq!(
        manager.open_subflow(&client, &open),
        Err(Error::KernelPathManager)
    );
    let initial = subflow_ids(&client).unwrap()[0];
    assert_eq!(
        manager.close_subflow(&client, initial),
        Err(Error::KernelPathManager)
    );
    assert_eq!(
        manager.set_backup(&client, initial, true),
        Err(Error::KernelPathManager)
    );
}

#[test]
fn the_initial_address_is_not_announced_while_others_were_opened_from_it() {
    if !inside("the_initial_address_is_not_announced_while_others_were_opened_from_it") {
        return;
    }
    let mut stage = Stage::new(1, false);
    let address = any_port(stage.hosts.client_address(1, false));
    let (manager, client) = (&mut stage.client_manager, &stage.client);
    let second = manager.open_subflow(client, &Open::from(address)).unwrap();
    let error = manager.announce(client, address);
    assert_eq!(error, Err(Error::AlreadyKnown { address }));
    // The fix that the error names.
    manager.close_subflow(client, second).unwrap();
    manager.announce(client, address).unwrap();
}

#[test]
fn a_subflow_that_has_not_joined_is_none_whose_priority_can_be_changed() {
    if !inside("a_subflow_that_has_not_joined_is_none_whose_priority_can_be_changed") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let nobody = "neigh add 10.0.2.77 lladdr 02:00:00:00:00:77 dev eth2";
    ip(&stage.hosts.client, nobody);
    let in_vain = Open {
        remote: Some("10.0.2.77:80".parse().unwrap()),
        timeout: Duration::from_secs(600),
        ..from(&stage.hosts, 2)
    };
    let mut manager = stage.hosts.client.run(Manager::direct).unwrap().unwrap();
    let (client, waiter) = (&stage.client, &mut stage.client_manager);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    waiter.interruptible(Some(Arc::new(move || flag.load(Ordering::Relaxed))));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| waiter.open_subflow(client, &in_vain));
        let opening = loop {
            match &connection(client).unwrap().subflows[..] {
                [_, opening] => break opening.id,
                _ => thread::yield_now(),
            }
        };
        let error = manager.set_backup(client, opening, true);
        assert_eq!(error, Err(Error::NoSuchSubflow { id: opening }));
        assert!(!subflow_ids(client).unwrap().contains(&opening));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(waiting.join().unwrap(), Err(Error::Interrupted));
    });
}

#[test]
fn who_has_lost_his_privilege_is_told_what_to_do() {
    if !inside("who_has_lost_his_privilege_is_told_what_to_do") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let address = any_port(stage.hosts.client_address(2, false));
    let (manager, client) = (&mut stage.client_manager, &stage.client);
    let initial = subflow_ids(client).unwrap()[0];
    let announced = manager.announce(client, address).unwrap();
    drop_capabilities();
    let refused = [
        manager.open_subflow(client, &Open::from(address)).map(drop),
        manager.set_backup(client, initial, true),
        manager.close_subflow(client, initial),
        manager.announce(client, address).map(drop),
        manager.withdraw(client, announced),
    ];
    for error in refused {
        assert_eq!(error, Err(Error::NotPrivileged));
    }
    assert!(Error::NotPrivileged.to_string().contains("CAP_NET_ADMIN"));
}

#[test]
fn what_is_no_hosts_address_is_neither_opened_from_nor_announced() {
    if !inside("what_is_no_hosts_address_is_neither_opened_from_nor_announced") {
        return;
    }
    let mut stage = Stage::new(2, false);
    let (manager, client) = (&mut stage.client_manager, &stage.client);
    for address in ["0.0.0.0:0", "224.0.0.1:0", "255.255.255.255:0", "[::]:0"] {
        let address = address.parse().unwrap();
        let refused = Err(Error::NotLocal { address });
        assert_eq!(
            manager.open_subflow(client, &Open::from(address)),
            refused.clone()
        );
        assert_eq!(manager.announce(client, address), refused.map(|_| 0));
    }
    assert_eq!(subflow_ids(client).unwrap().len(), 1);
}

#[test]
fn a_file_is_no_socket_of_mptcp() {
    let file = std::fs::File::open("/dev/null").unwrap();
    assert_eq!(subflow_ids(&file), Err(Error::NotMptcp));
}
