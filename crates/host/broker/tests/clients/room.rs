//! Clients for which the broker has no room.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use mptcplab_subflow::protocol::Message;
use mptcplab_subflow::{Error, Manager};
use mptcplab_testbed::{Hosts, inside, inside_as_root};
use rustix::process::{Resource, Rlimit, setrlimit};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::common::Folder;
use crate::process::{Process, program};
use crate::session::{RawSession, bytes_of, wait_for_end};
use crate::stage::{CLOSE, HONEST, HOSTILE, Stage, as_user};

/// The broker with so few descriptors.
fn limited(descriptors: u64) -> Command {
    let most = Some(descriptors);
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    let mut program = program();
    // SAFETY: between fork and exec only a system call is made.
    unsafe { program.pre_exec(move || Ok(setrlimit(Resource::Nofile, limit)?)) };
    program
}

/// Tells whether a session's command is looked at, and its client not rejected.
fn is_served(session: &RawSession, about: BorrowedFd<'_>) -> bool {
    let sent = session.send(&bytes_of(CLOSE), &[about]);
    let answer = sent.ok().and_then(|()| session.receive());
    matches!(answer, Some(Message::Failed { id: 7, .. }))
}

/// Asks for something that cannot be done, and why it was not.
fn ask(manager: &mut Manager) -> Error {
    manager.close_subflow(io::stdin(), 0).unwrap_err()
}

fn is_too_many(error: &Error) -> bool {
    matches!(error, Error::TooMany { .. })
}

#[test]
fn one_too_many_is_told_so() {
    if !inside("room::one_too_many_is_told_so") {
        return;
    }
    let stage = Stage::told(1, |told| {
        told["limits"] = serde_json::json!({"sessions": 1});
    });
    let mut only = stage.manager();
    // The connection that saw the start of the broker may not have gone yet.
    while is_too_many(&ask(&mut only)) {
        only = stage.manager();
    }
    let mut second = stage.manager();
    // Clients are looked after in their order: the second is refused once the third is.
    let third = stage.session();
    let told = third.receive().unwrap();
    assert!(
        matches!(&told, Message::Failed { error, .. } if is_too_many(error)),
        "{told:?}"
    );
    for _ in 0..2 {
        let error = ask(&mut second);
        assert!(is_too_many(&error), "{error}");
    }
    assert!(!is_too_many(&ask(&mut only)));
}

#[test]
fn why_the_broker_hangs_up_is_heard_though_it_has_not_read_what_was_asked() {
    let folder = Folder::new();
    let path = folder.0.join("broker.sock");
    let broker = Socket::new(Domain::UNIX, Type::SEQPACKET, None).unwrap();
    broker.bind(&SockAddr::unix(&path).unwrap()).unwrap();
    broker.listen(1).unwrap();
    let error = thread::scope(|scope| {
        let client = scope.spawn(|| ask(&mut Manager::broker(&path).unwrap()));
        let (session, _) = broker.accept().unwrap();
        session.peek(&mut [MaybeUninit::uninit()]).unwrap();
        let error = Error::TooMany {
            reason: "full".to_owned(),
        };
        session
            .send(&Message::Failed { id: 0, error }.to_bytes())
            .unwrap();
        drop(session);
        client.join().unwrap()
    });
    assert!(is_too_many(&error), "{error}");
}

#[test]
fn a_user_who_takes_all_that_he_may_leaves_enough_to_others() {
    if !inside_as_root("room::a_user_who_takes_all_that_he_may_leaves_enough_to_others") {
        return;
    }
    let stage = Stage::by(2, limited(200));
    let about = stage.client.as_fd();
    let held = as_user(HOSTILE, || {
        let sessions: Vec<RawSession> = (0..300).map(|_| stage.session()).collect();
        // An eighth of the descriptors are for the user's sessions.
        let served = sessions.iter().filter(|session| is_served(session, about));
        assert_eq!(served.count(), 200 / 8);
        sessions
    });
    as_user(HONEST, || stage.try_command(&mut stage.manager()));
    drop(held);
    as_user(HOSTILE, || while !is_served(&stage.session(), about) {});
}

#[test]
fn descriptors_that_the_process_has_no_room_for_are_told_of_and_cost_no_other() {
    if !inside("room::descriptors_that_the_process_has_no_room_for_are_told_of_and_cost_no_other") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start_as(&hosts.client, Folder::new(), limited(16), |_| {});
    let first = RawSession::open(&broker.socket);
    let error = first.ask(CLOSE, &[io::stdin().as_fd()]).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Kernel { .. } | Error::TooMany { .. } | Error::NotMptcp
        ),
        "{error}"
    );
    // More wait in the backlog than it can accept.
    let waiting: Vec<RawSession> = (0..50).map(|_| RawSession::open(&broker.socket)).collect();
    drop((first, waiting));
    let (reader, writer) = io::pipe().unwrap();
    // There is no room for another session until those that have ended are closed.
    while !is_served(&RawSession::open(&broker.socket), writer.as_fd()) {}
    drop(writer);
    wait_for_end(reader);
}
