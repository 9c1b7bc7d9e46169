//! Clients for whom the broker has no room.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use mptcplab_subflow::protocol::Message;
use mptcplab_subflow::Error;
use mptcplab_testbed::{Hosts, inside, inside_as_root};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::common::Folder;
use crate::process::{Process, program};
use crate::stage::{CLOSE, HONEST, HOSTILE, Stage, as_user};
use crate::talk::{Talk, bytes_of, wait_for_end};

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

/// Whether a talk's order is looked at, and not turned away with its client.
fn is_served(talk: &Talk, about: BorrowedFd<'_>) -> bool {
    let sent = talk.send(&bytes_of(CLOSE), &[about]);
    let answer = sent.ok().and_then(|()| talk.receive());
    matches!(answer, Some(Message::Failed { id: 7, .. }))
}

#[test]
fn a_user_who_takes_all_that_he_may_leaves_enough_to_others() {
    if !inside_as_root("room::a_user_who_takes_all_that_he_may_leaves_enough_to_others") {
        return;
    }
    let stage = Stage::by(2, limited(200));
    let about = stage.client.as_fd();
    let held = as_user(HOSTILE, || {
        let talks: Vec<Talk> = (0..300).map(|_| stage.talk()).collect();
        // An eighth of the descriptors are for his talks.
        let served = talks.iter().filter(|talk| is_served(talk, about));
        assert_eq!(served.count(), 200 / 8);
        talks
    });
    as_user(HONEST, || stage.try_order(&mut stage.manager()));
    drop(held);
    as_user(HOSTILE, || while !is_served(&stage.talk(), about) {});
}

#[test]
fn descriptors_that_the_process_has_no_room_for_are_told_and_lost_to_nobody() {
    if !inside("room::descriptors_that_the_process_has_no_room_for_are_told_and_lost_to_nobody") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start_as(&hosts.client, Folder::new(), limited(16), |_| {});
    let first = Talk::open(&broker.socket);
    let error = first.ask(CLOSE, &[io::stdin().as_fd()]).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Kernel { .. } | Error::TooMany { .. } | Error::NotMptcp
        ),
        "{error}"
    );
    // More wait in the backlog than it can accept.
    let waiting: Vec<Talk> = (0..50).map(|_| Talk::open(&broker.socket)).collect();
    drop((first, waiting));
    let (reader, writer) = io::pipe().unwrap();
    // Until those who have gone are, there is no room for another talk.
    while !is_served(&Talk::open(&broker.socket), writer.as_fd()) {}
    drop(writer);
    wait_for_end(reader);
}
