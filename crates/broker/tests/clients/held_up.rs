//! Clients who hold up the thread that serves them: it is theirs alone.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use mptcplab_subflow::Error;
use mptcplab_testbed::{Hosts, inside_as_root};
use socket2::SockRef;

use crate::stage::{CLOSE, HONEST, HOSTILE, Stage, as_user};
use crate::stuck::Stuck;
use crate::talk::bytes_of;

/// A TCP connection of the client's to itself, and its listener.
fn loopback(hosts: &Hosts) -> (TcpStream, TcpListener) {
    let connect = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (stream, listener)
    };
    hosts.client.run(connect).unwrap()
}

/// A TCP socket with unsent data, to close which takes an hour; and its listener.
fn lingering(hosts: &Hosts) -> (TcpStream, TcpListener) {
    let (mut stream, listener) = loopback(hosts);
    let hour = Some(Duration::from_secs(3600));
    SockRef::from(&stream).set_linger(hour).unwrap();
    stream.set_nonblocking(true).unwrap();
    while stream.write(&[0; 65_536]).is_ok() {}
    stream.set_nonblocking(false).unwrap();
    (stream, listener)
}

#[test]
fn a_user_who_holds_up_his_own_thread_holds_up_nobody_else() {
    if !inside_as_root("held_up::a_user_who_holds_up_his_own_thread_holds_up_nobody_else") {
        return;
    }
    let mut stage = Stage::new(2);
    let (stream, _listener) = lingering(&stage.hosts);
    let waiting = stage.broker.while_stopped(|| {
        as_user(HOSTILE, || {
            // Several ways: refused, cut off with others, never received. The broker is the last
            // who has the socket, and to close it falls to it.
            for count in [1, 3] {
                let with = vec![stream.as_fd(); count];
                stage.talk().send(&bytes_of(CLOSE), &with).unwrap();
            }
            drop(stream);
            let waiting = stage.talk();
            waiting
                .send(&bytes_of(CLOSE), &[stage.client.as_fd()])
                .unwrap();
            waiting
        })
    });
    as_user(HONEST, || stage.try_order(&mut stage.manager()));
    assert!(!waiting.has_answer(), "he has held up himself");
    assert!(stage.broker.signal("TERM").success());
}

#[test]
fn a_user_who_keeps_the_locks_of_his_sockets_holds_up_nobody_else() {
    if !inside_as_root("held_up::a_user_who_keeps_the_locks_of_his_sockets_holds_up_nobody_else") {
        return;
    }
    let stuck = match Stuck::new() {
        Ok(stuck) => stuck,
        Err(error) => return println!("skipped: no userfaultfd here: {error}"),
    };
    let stage = Stage::new(2);
    let (other, _other_peer) = stage.hosts.connect(&stage.listener, false);
    let (tcp, _listener) = loopback(&stage.hosts);
    let page = stuck.page();
    thread::scope(|scope| {
        scope.spawn(|| Stuck::send(page, stage.client.as_fd()));
        scope.spawn(|| Stuck::send(page, tcp.as_fd()));
        stuck.wait_for_readers(2);
        let waiting = as_user(HOSTILE, || {
            let waiting = stage.talk();
            waiting
                .send(&bytes_of(CLOSE), &[stage.client.as_fd()])
                .unwrap();
            waiting
        });
        as_user(HONEST, || {
            let mut manager = stage.manager();
            let second = manager.open_subflow(&other, &stage.other()).unwrap();
            let (tcp, congestion) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
            match manager.setsockopt(&other, second, tcp, congestion, b"cubic\0") {
                Err(Error::NeedsBpf { reason }) => println!("skipped options: {reason}"),
                // Unless the subflow is found before the socket that is locked.
                Ok(()) | Err(Error::TooMany { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            manager.close_subflow(&other, second).unwrap();
        });
        assert!(!waiting.has_answer(), "he has held up himself");
        drop(stuck);
        assert!(waiting.receive().is_some());
    });
}

#[test]
fn the_broker_ends_though_more_wait_to_be_turned_away_than_may() {
    if !inside_as_root("held_up::the_broker_ends_though_more_wait_to_be_turned_away_than_may") {
        return;
    }
    let mut stage = Stage::told(1, |told| {
        told["limits"] = serde_json::json!({"sessions": 1});
    });
    let sockets: Vec<_> = (0..8).map(|_| lingering(&stage.hosts)).collect();
    let listeners: Vec<TcpListener> = stage.broker.while_stopped(|| {
        let send = |(stream, listener): (TcpStream, TcpListener)| {
            as_user(HOSTILE, || {
                let talk = stage.talk();
                talk.send(&bytes_of(CLOSE), &[stream.as_fd()]).unwrap();
            });
            listener
        };
        sockets.into_iter().map(send).collect()
    });
    // Long enough for it to come to where it could be held up.
    thread::sleep(Duration::from_millis(300));
    assert!(stage.broker.signal("TERM").success());
    drop(listeners);
}
