//! Several users at one broker, started by root.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use mptcplab_subflow::{Error, Manager, subflow_ids};
use mptcplab_testbed::inside_as_root;

use crate::common::anything;
use crate::process::Process;
use crate::session::bytes_of;
use crate::stage::{CLOSE, HONEST, HOSTILE, Stage, as_user};

#[test]
fn a_broker_that_became_another_user_serves_and_sets_options() {
    if !inside_as_root("users::a_broker_that_became_another_user_serves_and_sets_options") {
        return;
    }
    let mut stage = Stage::told(2, |told| {
        told["user"] = serde_json::json!({"uid": HONEST, "gid": HONEST});
    });
    for task in stage.broker.tasks() {
        let ids = format!("{HONEST}\t{HONEST}\t{HONEST}\t{HONEST}");
        assert!(task.contains(&format!("Uid:\t{ids}")), "{task}");
        assert!(task.contains(&format!("Gid:\t{ids}")), "{task}");
        assert!(task.contains("CapEff:\t0000000000001000"), "{task}");
        assert!(task.contains("CapBnd:\t0000000000000000"), "{task}");
    }
    as_user(HOSTILE, || {
        let mut manager = stage.manager();
        let open = stage.other();
        let second = manager.open_subflow(&stage.client, &open).unwrap();
        let (tcp, congestion) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        let refused = manager.setsockopt(
            &stage.client,
            second,
            libc::SOL_SOCKET,
            libc::SO_MARK,
            &[0; 4],
        );
        assert!(
            matches!(refused, Err(Error::Forbidden { .. })),
            "{refused:?}"
        );
        match manager.setsockopt(&stage.client, second, tcp, congestion, b"cubic\0") {
            Err(Error::NeedsBpf { reason }) => return println!("skipped options: {reason}"),
            set => set.unwrap(),
        }
        let mut of = |id| manager.getsockopt(&stage.client, id, tcp, congestion);
        assert!(of(second).unwrap().starts_with(b"cubic\0"));
        assert!(
            of(subflow_ids(&stage.client).unwrap()[0])
                .unwrap()
                .starts_with(b"reno\0")
        );
        assert_eq!(of(99), Err(Error::NoSuchSubflow { id: 99 }));
        let file = File::open("/dev/null").unwrap();
        assert!(
            manager
                .setsockopt(&file, second, tcp, congestion, b"reno\0")
                .is_err()
        );
    });
    // The session's own is closed, and those of the thread that served it are not many.
    assert!(stage.broker.descriptors() < 30);
    assert!(stage.broker.signal("TERM").success());
    // The folder is not whose it became: others of that user could take the broker's place.
    let folder = stage.broker.take_folder();
    let owner = fs::metadata(folder.0.join("run")).unwrap().uid();
    assert_eq!(owner, 0);
    let next = Process::start(&stage.hosts.client, folder);
    Manager::broker(&next.socket).unwrap();
}

#[test]
fn threads_of_users_who_have_gone_end() {
    const USERS: u32 = 64;
    if !inside_as_root("users::threads_of_users_who_have_gone_end") {
        return;
    }
    let stage = Stage::new(1);
    let ask = |uid: u32| {
        as_user(HOSTILE + uid, || {
            let session = stage.session();
            // Refused, or rejected while there is no thread left.
            let _ = session.send(&bytes_of(CLOSE), &[io::stdin().as_fd()]);
            session.receive().is_some()
        })
    };
    // The user of the connection that saw the start of the broker is the first.
    assert!((1..USERS).all(ask));
    let (threads, descriptors) = (stage.broker.tasks().len(), stage.broker.descriptors());
    assert!(threads > USERS as usize, "one for each user");
    // A new user who finds no place lets the broker look for places of users that have gone.
    let have_ended = |uid: u32| {
        ask(uid);
        stage.broker.tasks().len() <= threads / 2 && stage.broker.descriptors() <= descriptors / 2
    };
    (USERS..).find(|&uid| have_ended(uid));
}

#[test]
fn a_rule_is_for_those_whom_it_names() {
    if !inside_as_root("users::a_rule_is_for_those_whom_it_names") {
        return;
    }
    let stage = Stage::told(1, |told| {
        let mut rule = anything();
        rule["users"] = serde_json::json!({"these": [HONEST]});
        told["policy"]["rules"] = serde_json::json!([rule]);
    });
    let initial = subflow_ids(&stage.client).unwrap()[0];
    let try_as = |uid| {
        as_user(uid, || {
            Manager::broker(&stage.broker.socket)
                .unwrap()
                .set_backup(&stage.client, initial, true)
        })
    };
    assert_eq!(try_as(HONEST), Ok(()));
    assert!(matches!(try_as(HOSTILE), Err(Error::Forbidden { .. })));
}
