//! Rights that the broker gives up, and service without them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use mptcplab_broker::{Broker, Config, StartError};
use mptcplab_subflow::{Open, subflow_ids};
use mptcplab_testbed::{Hosts, inside};

use crate::common::{Folder, anything, config};
use crate::process::Process;
use crate::stage::Stage;

#[test]
fn every_thread_has_one_capability_and_a_filter() {
    if !inside("confined::every_thread_has_one_capability_and_a_filter") {
        return;
    }
    let stage = Stage::new(1);
    let mut client = stage.manager();
    // Once it is answered there is a thread for it.
    client.close_subflow(io::stdin(), 0).unwrap_err();
    const NET_ADMIN: &str = "0000000000001000";
    const NONE: &str = "0000000000000000";
    let wanted = [
        ("CapPrm", NET_ADMIN),
        ("CapEff", NET_ADMIN),
        ("CapInh", NONE),
        ("CapBnd", NONE),
        ("CapAmb", NONE),
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
    ];
    let mut names = Vec::new();
    for status in stage.broker.tasks() {
        let field = |name: &str| {
            let mut lines = status.lines();
            let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.expect("a field").trim().to_owned()
        };
        names.push(field("Name"));
        for (name, value) in wanted {
            assert_eq!(field(name), value, "{name} of {}", field("Name"));
        }
    }
    assert!(names.contains(&"user 0".to_owned()), "{names:?}");
}

#[test]
fn a_confined_broker_serves_and_ends_in_order() {
    if !inside("confined::a_confined_broker_serves_and_ends_in_order") {
        return;
    }
    let mut stage = Stage::new(2);
    let mut manager = stage.manager();
    let mut watch = manager.events(&stage.client).unwrap();
    let bound = Open {
        interface: Some("eth2".to_owned()),
        ..stage.other()
    };
    let second = manager.open_subflow(&stage.client, &bound).unwrap();
    watch.next().unwrap().unwrap();
    manager.set_backup(&stage.client, second, true).unwrap();
    manager.close_subflow(&stage.client, second).unwrap();
    let error = manager.getsockopt(&stage.client, 1, libc::IPPROTO_TCP, libc::TCP_CONGESTION);
    assert!(error.is_err(), "BPF is not for user namespaces");

    // Nothing is held for what is done; one is for the watch.
    let before = stage.broker.descriptors();
    drop(watch);
    while stage.broker.descriptors() == before {
        thread::yield_now();
    }
    assert_eq!(stage.broker.descriptors(), before - 1);

    let status = stage.broker.signal("TERM");
    assert!(status.success(), "{status}");
    assert!(!stage.broker.socket.exists());
}

#[test]
fn a_killed_broker_takes_no_connection_with_it() {
    if !inside("confined::a_killed_broker_takes_no_connection_with_it") {
        return;
    }
    const BYTES: usize = 20_000_000;
    let mut stage = Stage::new(2);
    let mut manager = stage.manager();
    let open = stage.other();
    let second = manager.open_subflow(&stage.client, &open).unwrap();
    // Not scoped: where the test fails, nothing waits for what is never read.
    let sender = thread::spawn({
        let mut client = stage.client.try_clone().unwrap();
        move || client.write_all(&vec![7; BYTES])
    });
    let mut heard = vec![0; BYTES / 4];
    stage.peer.read_exact(&mut heard).unwrap();
    stage.broker.signal("KILL");
    let folder = stage.broker.take_folder();
    assert!(stage.broker.socket.exists(), "it is still there");
    stage.peer.read_exact(&mut heard).unwrap();
    let _next = Process::start(&stage.hosts.client, folder);
    manager.close_subflow(&stage.client, second).unwrap();
    let third = manager.open_subflow(&stage.client, &open).unwrap();
    stage.peer.read_exact(&mut heard).unwrap();
    stage.peer.read_exact(&mut heard).unwrap();
    assert_eq!(heard.last(), Some(&7));
    sender.join().unwrap().unwrap();
    assert!(subflow_ids(&stage.client).unwrap().contains(&third));
}

/// Something that a confined broker cannot, and whether it could.
type Attempt = (&'static str, fn(&Path) -> bool);

#[test]
fn what_was_given_up_is_gone() {
    if !inside("confined::what_was_given_up_is_gone") {
        return;
    }
    let hosts = Hosts::new(1);
    let folder = Folder::new();
    let other = folder.0.join("other");
    fs::write(&other, "kept").unwrap();
    let below = folder.0.join("below");
    let socket = below.join("broker.sock");
    let told = config(&socket, &anything()).to_string();
    let told = Config::parse(&told).unwrap();
    let tries: [Attempt; 10] = [
        ("read a file", |other| File::open(other).is_ok()),
        ("write a file", |other| File::create(other).is_ok()),
        ("list a folder", |_| fs::read_dir("/").is_ok()),
        ("remove a file elsewhere", |other| {
            fs::remove_file(other).is_ok()
        }),
        ("open /proc", |_| File::open("/proc/self/status").is_ok()),
        ("make a process", |_| Command::new("true").status().is_ok()),
        ("fork", |_| {
            // SAFETY: a child that there should not be ends at once.
            match unsafe { libc::fork() } {
                // SAFETY: ends the child.
                0 => unsafe { libc::_exit(0) },
                pid => pid > 0,
            }
        }),
        ("open a TCP socket", |_| {
            TcpListener::bind("127.0.0.1:0").is_ok()
        }),
        ("open a UDP socket", |_| {
            UdpSocket::bind("127.0.0.1:0").is_ok()
        }),
        ("enter a namespace", |_| {
            // SAFETY: plain system call.
            unsafe { libc::unshare(libc::CLONE_NEWNET) == 0 }
        }),
    ];
    let done = |with: bool| {
        let broker = Broker::start(&told).unwrap();
        if with {
            broker.confine(None).unwrap();
        }
        tries.map(|(name, attempt)| (name, attempt(&other)))
    };
    let confined = hosts.client.run(|| done(true)).unwrap();
    for (name, worked) in confined {
        assert!(!worked, "a confined broker can {name}");
    }
    // The attempts are such that succeed otherwise.
    fs::remove_file(&socket).unwrap();
    for (name, worked) in hosts.client.run(|| done(false)).unwrap() {
        assert!(worked, "{name}");
    }
}

#[test]
fn a_process_with_threads_is_not_made_a_broker() {
    let folder = Folder::new();
    let told = config(&folder.0.join("broker.sock"), &anything()).to_string();
    // The test is a thread beside the first one.
    let error = mptcplab_broker::run(&Config::parse(&told).unwrap()).unwrap_err();
    assert!(matches!(error, StartError::Threads(2..)), "{error}");
}

#[test]
fn a_broker_that_may_not_says_so() {
    let folder = Folder::new();
    let told = config(&folder.0.join("broker.sock"), &anything()).to_string();
    // No process has CAP_NET_ADMIN over this namespace from inside of a new user namespace.
    let mut command = Command::new("unshare");
    command.args(["--user", env!("CARGO_BIN_EXE_mptcplab-broker")]);
    let spawned = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return println!("skipped: {error}"),
    };
    let wrote = child.stdin.take().unwrap().write_all(told.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if let Err(error) = wrote.map_err(|error: io::Error| error.to_string()) {
        return println!("skipped: {error} {said}");
    }
    assert!(!output.status.success());
    assert!(said.contains("the broker needs CAP_NET_ADMIN"), "{said}");
}
