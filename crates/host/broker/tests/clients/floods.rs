//! Clients that ask for more than can be done, or do not read: the honest are served meanwhile.

use std::os::fd::AsFd;
use std::thread;

use mptcplab_subflow::protocol::Command;
use mptcplab_testbed::inside;

use crate::session::{RawSession, bytes_of};
use crate::stage::{CLOSE, Stage};

#[test]
fn one_who_asks_too_fast_is_answered_all_the_same() {
    if !inside("floods::one_who_asks_too_fast_is_answered_all_the_same") {
        return;
    }
    let stage = Stage::told(1, |told| {
        told["limits"] = serde_json::json!({"requests_per_second": 100});
    });
    let sessions: Vec<RawSession> = (0..4).map(|_| stage.session()).collect();
    // Half of them beyond what is taken at once.
    for _ in 0..50 {
        for session in &sessions {
            session.send(b"{", &[]).unwrap();
        }
    }
    for session in &sessions {
        for _ in 0..50 {
            session.receive().unwrap();
        }
    }
}

#[test]
fn a_client_that_does_not_read_loses_its_session_alone() {
    if !inside("floods::a_client_that_does_not_read_loses_its_session_alone") {
        return;
    }
    let stage = Stage::new(1);
    let deaf = stage.session();
    deaf.send(&bytes_of(Command::Watch {}), &[stage.client.as_fd()])
        .unwrap();
    let mut manager = stage.manager();
    stage.try_command(&mut manager);
    let before = stage.broker.descriptors();
    let mut told = 0;
    while stage.broker.descriptors() >= before {
        stage.try_command(&mut manager);
        told += 1;
        assert!(told < 10_000, "the deaf one is kept");
    }
    stage.try_command(&mut manager);
}

#[test]
fn ten_thousand_hostile_messages_do_not_keep_the_honest_from_being_served() {
    if !inside("floods::ten_thousand_hostile_messages_do_not_keep_the_honest_from_being_served") {
        return;
    }
    const SESSIONS_TRIED: usize = 20;
    const MESSAGES: usize = 500;
    let mut stage = Stage::new(2);
    let mut manager = stage.manager();
    stage.try_command(&mut manager);
    let before = stage.broker.descriptors();
    let whole = bytes_of(Command::Watch {});
    let path = stage.broker.socket.clone();
    let (_reader, writer) = std::io::pipe().unwrap();
    let wrong = [
        stage.client.as_fd(),
        writer.as_fd(),
        stage.listener.0.as_fd(),
    ];
    thread::scope(|scope| {
        let hostile = scope.spawn(|| {
            for client in 0..SESSIONS_TRIED {
                let mut session = RawSession::open(&path);
                for number in 0..MESSAGES {
                    let cut = &whole[..number % whole.len()];
                    let with = &wrong[..number % 4];
                    let sent = match number % 3 {
                        0 => session.send(cut, with),
                        1 => session.send(&bytes_of(CLOSE), &wrong[1 + number % 2..][..1]),
                        _ => session.send(&vec![number as u8; number * 11], with),
                    };
                    // Half of them never read what is answered.
                    let over = if client % 2 == 0 && sent.is_ok() {
                        session.receive().is_none()
                    } else {
                        sent.is_err() || number % 50 == 0
                    };
                    if over {
                        session = RawSession::open(&path);
                    }
                }
            }
        });
        let mut served = 0;
        while !hostile.is_finished() {
            stage.try_command(&mut manager);
            served += 1;
        }
        hostile.join().unwrap();
        println!("{served} honest commands to open and close were served meanwhile");
        assert!(served > 0);
    });
    stage.try_command(&mut manager);
    stage.broker.wait_for_descriptors(before);
    // One that accepts, one that writes the journal, one for the only user.
    assert_eq!(stage.broker.tasks().len(), 3);
    assert!(stage.broker.signal("TERM").success());
    let left = std::fs::read_dir(stage.broker.take_folder().0.join("run")).unwrap();
    assert_eq!(left.count(), 0);
}
