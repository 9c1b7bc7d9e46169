//! A network namespace of a test's own, and an MPTCP connection with two subflows in it.

// Each file of tests uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use mptcplab_bpf::Error;
use nix::sched::{CloneFlags, unshare};
use socket2::{Domain, Protocol, Socket, Type};

pub(crate) const FIRST: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
pub(crate) const SECOND: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 3);

/// Runs a test on a thread with a network namespace of its own, with the addresses above; nothing
/// where the machine refuses it.
pub(crate) fn alone(test: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(|| {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            println!("skipped: no network namespace here: {error}");
            return;
        }
        ip("link set lo up");
        for address in [FIRST, SECOND, SERVER] {
            ip(&format!("address add {address}/32 dev lo"));
        }
        // Connections that are closed at both ends go soon.
        fs::write("/proc/sys/net/mptcp/close_timeout", "1").unwrap();
        ip("mptcp limits set subflow 4 add_addr_accepted 4");
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// The value, or a printed reason where the machine cannot load programs.
pub(crate) fn loaded<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(
            error @ (Error::NotBuilt
            | Error::NoLibrary(_)
            | Error::NoTypes
            | Error::NoLinks(_)
            | Error::NotPermitted),
        ) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status();
    assert!(status.unwrap().success(), "ip {arguments}");
}

/// A TCP or MPTCP socket with a congestion control.
pub(crate) fn socket(protocol: Protocol, control: &str) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol)).unwrap();
    socket.set_tcp_congestion(control.as_bytes()).unwrap();
    socket
}

/// A connection from `FIRST`, its other end, and the listener, without which nothing joins.
pub(crate) fn connection(protocol: Protocol, control: &str) -> (TcpStream, TcpStream, Socket) {
    let listener = socket(protocol, control);
    listener.bind(&any().into()).unwrap();
    listener.listen(1).unwrap();
    let port = listener.local_addr().unwrap().as_socket().unwrap().port();
    let client = socket(protocol, control);
    client.bind(&SocketAddr::from((FIRST, 0)).into()).unwrap();
    let target = SocketAddr::from((SERVER, port));
    client.connect(&target.into()).unwrap();
    let (server, _) = listener.accept().unwrap();
    (client.into(), server.into(), listener)
}

fn any() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
}

/// Carries some bytes from one end to the other and compares them.
pub(crate) fn carry(from: &TcpStream, to: &TcpStream, bytes: usize) {
    let sent: Vec<u8> = (0..bytes).map(|n| (n % 251) as u8).collect();
    let received = thread::scope(|scope| {
        let (mut from, mut to, sent) = (from, to, &sent);
        scope.spawn(move || from.write_all(sent).unwrap());
        let mut received = vec![0; bytes];
        to.read_exact(&mut received).unwrap();
        received
    });
    assert!(received == sent, "the bytes arrive as they were sent");
}

/// Opens a second subflow of a client's connection and waits until it stands. The kernel wants to
/// have seen data before.
pub(crate) fn join(client: &TcpStream, server: &TcpStream) {
    carry(client, server, 1000);
    ip(&format!("mptcp endpoint add {SECOND} subflow"));
    wait(|| subflows().len() == 2);
}

/// Waits for something that the kernel does by itself.
pub(crate) fn wait(mut is_done: impl FnMut() -> bool) {
    const TRIES: u32 = 1000;
    for _ in 0..TRIES {
        if is_done() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it never happened");
}

/// A subflow as the kernel tells of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subflow {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) control: String,
}

/// The established subflows of the namespace, or TCP connections, from a client to the server.
pub(crate) fn subflows() -> Vec<Subflow> {
    let output = Command::new("ss")
        .args(["-Htni", "state", "established"])
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let (Some(ends), Some(about)) = (lines.next(), lines.next()) {
        let ends: Vec<&str> = ends.split_whitespace().collect();
        let words: Vec<&str> = about.split_whitespace().collect();
        let scale = words.iter().position(|word| word.starts_with("wscale"));
        let subflow = Subflow {
            local: ends[2].parse().unwrap(),
            remote: ends[3].parse().unwrap(),
            control: words[scale.unwrap() - 1].to_owned(),
        };
        if subflow.remote.ip() == SERVER {
            found.push(subflow);
        }
    }
    found.sort();
    found
}
