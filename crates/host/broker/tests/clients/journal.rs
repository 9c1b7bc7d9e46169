//! The broker's log.

use std::io::{self, PipeReader, PipeWriter, Read, pipe};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::Duration;

use mptcplab_subflow::protocol::Command;
use mptcplab_subflow::{Error, Open, connection};
use mptcplab_testbed::{inside, inside_as_root, ip};
use rustix::fs::OFlags;

use crate::process::program;
use crate::session::bytes_of;
use crate::stage::{HONEST, HOSTILE, Stage, as_user};

/// A broker whose standard error is a pipe as small as can be, and both ends of this.
fn stage(debug: bool) -> (Stage, PipeReader, PipeWriter) {
    let (reader, writer) = pipe().unwrap();
    let one_page = 4096;
    // SAFETY: plain system call.
    let set = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, one_page) };
    assert!(set >= one_page, "{}", io::Error::last_os_error());
    let mut program = program();
    program.stderr(writer.try_clone().unwrap());
    let told = |told: &mut serde_json::Value| {
        told["quiet"] = false.into();
        told["debug"] = debug.into();
    };
    (Stage::with(2, program, told), reader, writer)
}

/// Text up to `wanted`.
fn read_until(reader: &mut PipeReader, wanted: &str) -> String {
    let mut written = String::new();
    while !written.ends_with(wanted) {
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        written.push(byte[0].into());
    }
    written
}

/// Ends the broker; what it writes until then.
fn rest(stage: &mut Stage, reader: PipeReader) -> String {
    let reading = thread::spawn(move || io::read_to_string(reader).unwrap());
    assert!(stage.broker.signal("TERM").success());
    reading.join().unwrap()
}

#[test]
fn a_log_that_is_not_read_holds_up_no_user_and_tells_what_is_missing() {
    const ORDERS: usize = 400;
    if !inside_as_root("journal::a_log_that_is_not_read_holds_up_no_user_and_tells_what_is_missing")
    {
        return;
    }
    let (mut stage, mut reader, writer) = stage(false);
    as_user(HOSTILE, || {
        let mut manager = stage.manager();
        for _ in 0..ORDERS {
            let error = manager.close_subflow(io::stdin(), 0).unwrap_err();
            assert!(!matches!(error, Error::NoBroker { .. }), "{error}");
        }
    });
    as_user(HONEST, || stage.try_command(&mut stage.manager()));
    // Others write to the same open file, and rely on that it makes them wait.
    let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
    assert!(!flags.contains(OFlags::NONBLOCK));
    drop(writer);
    let mut written = read_until(&mut reader, "left_out=");
    written += &rest(&mut stage, reader);
    let of = |uid: u32| {
        let start = format!("uid={uid} ");
        written
            .lines()
            .filter(|line| line.starts_with(&start))
            .count()
    };
    let left_out: usize = written
        .lines()
        .filter_map(|line| line.strip_prefix("left_out="))
        .map(|count| count.parse::<usize>().unwrap())
        .sum();
    assert!(left_out > 0, "{written}");
    // To open and to close are two.
    assert_eq!(of(HOSTILE) + of(HONEST) + left_out, ORDERS + 2, "{written}");
}

#[test]
fn a_client_that_hangs_up_is_told_of_as_such_and_only_for_debugging() {
    if !inside("journal::a_client_that_hangs_up_is_told_of_as_such_and_only_for_debugging") {
        return;
    }
    for debug in [false, true] {
        let (mut stage, reader, _) = stage(debug);
        ip(&stage.hosts.server, "route add blackhole 10.0.2.2/32");
        let session = stage.session();
        let command = Command::Open(Open {
            timeout: Duration::MAX,
            ..stage.other()
        });
        session
            .send(&bytes_of(command), &[stage.client.as_fd()])
            .unwrap();
        let subflows = || connection(&stage.client).unwrap().subflows.len();
        while subflows() < 2 {
            thread::yield_now();
        }
        drop(session);
        while subflows() > 1 {
            thread::yield_now();
        }
        let written = rest(&mut stage, reader);
        let told = written.contains("order=open result=\"the client hung up\"");
        assert_eq!(told, debug, "{written}");
        assert!(!written.contains("not understood"), "{written}");
    }
}
