//! The program beside connections and interfaces of the running kernel.

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

use mptcplab_linux::netns::NetNs;
use mptcplab_subflow::{Manager, Open};
use mptcplab_testbed::{Hosts, inside};
use serde_json::Value;

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mptcplab-host"));
    command.args(words);
    command
}

fn run(netns: &NetNs, words: &[&str]) -> Output {
    netns.run(|| command(words).output()).unwrap().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn listed(netns: &NetNs) -> Value {
    let output = run(netns, &["subflows", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn both_ends_list_one_connection_with_its_subflows() {
    if !inside("both_ends_list_one_connection_with_its_subflows") {
        return;
    }
    let hosts = Hosts::new(2);
    let listener = hosts.listen(false);
    let (mut client, mut server) = hosts.connect(&listener, false);
    let mut manager = hosts.client.run(Manager::direct).unwrap().unwrap();
    let from = SocketAddr::new(hosts.client_address(2, false), 0);
    let open = Open {
        backup: true,
        ..Open::from(from)
    };
    hosts
        .client
        .run(|| manager.open_subflow(&client, &open))
        .unwrap()
        .unwrap();
    client.write_all(&[0; 1000]).unwrap();
    server.read_exact(&mut [0; 1000]).unwrap();

    let (here, there) = (listed(&hosts.client), listed(&hosts.server));
    let (here, there) = (&here["connections"][0], &there["connections"][0]);
    // The client has sent a join and knows both tokens; the server knows its own.
    assert_eq!(here["remote_token"], there["token"]);
    assert!(here["token"].is_string() && here["token"] != there["token"]);
    assert_eq!(there["remote_token"], Value::Null);
    assert_eq!(here["fallback"], Value::Bool(false));
    assert_eq!(here["bytes_sent"], 1001);
    assert_eq!(there["bytes_received"], 1001);
    let subflows = here["subflows"].as_array().unwrap();
    let told: Vec<_> = subflows
        .iter()
        .map(|one| (one["local_id"].as_u64(), one["backup"].as_bool()))
        .collect();
    assert_eq!(told, [(Some(0), Some(false)), (Some(1), Some(true))]);
    assert!(subflows.iter().all(|one| one["state"] == "ESTABLISHED"));
    let joined = subflows[1]["local"].as_str().unwrap();
    assert!(joined.starts_with("10.0.2.2:"), "{joined}");
    assert!(
        there["subflows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["remote"] == joined)
    );

    let table = run(&hosts.client, &["subflows"]);
    let table = text(&table.stdout);
    assert!(
        table.starts_with(here["token"].as_str().unwrap()),
        "{table}"
    );
    assert!(
        table.contains(joined) && table.contains("ESTABLISHED"),
        "{table}"
    );
}

#[test]
fn a_host_without_connections_says_so() {
    if !inside("a_host_without_connections_says_so") {
        return;
    }
    let netns = NetNs::create().unwrap();
    let output = run(&netns, &["subflows"]);
    assert_eq!(text(&output.stdout), "no MPTCP connection\n");
    let again = run(
        &netns,
        &["subflows", "--json", "--every", "0.01", "--count", "3"],
    );
    assert!(again.status.success());
    assert_eq!(text(&again.stdout).lines().count(), 3);
}

#[test]
fn bandwidth_adds_up_to_what_was_sent() {
    if !inside("bandwidth_adds_up_to_what_was_sent") {
        return;
    }
    const PAYLOAD_BYTES: usize = 200_000;
    let hosts = Hosts::new(2);
    let folder = std::env::temp_dir().join(format!("mptcplab-host-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let out = folder.join("bandwidth.csv");
    let words = [
        "bandwidth",
        "--json",
        "--interval",
        "0.05",
        "--out",
        out.to_str().unwrap(),
    ];
    let start = || command(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut logging = hosts.client.run(start).unwrap();
    let mut output = logging.stdout.take().unwrap();
    // The first rows: its first reading has been taken.
    let mut first = [0; 1];
    output.read_exact(&mut first).unwrap();
    let listener = hosts.listen(false);
    let (mut client, mut server) = hosts.connect(&listener, false);
    let sender = std::thread::spawn(move || client.write_all(&[0; PAYLOAD_BYTES]).map(|()| client));
    server.read_exact(&mut vec![0; PAYLOAD_BYTES]).unwrap();
    sender.join().unwrap().unwrap();
    drop(server);
    // One more interval holds what was sent last.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let pid = nix::unistd::Pid::from_raw(logging.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(logging.wait().unwrap().success());

    let rows: Vec<Value> = (text(&first).to_owned() + &rest)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sent = |interface: &str| -> u64 {
        let of = rows.iter().filter(|row| row["interface"] == interface);
        of.map(|row| row["sent_bytes"].as_u64().unwrap()).sum()
    };
    let (used, unused) = (sent("eth1") as usize, sent("eth2") as usize);
    assert!(
        used > PAYLOAD_BYTES && used < PAYLOAD_BYTES * 5 / 4,
        "{used} bytes"
    );
    assert!(unused < PAYLOAD_BYTES / 100, "{unused} bytes");
    assert!(rows.iter().all(|row| row["interface"] != "lo"));
    let csv = fs::read_to_string(&out).unwrap();
    let in_file: usize = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[2] == "eth1")
        .map(|cells| cells[3].parse::<usize>().unwrap())
        .sum();
    assert_eq!(in_file, used);
    assert_eq!(csv.lines().count(), rows.len() + 1);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mistakes_are_named() {
    for (words, told) in [
        (
            &["bandwidth", "-I", "nowhere0"][..],
            "-I nowhere0: there is no such interface",
        ),
        (
            &["bandwidth", "--interval", "fast"],
            "seconds from 0.01 to 86400, such as 0.5",
        ),
        (
            &["bandwidth", "--interval", "0"],
            "seconds from 0.01 to 86400, such as 0.5",
        ),
        (
            &["bandwidth", "--out", "/nowhere/at/all.csv"],
            "/nowhere/at/all.csv: No such file",
        ),
        (
            &["path-manager", "full-mesh"],
            "a similar value exists: 'fullmesh'",
        ),
        (
            &["nc", "--policy", "pivto", "localhost", "1"],
            "a similar value exists: 'pivot'",
        ),
        (
            &["nc", "--config", "", "localhost", "1"],
            "is empty: name a file",
        ),
        (&["subflows", "--count", "2"], "--every <SECONDS>"),
        (&["broker", "--socket", ""], "is empty: name a file"),
        (
            &["broker", "--check", "--policy", ""],
            "is empty: name a file",
        ),
        (
            &["broker", "--socket", "/"],
            "--socket /: is a folder: name the socket in it",
        ),
        (
            &["broker", "--check", "--socket", "/nowhere/at/all.sock"],
            "--socket /nowhere/at/all.sock: there is no folder /nowhere: make it first",
        ),
        (
            &["broker", "--user", "nobody-of-this-name"],
            "--user: 'nobody-of-this-name': there is no user of this name",
        ),
    ] {
        let output = command(words).output().unwrap();
        assert!(!output.status.success());
        let error = text(&output.stderr);
        assert!(error.contains(told), "{words:?}: {error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_reader_that_goes_is_no_error() {
    let mut writing = command(&["bandwidth", "--interval", "0.01", "--json", "-I", "lo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(writing.stdout.take());
    let output = writing.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn a_full_or_closed_standard_error_changes_no_status() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let mut refused = command(&["nc"]);
    let status = refused.stderr(full.unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_full_standard_output_is_named() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let mut listing = command(&["subflows"]);
    let output = listing
        .stdout(full.unwrap())
        .stderr(Stdio::piped())
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.starts_with("standard output: No space left"),
        "{error}"
    );
}

#[test]
fn control_characters_reach_no_terminal() {
    for words in [
        &["cc", "unload", "\u{1b}[31mx"][..],
        &["path-manager", "\u{1b}[31mx"],
        &["nc", "host", "\u{1b}[31m"],
        &["broker", "--user", "\u{1b}[31m"],
        &["broker", "--mode", "\u{1b}[31m"],
        &["broker", "--policy", "\u{1b}[31m"],
    ] {
        let output = command(words).output().unwrap();
        assert!(!output.status.success());
        assert!(!output.stderr.contains(&0x1b), "{}", text(&output.stderr));
    }
}

#[test]
fn a_second_signal_ends_what_waits_for_its_reader() {
    const PIPE_BYTES: i32 = 4096;
    let (_reader, mut writer) = std::io::pipe().unwrap();
    nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETPIPE_SZ(PIPE_BYTES)).unwrap();
    writer.write_all(&[b' '; PIPE_BYTES as usize]).unwrap();
    let mut writing = command(&["bandwidth", "--interval", "0.01", "-I", "lo"])
        .stdout(writer)
        .spawn()
        .unwrap();
    let place = format!("/proc/{}/wchan", writing.id());
    if !wait_until(|| fs::read_to_string(&place).is_ok_and(|place| place.contains("pipe_write"))) {
        println!("skipped: this kernel does not tell where a process waits");
        writing.kill().unwrap();
        writing.wait().unwrap();
        return;
    }
    let pid = nix::unistd::Pid::from_raw(writing.id() as i32);
    let interrupt = || nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    interrupt();
    std::thread::sleep(std::time::Duration::from_millis(800));
    assert!(writing.try_wait().unwrap().is_none());
    interrupt();
    assert_eq!(writing.wait().unwrap().code(), Some(130));
}

/// Waits for what comes soon; false where it does not.
fn wait_until(condition: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        condition()
    })
}

#[test]
fn the_last_of_several_values_counts() {
    let words = [
        "bandwidth",
        "--count",
        "9",
        "--count",
        "1",
        "--interval",
        "0.01",
        "-I",
        "lo",
    ];
    let output = command(&words).output().unwrap();
    assert_eq!(
        text(&output.stdout).lines().count(),
        1,
        "{}",
        text(&output.stderr)
    );
}
