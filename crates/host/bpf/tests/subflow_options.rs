//! Options of one subflow of a connection of this machine's kernel.

mod world;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::process::Command;

use libc::{
    IP_TOS, IPPROTO_IP, IPPROTO_TCP, SO_KEEPALIVE, SO_MARK, SO_MAX_PACING_RATE, SOL_SOCKET,
    TCP_CONGESTION, TCP_KEEPIDLE, TCP_MAXSEG,
};
use mptcplab_bpf::{Error, SubflowOptions};
use mptcplab_linux::socket;
use socket2::{Protocol, Socket};
use world::{FIRST, alone, carry, connection, ip, join, loaded, subflows};

const CAP_NET_ADMIN: u32 = 12;

/// Leaves the calling thread no capability but `CAP_NET_ADMIN`, as a broker has it.
fn drop_capabilities() {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let kept = 1 << CAP_NET_ADMIN;
    // Effective, permitted, inheritable: the low halves, then the high ones.
    let sets: [u32; 6] = [kept, kept, 0, 0, 0, 0];
    // SAFETY: the structures are those of capset(2).
    let status = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    assert_eq!(status, 0, "{}", io::Error::last_os_error());
}

fn number(value: &[u8]) -> i32 {
    i32::from_ne_bytes(value.try_into().unwrap())
}

/// Token of a connection, and the ids of its subflows.
fn named(socket: &impl AsFd) -> (u32, Vec<u32>) {
    let found = socket::connection(socket).unwrap();
    let ids = found.subflows.iter().map(|subflow| subflow.id.unwrap());
    (found.info.token.unwrap(), ids.collect())
}

fn set_mark(options: &mut SubflowOptions, (token, id): (u32, u32), mark: i32) -> Result<(), Error> {
    options.set(token, id, SOL_SOCKET, SO_MARK, &mark.to_ne_bytes())
}

/// The marks of all TCP sockets that are not closed, and their local ends.
fn marks() -> Vec<(String, String)> {
    let output = Command::new("ss").args(["-Htane"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mark = words.iter().find_map(|word| word.strip_prefix("fwmark:"));
        if let Some(mark) = mark {
            found.push((words[3].to_owned(), mark.to_owned()));
        }
    }
    found
}

#[test]
fn an_option_is_set_on_one_subflow_alone() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        drop_capabilities();
        let (client, server, _listener) = connection(Protocol::MPTCP, "reno");
        join(&client, &server);
        let (token, ids) = named(&client);
        let [first, second] = ids[..] else {
            panic!("two subflows")
        };
        let numbers = [
            (SOL_SOCKET, SO_MARK, 77),
            (SOL_SOCKET, SO_KEEPALIVE, 1),
            (SOL_SOCKET, SO_MAX_PACING_RATE, 1_000_000),
            (IPPROTO_IP, IP_TOS, 0x88),
            (IPPROTO_TCP, TCP_KEEPIDLE, 1234),
        ];
        for (level, option, value) in numbers {
            let get = |options: &mut SubflowOptions, of: u32| {
                number(&options.get(token, of, level, option, 4).unwrap())
            };
            let before = get(&mut options, first);
            assert_ne!(before, value);
            let bytes = value.to_ne_bytes();
            options.set(token, second, level, option, &bytes).unwrap();
            assert_eq!(get(&mut options, second), value);
            assert_eq!(get(&mut options, first), before);
        }
        // Taken, though it says nothing to a connection that stands.
        options
            .set(
                token,
                second,
                IPPROTO_TCP,
                TCP_MAXSEG,
                &1000_i32.to_ne_bytes(),
            )
            .unwrap();
        options
            .set(token, second, IPPROTO_TCP, TCP_CONGESTION, b"cubic")
            .unwrap();
        let mut name = |of: u32| {
            let name = options.get(token, of, IPPROTO_TCP, TCP_CONGESTION, 16);
            String::from_utf8(name.unwrap()).unwrap()
        };
        assert_eq!(name(first).trim_end_matches('\0'), "reno");
        assert_eq!(name(second).trim_end_matches('\0'), "cubic");
        let controls = subflows().into_iter().map(|subflow| subflow.control);
        assert_eq!(controls.collect::<Vec<_>>(), ["reno", "cubic"]);
        carry(&client, &server, 1_000_000);
    });
}

#[test]
fn of_two_sockets_with_the_same_addresses_the_one_that_is_named_is_meant() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        // Both wait for an answer: the devices lead nowhere.
        let opened = [("one", 1), ("two", 2)].map(|(device, table)| {
            ip(&format!("tuntap add dev {device} mode tun"));
            ip(&format!("link set {device} up"));
            ip(&format!(
                "route add 192.0.2.0/24 dev {device} metric {table}"
            ));
            let socket = world::socket(Protocol::MPTCP, "reno");
            socket.bind_device(Some(device.as_bytes())).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
                .bind(&SocketAddr::from((FIRST, 5000)).into())
                .unwrap();
            let target = SocketAddr::from(([192, 0, 2, 1], 5001));
            let error = socket.connect(&target.into()).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EINPROGRESS));
            socket
        });
        let ends = |socket: &Socket| {
            let subflow = &socket::connection(socket).unwrap().subflows[0];
            (subflow.local, subflow.remote)
        };
        assert_eq!(ends(&opened[0]), ends(&opened[1]));
        for (socket, (device, mark)) in opened.iter().zip([("one", 7), ("two", 8)]) {
            let (token, ids) = named(socket);
            let others = marks();
            set_mark(&mut options, (token, ids[0]), mark).unwrap();
            let mut all = marks();
            all.retain(|one| !others.contains(one));
            let end = format!("10.9.0.1%{device}:5000");
            assert_eq!(all, [(end, format!("0x{mark:x}"))]);
        }
    });
}

#[test]
fn sockets_of_another_namespace_are_out_of_reach() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        let (client, _server, _listener) = connection(Protocol::MPTCP, "reno");
        let (token, ids) = named(&client);
        alone(move || {
            let missed = set_mark(&mut options, (token, ids[0]), 7);
            assert!(matches!(missed, Err(Error::NoSuchSubflow { .. })));
        });
        assert_eq!(marks(), []);
    });
}

#[test]
fn errors_name_what_is_missing() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        let (client, _server, _listener) = connection(Protocol::MPTCP, "reno");
        let (token, ids) = named(&client);
        let tcp = connection(Protocol::TCP, "reno");
        let wrong = [
            (token ^ 1, ids[0]),
            (token, ids[0] + 1),
            (0, ids[0]),
            (0, 0),
        ];
        for (token, id) in wrong {
            match set_mark(&mut options, (token, id), 1) {
                Err(Error::NoSuchSubflow { token: of, id: no }) => {
                    assert_eq!((of, no), (token, id))
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(marks(), []);
        drop(tcp);
        let mut refused = |option, value: &[u8]| {
            let result = options.set(token, ids[0], IPPROTO_TCP, option, value);
            match result {
                Err(Error::Option { error, .. }) => error.raw_os_error().unwrap(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(refused(9999, &[0; 4]), libc::EINVAL);
        assert_eq!(refused(TCP_MAXSEG, &1_i32.to_ne_bytes()), libc::EINVAL);
        assert_eq!(refused(TCP_CONGESTION, b"none-such"), libc::ENOENT);
        for length in [0, 257] {
            let result = options.get(token, ids[0], SOL_SOCKET, SO_MARK, length);
            assert!(matches!(result, Err(Error::Length(_))));
        }
        drop(client);
    });
}
