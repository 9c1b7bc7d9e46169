//! Clients who ask for more than can be done, or do not listen: the honest are served meanwhile.

use std::os::fd::AsFd;
use std::thread;

use mptcplab_subflow::protocol::Order;
use mptcplab_testbed::inside;

use crate::stage::{CLOSE, Stage};
use crate::talk::{Talk, bytes_of};

#[test]
fn one_who_asks_too_fast_is_answered_all_the_same() {
    if !inside("floods::one_who_asks_too_fast_is_answered_all_the_same") {
        return;
    }
    let stage = Stage::told(1, |told| {
        told["limits"] = serde_json::json!({"requests_per_second": 100});
    });
    let talks: Vec<Talk> = (0..4).map(|_| stage.talk()).collect();
    // Half of them beyond what is taken at once.
    for _ in 0..50 {
        for talk in &talks {
            talk.send(b"{", &[]).unwrap();
        }
    }
    for talk in &talks {
        for _ in 0..50 {
            talk.receive().unwrap();
        }
    }
}

#[test]
fn one_who_does_not_read_loses_his_talk_alone() {
    if !inside("floods::one_who_does_not_read_loses_his_talk_alone") {
        return;
    }
    let stage = Stage::new(1);
    let deaf = stage.talk();
    deaf.send(&bytes_of(Order::Watch {}), &[stage.client.as_fd()])
        .unwrap();
    let mut manager = stage.manager();
    stage.try_order(&mut manager);
    let before = stage.broker.descriptors();
    let mut told = 0;
    while stage.broker.descriptors() >= before {
        stage.try_order(&mut manager);
        told += 1;
        assert!(told < 10_000, "the deaf one is kept");
    }
    stage.try_order(&mut manager);
}

#[test]
fn ten_thousand_hostile_messages_do_not_keep_the_honest_from_being_served() {
    if !inside("floods::ten_thousand_hostile_messages_do_not_keep_the_honest_from_being_served") {
        return;
    }
    const TALKS: usize = 20;
    const MESSAGES: usize = 500;
    let mut stage = Stage::new(2);
    let mut manager = stage.manager();
    stage.try_order(&mut manager);
    let before = stage.broker.descriptors();
    let whole = bytes_of(Order::Watch {});
    let path = stage.broker.socket.clone();
    let (_reader, writer) = std::io::pipe().unwrap();
    let wrong = [
        stage.client.as_fd(),
        writer.as_fd(),
        stage.listener.0.as_fd(),
    ];
    thread::scope(|scope| {
        let hostile = scope.spawn(|| {
            for talk in 0..TALKS {
                let mut talk_of = Talk::open(&path);
                for number in 0..MESSAGES {
                    let cut = &whole[..number % whole.len()];
                    let with = &wrong[..number % 4];
                    let sent = match number % 3 {
                        0 => talk_of.send(cut, with),
                        1 => talk_of.send(&bytes_of(CLOSE), &wrong[1 + number % 2..][..1]),
                        _ => talk_of.send(&vec![number as u8; number * 11], with),
                    };
                    // Half of them never read what is answered, and an empty message is a goodbye.
                    let over = if talk % 2 == 0 && sent.is_ok() {
                        talk_of.receive().is_none()
                    } else {
                        sent.is_err() || number % 50 == 0
                    };
                    if over {
                        talk_of = Talk::open(&path);
                    }
                }
            }
        });
        let mut served = 0;
        while !hostile.is_finished() {
            stage.try_order(&mut manager);
            served += 1;
        }
        hostile.join().unwrap();
        println!("{served} honest orders to open and close were served meanwhile");
        assert!(served > 0);
    });
    stage.try_order(&mut manager);
    stage.broker.wait_for_descriptors(before);
    // One that accepts, one that turns away, one for the only user.
    assert_eq!(stage.broker.tasks().len(), 3);
    assert!(stage.broker.signal("TERM").success());
    let left = std::fs::read_dir(stage.broker.take_folder().0.join("run")).unwrap();
    assert_eq!(left.count(), 0);
}
