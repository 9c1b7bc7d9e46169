//! Several users at one broker, started by root.

mod common;
mod process;
mod stuck;
mod talk;

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::{Folder, anything, from};
use mptcplab_subflow::protocol::{Message, Order};
use mptcplab_subflow::{Error, Manager, subflow_ids};
use mptcplab_testbed::{Hosts, inside, inside_as_root};
use process::Process;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{Uid, set_thread_res_uid};
use socket2::SockRef;
use stuck::Stuck;
use talk::{Talk, bytes_of};

const HOSTILE: u32 = 54_321;
const HONEST: u32 = 54_322;
const CLOSE: Order = Order::Close { subflow: 77 };

/// Does something as another user, on a thread of its own.
fn as_user<T: Send>(uid: u32, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let uid = Uid::from_raw(uid);
            set_thread_res_uid(uid, uid, uid).expect("root");
            work()
        });
        worker.join().expect("no panic")
    })
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mptcplab-broker"))
}

/// A TCP socket with unsent data, to close which takes an hour; and its listener.
fn lingering() -> (TcpStream, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let hour = Some(Duration::from_secs(3600));
    SockRef::from(&stream).set_linger(hour).unwrap();
    stream.set_nonblocking(true).unwrap();
    while stream.write(&[0; 65_536]).is_ok() {}
    stream.set_nonblocking(false).unwrap();
    (stream, listener)
}

#[test]
fn a_user_who_holds_up_his_own_thread_holds_up_nobody_else() {
    if !inside_as_root("a_user_who_holds_up_his_own_thread_holds_up_nobody_else") {
        return;
    }
    let hosts = Hosts::new(2);
    let mut broker = Process::start(&hosts.client, Folder::new());
    let _server = Process::start(&hosts.server, Folder::new());
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let order = from(hosts.client_address(2, false));
    let (stream, _listener) = hosts.client.run(lingering).unwrap();
    as_user(HOSTILE, || {
        // Several ways: refused, cut off with others, never received.
        for count in [1, 3] {
            let talk = Talk::open(&broker.socket);
            talk.send(&bytes_of(CLOSE), &vec![stream.as_fd(); count])
                .unwrap();
        }
        drop(stream);
        let waiting = Talk::open(&broker.socket);
        waiting.send(&bytes_of(CLOSE), &[client.as_fd()]).unwrap();
        thread::sleep(Duration::from_millis(100));
        assert!(!waiting.has_answer(), "he has held up himself");
    });
    as_user(HONEST, || {
        let mut manager = Manager::broker(&broker.socket).unwrap();
        let id = manager.open_subflow(&client, &order).unwrap();
        manager.close_subflow(&client, id).unwrap();
    });
    assert!(broker.signal("TERM").success());
}

