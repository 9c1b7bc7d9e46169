//! The agent's commands, as a user and the agent itself start them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use mptcplab_testbed::{Hosts, inside};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mptcplab-host");

fn agent(words: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command
        .arg("agent")
        .args(words)
        .env_remove("MPTCPLAB_ENROL");
    command.output().unwrap()
}

fn refusal(words: &[&str]) -> String {
    let output = agent(words);
    assert!(!output.status.success() && output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.lines().count(), 1, "{told}");
    told
}

#[test]
fn mistakes_are_told_in_one_line_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let state = state.to_str().unwrap();
    let told = refusal(&["--state", state, "--enrol", "mptcplab1-x"]);
    assert!(told.starts_with("--enrol: no token: "), "{told}");
    let file = folder.path().join("token");
    std::fs::write(&file, "\n").unwrap();
    let told = refusal(&["--state", state, "--enrol-file", file.to_str().unwrap()]);
    assert!(told.contains("token: no token: "), "{told}");
    let told = refusal(&["--state", state, "--name", "a\nb"]);
    assert!(told.starts_with("--name: "), "{told}");
    assert!(!folder.path().join("state").exists());
    let told = refusal(&["--state", state]);
    assert!(
        told.ends_with("this agent is not enrolled: give it a token\n"),
        "{told}"
    );
    let told = refusal(&["--state", file.to_str().unwrap()]);
    assert!(told.contains("token: "), "{told}");
}

#[test]
fn endpoints_are_there_until_the_end_of_the_agents_pipe() {
    if !inside("endpoints_are_there_until_the_end_of_the_agents_pipe") {
        return;
    }
    let hosts = Hosts::new(2);
    let addresses = [1, 2].map(|number| hosts.client_address(number, false).to_string());
    let target = format!("{}:4421", hosts.server_address(1, false));
    let words = addresses.each_ref().map(|address| format!("{address}%0"));
    let endpoints = || {
        let list = || Command::new("ip").args(["mptcp", "endpoint"]).output();
        let output = hosts.client.run(list).unwrap().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let start = || {
        let mut command = Command::new(PROGRAM);
        command.arg("hold-endpoints").arg(&target).args(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    };
    let before = endpoints();
    let mut child = hosts.client.run(start).unwrap().unwrap();
    let mut line = String::new();
    let output = child.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert!(line.starts_with("held"), "{line}");
    let during = endpoints();
    assert!(
        addresses.iter().all(|address| during.contains(address)),
        "{during}"
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(endpoints(), before);
}
