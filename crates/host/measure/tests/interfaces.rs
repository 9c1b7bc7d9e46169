//! MPTCP of experiments on a host that has endpoints at other interfaces than theirs.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;

use mptcplab_linux::path_manager::{EndpointFlags, PathManager};
use mptcplab_measure::client::{HeldEndpoints, NewEndpoint, Plan, Protocol, Session, Wanted};
use mptcplab_measure::message::Role;
use mptcplab_measure::target::{Config, Identity, Target};
use mptcplab_testbed::{Hosts, inside};

/// Lets the kernel open subflows from these addresses, and at the other end take them.
fn let_the_kernel_open(endpoints: &[IpAddr]) {
    let of_names = fs::write("/proc/sys/net/mptcp/path_manager", "kernel");
    of_names
        .or_else(|_| fs::write("/proc/sys/net/mptcp/pm_type", "0"))
        .unwrap();
    let mut manager = PathManager::open().unwrap();
    manager.set_limits(4, 4).unwrap();
    let flags = EndpointFlags {
        subflow: true,
        ..EndpointFlags::default()
    };
    for address in endpoints {
        manager.add_endpoint(*address, flags).unwrap();
    }
}

/// Addresses here of the subflows of a connection that begins at `source`, in their order.
fn sources(session: &mut Session, source: IpAddr, target: IpAddr) -> Vec<IpAddr> {
    let plan = Plan {
        bytes: 0,
        longest_ms: 10_000,
        congestion_control: None,
        connections: vec![Wanted {
            source,
            device: None,
            target,
            protocol: Protocol::Mptcp,
            role: Role::Echo(20),
            interval_ms: 20,
            witness: false,
            fast_open: false,
        }],
    };
    let measured = session.run(&plan, u64::MAX, |_| true).unwrap();
    let [one] = &measured.connections[..] else {
        panic!("one connection")
    };
    assert!(one.probe.seen.mptcp, "{one:?}");
    let mut found = one.sources.clone();
    found.sort_unstable();
    found
}

fn rules() -> String {
    let output = Command::new("ip").args(["rule", "list"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn mptcp_keeps_off_endpoints_of_other_interfaces_while_they_are_held() {
    if !inside("mptcp_keeps_off_endpoints_of_other_interfaces_while_they_are_held") {
        return;
    }
    let hosts = Hosts::new(3);
    let own = [1, 2, 3].map(|link| hosts.client_address(link, false));
    let place = hosts.server_address(1, false);
    let identity = Identity::new(1).unwrap();
    let config = Config {
        listen: SocketAddr::new(place, 0),
        data_port: 0,
        rate_limit_bps: None,
        volume_limit_bytes: None,
    };
    let target = hosts.server.run(|| {
        let_the_kernel_open(&[]);
        Target::bind(&config, &identity).unwrap()
    });
    let target = target.unwrap();
    let port = target.address().unwrap().port();
    let data = SocketAddr::new(place, target.data_port());
    let (stop, stopped) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || target.run(stopped).unwrap());
    let measure = || {
        let_the_kernel_open(&own);
        let host = place.to_string();
        let mut session = Session::connect(&host, port, &identity.tokens[0], || true).unwrap();
        assert_eq!(sources(&mut session, own[0], place), own);
        let before = rules();
        for wanted in [&own[..2], &own[..1]] {
            let endpoints: Vec<_> = wanted
                .iter()
                .map(|address| NewEndpoint {
                    address: *address,
                    interface: 0,
                })
                .collect();
            let held = HeldEndpoints::hold(&endpoints, Some(data)).unwrap();
            let unused: Vec<_> = held.unused().collect();
            assert_eq!(unused, own[wanted.len()..]);
            assert_eq!(sources(&mut session, own[0], place), wanted);
        }
        assert_eq!(rules(), before);
        assert_eq!(sources(&mut session, own[0], place), own);
    };
    hosts.client.run(measure).unwrap();
    drop(stop);
    serving.join().unwrap();
}
