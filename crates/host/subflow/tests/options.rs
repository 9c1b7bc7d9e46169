//! Options of single subflows, set by the process itself.

use std::net::SocketAddr;

use libc::{IPPROTO_TCP, SO_MARK, SOL_SOCKET, TCP_CONGESTION, TCP_KEEPIDLE};
use mptcplab_linux::dump::Dumper;
use mptcplab_linux::sock_diag::tcp_sockets;
use mptcplab_subflow::options::Options;
use mptcplab_subflow::{Error, Manager, Managers, Open, subflow_tuple};
use mptcplab_testbed::{Hosts, inside, inside_as_root};

fn from_second(hosts: &Hosts) -> Open {
    Open::from(SocketAddr::new(hosts.client_address(2, false), 0))
}

/// False, and why, where the kernel or the build has no BPF.
fn has_bpf(test: &str) -> bool {
    let lacks = Options::load().err();
    if let Some(error) = &lacks {
        println!("skipped {test}: {error}");
    }
    lacks.is_none()
}

/// Congestion controls of the calling thread's namespace by the addresses of their sockets, as the
/// kernel tells others than their owner.
fn controls() -> Vec<(SocketAddr, String)> {
    let mut found = Vec::new();
    let mut sockets = Dumper::open(libc::NETLINK_SOCK_DIAG).unwrap();
    tcp_sockets(&mut sockets, |socket| {
        found.push((socket.local, socket.congestion_control.unwrap()));
    })
    .unwrap();
    found.sort();
    found
}

#[test]
fn root_sets_an_option_of_one_subflow_without_a_broker() {
    const TEST: &str = "root_sets_an_option_of_one_subflow_without_a_broker";
    if !inside_as_root(TEST) || !has_bpf(TEST) {
        return;
    }
    let hosts = Hosts::new(2);
    let listener = hosts.listen(false);
    let _server_events = hosts.server.run(Manager::direct).unwrap().unwrap();
    let (client, _server) = hosts.connect(&listener, false);
    let commands = || {
        let mut manager = Manager::direct().unwrap();
        let second = manager.open_subflow(&client, &from_second(&hosts)).unwrap();
        let first = second - 1;
        manager
            .setsockopt(&client, second, IPPROTO_TCP, TCP_CONGESTION, b"cubic")
            .unwrap();
        let ends = [first, second].map(|id| subflow_tuple(&client, id).unwrap().local);
        let expected = [(ends[0], "reno".to_owned()), (ends[1], "cubic".to_owned())];
        assert_eq!(controls(), expected);
        let mut name = |id| {
            let name = manager.getsockopt(&client, id, IPPROTO_TCP, TCP_CONGESTION);
            String::from_utf8(name.unwrap()).unwrap()
        };
        assert_eq!(name(first).trim_end_matches('\0'), "reno");
        assert_eq!(name(second).trim_end_matches('\0'), "cubic");

        let idle = 1234_i32.to_ne_bytes();
        manager
            .setsockopt(&client, second, IPPROTO_TCP, TCP_KEEPIDLE, &idle)
            .unwrap();
        let mut read = |id| manager.getsockopt(&client, id, IPPROTO_TCP, TCP_KEEPIDLE);
        assert_eq!(read(second).unwrap(), idle);
        assert_ne!(read(first).unwrap(), idle);

        let of_none = manager.setsockopt(&client, 99, SOL_SOCKET, SO_MARK, &idle);
        assert_eq!(of_none, Err(Error::NoSuchSubflow { id: 99 }));
        let unknown = manager.setsockopt(&client, second, IPPROTO_TCP, 9999, &idle);
        assert!(matches!(
            unknown,
            Err(Error::OptionRefused { option: 9999, .. })
        ));
        let nothing = manager.setsockopt(&client, second, SOL_SOCKET, SO_MARK, &[]);
        assert!(matches!(nothing, Err(Error::OptionRefused { .. })));
    };
    hosts.client.run(commands).unwrap();
}

#[test]
fn options_are_set_in_the_namespace_of_the_manager_from_any_thread() {
    const TEST: &str = "options_are_set_in_the_namespace_of_the_manager_from_any_thread";
    if !inside_as_root(TEST) || !has_bpf(TEST) {
        return;
    }
    let hosts = Hosts::new(1);
    let listener = hosts.listen(false);
    let (client, server) = hosts.connect(&listener, false);
    let managers = hosts.client.run(Managers::direct).unwrap().unwrap();
    let set = |socket, value: i32| {
        managers.run(None, |manager| {
            manager.setsockopt(socket, 1, SOL_SOCKET, SO_MARK, &value.to_ne_bytes())
        })
    };
    set(&client, 7).unwrap();
    set(&client, 8).unwrap();
    let mark = managers.run(None, |it| it.getsockopt(&client, 1, SOL_SOCKET, SO_MARK));
    assert_eq!(mark.unwrap(), 8_i32.to_ne_bytes());
    assert_eq!(set(&server, 9), Err(Error::ForeignNamespace));
}

#[test]
fn who_may_not_load_bpf_is_told_what_to_do() {
    if !inside("who_may_not_load_bpf_is_told_what_to_do") {
        return;
    }
    let hosts = Hosts::new(1);
    let listener = hosts.listen(false);
    let (client, _server) = hosts.connect(&listener, false);
    let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
    let Err(error) = manager.setsockopt(&client, 1, SOL_SOCKET, SO_MARK, &7_i32.to_ne_bytes())
    else {
        panic!("root of a user namespace may not load BPF");
    };
    let Error::NeedsBpf { reason } = &error else {
        panic!("{error}");
    };
    let says = ["run as root", "mptcplab broker"];
    let lacks = ["built without BPF", "libbpf.so.1", "/sys/kernel/btf"];
    assert!(
        says.iter().all(|says| reason.contains(says))
            || lacks.iter().any(|lacks| reason.contains(lacks)),
        "{reason}"
    );
    let read = manager.getsockopt(&client, 1, SOL_SOCKET, SO_MARK);
    assert_eq!(read, Err(error));
}
