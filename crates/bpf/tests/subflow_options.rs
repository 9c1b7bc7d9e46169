//! Options of one subflow of a connection of this machine's kernel.

mod world;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

use libc::{
    IP_TOS, IPPROTO_IP, IPPROTO_TCP, SO_KEEPALIVE, SO_MARK, SO_MAX_PACING_RATE, SOL_SOCKET,
    TCP_CONGESTION, TCP_KEEPIDLE, TCP_MAXSEG,
};
use mptcplab_bpf::{Error, SubflowOptions};
use socket2::{Protocol, SockRef};
use world::{SERVER, alone, carry, connection, join, loaded, subflows};

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

#[test]
fn an_option_is_set_on_one_subflow_alone() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        drop_capabilities();
        let (client, server, _listener) = connection(Protocol::MPTCP, "reno");
        join(&client, &server);
        let [first, second] = &subflows()[..] else {
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
            let get = |options: &mut SubflowOptions, of: &world::Subflow| {
                number(&options.get(of.local, of.remote, level, option, 4).unwrap())
            };
            let before = get(&mut options, first);
            assert_ne!(before, value);
            let bytes = value.to_ne_bytes();
            options
                .set(second.local, second.remote, level, option, &bytes)
                .unwrap();
            assert_eq!(get(&mut options, second), value);
            assert_eq!(get(&mut options, first), before);
        }
        // Taken, though it says nothing to a connection that stands.
        options
            .set(
                second.local,
                second.remote,
                IPPROTO_TCP,
                TCP_MAXSEG,
                &1000_i32.to_ne_bytes(),
            )
            .unwrap();
        options
            .set(
                second.local,
                second.remote,
                IPPROTO_TCP,
                TCP_CONGESTION,
                b"cubic",
            )
            .unwrap();
        let mut name = |of: &world::Subflow| {
            let name = options.get(of.local, of.remote, IPPROTO_TCP, TCP_CONGESTION, 16);
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
fn ipv6_sockets_are_found_by_either_family() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for target in [IpAddr::V6(Ipv6Addr::LOCALHOST), IpAddr::V4(SERVER)] {
            let client = TcpStream::connect((target, port)).unwrap();
            let (server, _) = listener.accept().unwrap();
            let (local, remote) = (server.local_addr().unwrap(), server.peer_addr().unwrap());
            // `::ffff:10.9.0.3` is also 10.9.0.3.
            for canonical in [false, true] {
                let end = |end: SocketAddr| match canonical {
                    true => SocketAddr::new(end.ip().to_canonical(), end.port()),
                    false => end,
                };
                let mark = 5 + i32::from(canonical);
                let bytes = mark.to_ne_bytes();
                options
                    .set(end(local), end(remote), SOL_SOCKET, SO_MARK, &bytes)
                    .unwrap();
                let marks = [SockRef::from(&server), SockRef::from(&client)];
                let marks = marks.map(|socket| socket.mark().unwrap());
                assert_eq!(marks, [mark as u32, 0]);
            }
        }
    });
}

#[test]
fn errors_name_what_is_missing() {
    alone(|| {
        let Some(mut options) = loaded(SubflowOptions::load()) else {
            return;
        };
        let (client, _server, _listener) = connection(Protocol::MPTCP, "reno");
        let subflow = &subflows()[0];
        let nobody = SocketAddr::from((Ipv4Addr::new(10, 9, 0, 9), 1));
        let mark = |options: &mut SubflowOptions, local, remote| {
            options.set(local, remote, SOL_SOCKET, SO_MARK, &1_i32.to_ne_bytes())
        };
        assert!(matches!(
            mark(&mut options, subflow.local, nobody),
            Err(Error::NoSuchSubflow { .. })
        ));
        // Another port of the same addresses.
        let mut port = subflow.local;
        port.set_port(port.port() ^ 1);
        assert!(matches!(
            mark(&mut options, port, subflow.remote),
            Err(Error::NoSuchSubflow { .. })
        ));
        let mut refused = |option, value: &[u8]| {
            let result = options.set(subflow.local, subflow.remote, IPPROTO_TCP, option, value);
            match result {
                Err(Error::Option { error, .. }) => error.raw_os_error().unwrap(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(refused(9999, &[0; 4]), libc::EINVAL);
        assert_eq!(refused(TCP_MAXSEG, &1_i32.to_ne_bytes()), libc::EINVAL);
        assert_eq!(refused(TCP_CONGESTION, b"none-such"), libc::ENOENT);
        for length in [0, 257] {
            let result = options.get(subflow.local, subflow.remote, SOL_SOCKET, SO_MARK, length);
            assert!(matches!(result, Err(Error::Length(_))));
        }
        drop(client);
    });
}
