//! Clients that hold up the thread that serves them, which serves their user alone.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use mptcplab_subflow::Error;
use mptcplab_testbed::inside_as_root;

use crate::lingering::{lingering, loopback};
use crate::session::bytes_of;
use crate::stage::{CLOSE, HONEST, HOSTILE, Stage, as_user};
use crate::stuck::Stuck;

#[test]
fn a_user_holding_up_its_own_thread_holds_up_no_other() {
    if !inside_as_root("held_up::a_user_holding_up_its_own_thread_holds_up_no_other") {
        return;
    }
    let mut stage = Stage::new(2);
    let (stream, _listener) = lingering(&stage.hosts);
    let waiting = stage.broker.while_stopped(|| {
        as_user(HOSTILE, || {
            // Several ways: refused, cut off with others, never received. The broker is the
            // last holder of the socket, and has to close it.
            for count in [1, 3] {
                let with = vec![stream.as_fd(); count];
                stage.session().send(&bytes_of(CLOSE), &with).unwrap();
            }
            drop(stream);
            let waiting = stage.session();
            waiting
                .send(&bytes_of(CLOSE), &[stage.client.as_fd()])
                .unwrap();
            waiting
        })
    });
    as_user(HONEST, || stage.try_command(&mut stage.manager()));
    assert!(!waiting.has_answer(), "the user has held up its own thread");
    assert!(stage.broker.signal("TERM").success());
}

#[test]
fn a_user_keeping_the_locks_of_its_sockets_holds_up_no_other() {
    if !inside_as_root("held_up::a_user_keeping_the_locks_of_its_sockets_holds_up_no_other") {
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
            let waiting = stage.session();
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
        assert!(!waiting.has_answer(), "the user has held up its own thread");
        drop(stuck);
        assert!(waiting.receive().is_some());
    });
}

#[test]
fn the_broker_ends_though_more_rejected_sessions_wait_than_may() {
    if !inside_as_root("held_up::the_broker_ends_though_more_rejected_sessions_wait_than_may") {
        return;
    }
    let mut stage = Stage::told(1, |told| {
        told["limits"] = serde_json::json!({"sessions": 1});
    });
    let sockets: Vec<_> = (0..8).map(|_| lingering(&stage.hosts)).collect();
    let listeners: Vec<TcpListener> = stage.broker.while_stopped(|| {
        let send = |(stream, listener): (TcpStream, TcpListener)| {
            as_user(HOSTILE, || {
                let session = stage.session();
                session.send(&bytes_of(CLOSE), &[stream.as_fd()]).unwrap();
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