#[test]
fn a_user_who_keeps_the_locks_of_his_sockets_holds_up_nobody_else() {
    if !inside_as_root("a_user_who_keeps_the_locks_of_his_sockets_holds_up_nobody_else") {
        return;
    }
    let stuck = match Stuck::new() {
        Ok(stuck) => stuck,
        Err(error) => return println!("skipped: no userfaultfd here: {error}"),
    };
    let hosts = Hosts::new(2);
    let broker = Process::start(&hosts.client, Folder::new());
    let _server = Process::start(&hosts.server, Folder::new());
    let listener = hosts.listen(false);
    let (his, _his_peer) = hosts.connect(&listener, false);
    let (other, _other_peer) = hosts.connect(&listener, false);
    let plain = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (stream, listener)
    };
    let (tcp, _tcp_listener) = hosts.client.run(plain).unwrap();
    let page = stuck.page();
    thread::scope(|scope| {
        scope.spawn(|| Stuck::send(page, his.as_fd()));
        scope.spawn(|| Stuck::send(page, tcp.as_fd()));
        let waiting = as_user(HOSTILE, || {
            let waiting = Talk::open(&broker.socket);
            thread::sleep(Duration::from_millis(100));
            waiting.send(&bytes_of(CLOSE), &[his.as_fd()]).unwrap();
            waiting
        });
        as_user(HONEST, || {
            let mut manager = Manager::broker(&broker.socket).unwrap();
            let order = from(hosts.client_address(2, false));
            let second = manager.open_subflow(&other, &order).unwrap();
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
fn a_user_who_takes_all_that_he_may_leaves_enough_to_others() {
    if !inside_as_root("a_user_who_takes_all_that_he_may_leaves_enough_to_others") {
        return;
    }
    let hosts = Hosts::new(2);
    let few = Rlimit {
        current: Some(200),
        maximum: Some(200),
    };
    let mut limited = program();
    // SAFETY: between fork and exec only a system call is made.
    unsafe { limited.pre_exec(move || Ok(setrlimit(Resource::Nofile, few)?)) };
    let broker = Process::start_as(&hosts.client, Folder::new(), limited, |_| {});
    let _server = Process::start(&hosts.server, Folder::new());
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let order = from(hosts.client_address(2, false));
    let held = as_user(HOSTILE, || {
        let talks: Vec<Talk> = (0..300).map(|_| Talk::open(&broker.socket)).collect();
        let served = |talk: &&Talk| {
            let sent = talk.send(&bytes_of(CLOSE), &[client.as_fd()]);
            let answer = sent.ok().and_then(|()| talk.receive());
            matches!(answer, Some(Message::Failed { id: 7, .. }))
        };
        // An eighth of the descriptors are for his talks.
        assert_eq!(talks.iter().filter(served).count(), 200 / 8);
        talks
    });
    as_user(HONEST, || {
        let mut manager = Manager::broker(&broker.socket).unwrap();
        let id = manager.open_subflow(&client, &order).unwrap();
        manager.close_subflow(&client, id).unwrap();
    });
    drop(held);
    as_user(HOSTILE, || {
        loop {
            let talk = Talk::open(&broker.socket);
            if talk.send(&bytes_of(CLOSE), &[client.as_fd()]).is_ok() && talk.receive().is_some() {
                break;
            }
        }
    });
}

#[test]
fn descriptors_that_the_process_has_no_room_for_are_told_and_lost_to_nobody() {
    if !inside("descriptors_that_the_process_has_no_room_for_are_told_and_lost_to_nobody") {
        return;
    }
    let hosts = Hosts::new(1);
    let none_left = Rlimit {
        current: Some(16),
        maximum: Some(16),
    };
    let mut limited = program();
    // SAFETY: between fork and exec only a system call is made.
    unsafe { limited.pre_exec(move || Ok(setrlimit(Resource::Nofile, none_left)?)) };
    let broker = Process::start_as(&hosts.client, Folder::new(), limited, |_| {});
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
    loop {
        let talk = Talk::open(&broker.socket);
        let sent = talk.send(&bytes_of(CLOSE), &[writer.as_fd()]);
        if sent.is_ok() && talk.receive().is_some() {
            break;
        }
    }
    drop(writer);
    talk::wait_for_end(reader);
}

#[test]
fn a_broker_that_became_another_user_serves_and_sets_options() {
    if !inside_as_root("a_broker_that_became_another_user_serves_and_sets_options") {
        return;
    }
    let hosts = Hosts::new(2);
    let mut broker = Process::start_as(&hosts.client, Folder::new(), program(), |told| {
        told["user"] = serde_json::json!({"uid": HONEST, "gid": HONEST});
    });
    let _server = Process::start(&hosts.server, Folder::new());
    for task in broker.tasks() {
        let ids = format!("{HONEST}\t{HONEST}\t{HONEST}\t{HONEST}");
        assert!(task.contains(&format!("Uid:\t{ids}")), "{task}");
        assert!(task.contains(&format!("Gid:\t{ids}")), "{task}");
        assert!(task.contains("CapEff:\t0000000000001000"), "{task}");
        assert!(task.contains("CapBnd:\t0000000000000000"), "{task}");
    }
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    as_user(HOSTILE, || {
        let mut manager = Manager::broker(&broker.socket).unwrap();
        let order = from(hosts.client_address(2, false));
        let second = manager.open_subflow(&client, &order).unwrap();
        let (tcp, congestion) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        let refused = manager.setsockopt(&client, second, libc::SOL_SOCKET, libc::SO_MARK, &[0; 4]);
        assert!(
            matches!(refused, Err(Error::Forbidden { .. })),
            "{refused:?}"
        );
        match manager.setsockopt(&client, second, tcp, congestion, b"cubic\0") {
            Err(Error::NeedsBpf { reason }) => return println!("skipped options: {reason}"),
            set => set.unwrap(),
        }
        let mut of = |id| manager.getsockopt(&client, id, tcp, congestion);
        assert!(of(second).unwrap().starts_with(b"cubic\0"));
        assert!(
            of(subflow_ids(&client).unwrap()[0])
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
    // The talk's own is closed, and those of the thread that served it are not many.
    assert!(broker.descriptors() < 30);
    assert!(broker.signal("TERM").success());
    // The folder is not whose it became: others of that user could take the broker's place.
    let folder = broker.take_folder();
    let owner = fs::metadata(folder.0.join("run")).unwrap().uid();
    assert_eq!(owner, 0);
    let next = Process::start(&hosts.client, folder);
    Manager::broker(&next.socket).unwrap();
}

#[test]
fn the_broker_ends_though_more_wait_to_be_turned_away_than_may() {
    if !inside_as_root("the_broker_ends_though_more_wait_to_be_turned_away_than_may") {
        return;
    }
    let hosts = Hosts::new(1);
    let mut broker = Process::start_as(&hosts.client, Folder::new(), program(), |told| {
        told["limits"] = serde_json::json!({"sessions": 1});
    });
    let status = broker.tasks().remove(0);
    let mut lines = status.lines();
    let pid = lines.find_map(|line| line.strip_prefix("Tgid:")).unwrap();
    let signal = |name: &str| mptcplab_testbed::run("kill", &format!("-{name} {}", pid.trim()));
    // So that it is the last who has the sockets, and their end falls to it.
    signal("STOP");
    let listeners: Vec<TcpListener> = (0..8)
        .map(|_| {
            let (stream, listener) = hosts.client.run(lingering).unwrap();
            as_user(HOSTILE, || {
                let talk = Talk::open(&broker.socket);
                talk.send(&bytes_of(CLOSE), &[stream.as_fd()]).unwrap();
            });
            listener
        })
        .collect();
    signal("CONT");
    // Long enough for it to come to where it could be held up.
    thread::sleep(Duration::from_millis(300));
    assert!(broker.signal("TERM").success());
    drop(listeners);
}

#[test]
fn threads_of_users_who_have_gone_end() {
    const USERS: u32 = 64;
    if !inside_as_root("threads_of_users_who_have_gone_end") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start(&hosts.client, Folder::new());
    let ask = |uid: u32| {
        as_user(HOSTILE + uid, || {
            let talk = Talk::open(&broker.socket);
            // Refused, or turned away while there is no thread left.
            let _ = talk.send(&bytes_of(CLOSE), &[io::stdin().as_fd()]);
            talk.receive().is_some()
        })
    };
    // Whoever saw that the broker has started is the first.
    assert!((1..USERS).all(ask));
    let (threads, descriptors) = (broker.tasks().len(), broker.descriptors());
    assert!(threads > USERS as usize, "one for each user");
    while broker.tasks().len() > threads / 2 || broker.descriptors() > descriptors / 2 {
        ask(USERS);
    }
}

#[test]
fn a_rule_is_for_those_whom_it_names() {
    if !inside_as_root("a_rule_is_for_those_whom_it_names") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start_as(&hosts.client, Folder::new(), program(), |told| {
        let mut rule = anything();
        rule["users"] = serde_json::json!({"these": [HONEST]});
        told["policy"]["rules"] = serde_json::json!([rule]);
    });
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let initial = subflow_ids(&client).unwrap()[0];
    let try_as = |uid| {
        as_user(uid, || {
            Manager::broker(&broker.socket)
                .unwrap()
                .set_backup(&client, initial, true)
        })
    };
    assert_eq!(try_as(HONEST), Ok(()));
    assert!(matches!(try_as(HOSTILE), Err(Error::Forbidden { .. })));
}
