//! The duties of this program towards the laboratory: they agree on a version, and it describes
//! the laboratory's commands.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const CALLER: &str = "MPTCPLAB_CALLER_VERSION";

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mptcplab-host"));
    command.args(words);
    command
}

fn run(words: &[&str], input: &str) -> Output {
    let mut piped = command(words);
    piped.stdin(Stdio::piped());
    let mut child = piped
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn table() -> Value {
    let option = |name: &str, values: &[&str]| {
        json!({
            "name": name, "is_option": true, "values": values, "meaning": format!("What {name} is"),
            "default": null, "required": false, "many": false,
        })
    };
    json!({
        "name": "mptcplab", "version": "7.8.9", "about": "A laboratory",
        "arguments": [option("version", &[])],
        "commands": [
            {
                "name": "run", "about": "Run scenarios",
                "arguments": [
                    {
                        "name": "SCENARIO", "is_option": false, "values": ["SCENARIO"],
                        "meaning": "What is run", "default": null, "required": true, "many": true,
                    },
                    option("engine", &["kernel", "sim"]),
                    option("out", &["DIR"]),
                ],
            },
            {"name": "subflows", "about": "", "arguments": []},
        ],
    })
}

#[test]
fn a_caller_of_the_same_version_is_served() {
    let mut served = command(&["nc", "--help"]);
    served.env(CALLER, env!("CARGO_PKG_VERSION"));
    assert!(served.output().unwrap().status.success());
}

#[test]
fn a_caller_of_another_version_is_refused_whatever_it_asks_for() {
    let mut refused = command(&["nc", "--new-option"]);
    let output = refused.env(CALLER, "99.0.1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    let (needed, found) = told.split_once(", but ").unwrap();
    assert_eq!(needed, "mptcplab 99.0.1 needs mptcplab-host 99.0.1");
    let program = env!("CARGO_BIN_EXE_mptcplab-host");
    let is = concat!(
        " is ",
        env!("CARGO_PKG_VERSION"),
        ": `make setup` builds it, or "
    );
    assert!(found.starts_with(&format!("{program}{is}")), "{told}");
}

#[test]
fn a_shell_completes_the_commands_of_the_laboratory_and_of_this_program() {
    let output = run(
        &["completion", "bash", "--laboratory"],
        &table().to_string(),
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let script = text(&output.stdout);
    assert!(script.contains(r#"compgen -W "kernel sim""#), "{script}");
    assert!(script.contains("mptcplab__subcmd__run") || script.contains("mptcplab__run"));
    let own = run(&["subflows", "--help"], "");
    assert!(text(&own.stdout).contains("--every") && script.contains("--every"));
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = std::env::temp_dir().join(format!("mptcplab-manual-{}", std::process::id()));
    let words = ["man", folder.to_str().unwrap(), "--laboratory"];
    let output = run(&words, &table().to_string());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(folder.join("mptcplab-run.1")).unwrap();
    assert!(
        page.contains("What is run") && page.contains("kernel"),
        "{page}"
    );
    let top = fs::read_to_string(folder.join("mptcplab.1")).unwrap();
    assert!(
        top.contains("7.8.9") && top.contains("mptcplab\\-subflows"),
        "{top}"
    );
    assert!(folder.join("mptcplab-subflows.1").exists());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_table_that_cannot_be_read_is_one_line() {
    let output = run(&["completion", "zsh", "--laboratory"], "{}");
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.starts_with("the table of commands: ") && told.lines().count() == 1);
}
