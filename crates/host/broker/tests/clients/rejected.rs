//! Rejected clients that sent what takes an hour to close: the others are served all the same.

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_subflow::Error;
use mptcplab_testbed::inside_as_root;

use crate::common::anything;
use crate::lingering::lingering;
use crate::session::{RawSession, bytes_of};
use crate::stage::{CLOSE, HONEST, HOSTILE, Stage, as_user};

/// Sessions that each user may have.
const SESSIONS: usize = 4;
/// Sessions of a hostile user.
const SESSIONS_TRIED: u32 = 20 * SESSIONS as u32;
/// Timeout of what does not depend on other users.
const PATIENCE: Duration = Duration::from_secs(60);

/// A broker that names only these users; all others where there are none.
fn stage(names: &[u32]) -> Stage {
    Stage::told(2, |told| {
        told["limits"] = serde_json::json!({"sessions": SESSIONS});
        if !names.is_empty() {
            let mut rule = anything();
            rule["users"] = serde_json::json!({"these": names});
            told["policy"]["rules"] = serde_json::json!([rule]);
        }
    })
}

/// A user opens a session, sends a socket that lingers and goes. The broker has the last
/// reference to the socket, and closes it.
fn send_and_go(stage: &Stage, uid: u32) -> TcpListener {
    let (stream, listener) = lingering(&stage.hosts);
    as_user(uid, || {
        let session = loop {
            match RawSession::try_open(&stage.broker.socket) {
                Ok(session) => break session,
                // Until the broker accepts those before it.
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        };
        // Refused, where the client is rejected before.
        let _ = session.send(&bytes_of(CLOSE), &[stream.as_fd()]);
        drop(stream);
    });
    listener
}

/// Sends harm while the broker is stopped, so that it accepts sessions that contain some.
fn attack(stage: &Stage, uids: impl Iterator<Item = u32>) -> Vec<TcpListener> {
    stage
        .broker
        .while_stopped(|| uids.map(|uid| send_and_go(stage, uid)).collect())
}

/// Whether the honest are served, by a new session as well as by an old one.
fn check_served(stage: &Stage) {
    as_user(HONEST, || stage.try_command(&mut stage.manager()));
    as_user(HONEST, || stage.try_command(&mut stage.manager()));
}

/// Waits until the broker has no more descriptors than before and no rejection thread.
fn wait_for_rest(stage: &Stage, descriptors: usize) {
    let deadline = Instant::now() + PATIENCE;
    let rests = || {
        let tasks = stage.broker.tasks();
        !tasks
            .iter()
            .any(|task| task.starts_with("Name:\trejection\n"))
            && stage.broker.descriptors() <= descriptors
    };
    while !rests() {
        assert!(Instant::now() < deadline, "{:?}", stage.broker.tasks());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_user_whom_no_rule_names_holds_up_no_other() {
    if !inside_as_root("rejected::a_user_whom_no_rule_names_holds_up_no_other") {
        return;
    }
    let mut stage = stage(&[HONEST]);
    check_served(&stage);
    let before = stage.broker.descriptors();
    let _listeners = attack(&stage, (0..SESSIONS_TRIED).map(|_| HOSTILE));
    check_served(&stage);
    let refused = as_user(HOSTILE, || {
        stage.manager().close_subflow(&stage.client, 0).unwrap_err()
    });
    let reason = "no rule names you".to_owned();
    assert_eq!(refused, Error::Forbidden { reason });
    wait_for_rest(&stage, before);
    assert!(stage.broker.signal("TERM").success());
}

#[test]
fn each_command_after_a_refusal_is_refused_for_the_same_reason() {
    if !inside_as_root("rejected::each_command_after_a_refusal_is_refused_for_the_same_reason") {
        return;
    }
    let stage = stage(&[HONEST]);
    as_user(HOSTILE, || {
        let mut manager = stage.manager();
        for _ in 0..200 {
            let refused = manager.close_subflow(&stage.client, 0).unwrap_err();
            let reason = "no rule names you".to_owned();
            assert_eq!(refused, Error::Forbidden { reason });
        }
    });
}

#[test]
fn more_users_than_there_are_threads_hold_up_no_other() {
    const USERS: u32 = 80;
    if !inside_as_root("rejected::more_users_than_there_are_threads_hold_up_no_other") {
        return;
    }
    let stage = stage(&[HONEST]);
    check_served(&stage);
    let before = stage.broker.descriptors();
    let _listeners = attack(&stage, (0..2 * USERS).map(|n| HONEST + 1 + n % USERS));
    check_served(&stage);
    wait_for_rest(&stage, before);
}

#[test]
fn a_user_whose_thread_is_stuck_holds_up_no_other_however_many_sessions_it_opens() {
    if !inside_as_root(
        "rejected::a_user_whose_thread_is_stuck_holds_up_no_other_however_many_sessions_it_opens",
    ) {
        return;
    }
    let mut stage = stage(&[]);
    check_served(&stage);
    let before = stage.broker.descriptors();
    let _listeners = attack(&stage, (0..SESSIONS_TRIED).map(|_| HOSTILE));
    check_served(&stage);
    // Those that the stuck thread cannot take are not kept; the thread has a few descriptors itself.
    wait_for_rest(&stage, before + 2 * SESSIONS + 10);
    check_served(&stage);
    assert!(stage.broker.signal("TERM").success());
}
