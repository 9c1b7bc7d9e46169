//! Programs in C and C++ with the header and the library, as their compilers see them.

#[path = "../../subflow/tests/story/peer.rs"]
mod peer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use mptcplab_subflow::options::Options;
use mptcplab_testbed::{inside, inside_as_root};

const HEADER: &str = include_str!("../include/mptcplab_subflow.h");

/// Where cargo has put the library: beside this test.
fn library() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.with_file_name("libmptcplab.so")
}

/// A folder of its own that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_there(program: &str) -> bool {
    let mut asked = Command::new(program);
    asked.arg("--version").stdout(Stdio::null());
    let there = asked.status().is_ok_and(|status| status.success());
    if !there {
        println!("skipped: there is no {program}");
    }
    there
}

/// Compiles a program with every warning an error.
fn compile(source: &str, compiler: &[&str], folder: &Path, libraries: &[&str]) -> PathBuf {
    let program = folder.join("program");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests").join(source))
        // The arguments that follow are no sources.
        .args(["-x", "none", "-o"])
        .arg(&program)
        .args(libraries)
        .status();
    assert!(status.unwrap().success(), "{compiler:?}");
    program
}

fn tells_the_story(name: &str, compiler: &[&str], linked_statically: bool) {
    if !inside(name) || !is_there(compiler[0]) {
        return;
    }
    let folder = Folder::new(name);
    // The program asks for the library by the name that it has where it is installed.
    let shared = library();
    fs::copy(&shared, folder.0.join("libmptcplab.so.1")).unwrap();
    let (archive, shared) = (shared.with_extension("a"), shared.display().to_string());
    let archive = archive.display().to_string();
    let libraries = match linked_statically {
        false => vec![&*shared],
        true => vec![
            &*archive,
            "-lgcc_s",
            "-lutil",
            "-lrt",
            "-lpthread",
            "-lm",
            "-ldl",
        ],
    };
    let program = compile("story.c", compiler, &folder.0, &libraries);
    let told = told(&program, &folder, &[]);
    assert_eq!(told, peer::TOLD, "\n{told}");
}

/// Output of a program at the story's client, where it must end well.
fn told(program: &Path, folder: &Folder, arguments: &[&str]) -> String {
    let (hosts, port) = peer::stage();
    let mut program = Command::new(program);
    program
        .args(["10.0.1.1", &port.to_string()])
        .args(arguments)
        .env("LD_LIBRARY_PATH", &folder.0)
        .stderr(Stdio::inherit());
    let output = hosts.client.run(|| program.output()).unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn c_tells_the_story() {
    tells_the_story("c_tells_the_story", &["cc", "-std=gnu99"], false);
}

#[test]
fn c_with_the_static_library_tells_the_story() {
    let name = "c_with_the_static_library_tells_the_story";
    tells_the_story(name, &["cc", "-std=gnu11"], true);
}

#[test]
fn cpp_tells_the_story() {
    let compiler = ["c++", "-std=c++11", "-x", "c++"];
    tells_the_story("cpp_tells_the_story", &compiler, false);
}

#[test]
fn c_sets_an_option_of_one_subflow_as_root() {
    const TEST: &str = "c_sets_an_option_of_one_subflow_as_root";
    if !inside_as_root(TEST) || !is_there("cc") {
        return;
    }
    if let Err(error) = Options::load() {
        return println!("skipped {TEST}: {error}");
    }
    let folder = Folder::new(TEST);
    let shared = library();
    fs::copy(&shared, folder.0.join("libmptcplab.so.1")).unwrap();
    let shared = shared.display().to_string();
    let program = compile("options.c", &["cc", "-std=gnu99"], &folder.0, &[&shared]);
    let told = told(&program, &folder, &["10.0.2.2"]);
    assert_eq!(told, "1: reno\n2: cubic\noption_refused\n");
}

#[test]
fn the_library_exports_what_the_header_declares() {
    if !is_there("nm") {
        return;
    }
    let declared: BTreeSet<_> = HEADER
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '(')
        .filter_map(|word| word.split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("mptcplab_"))
        .collect();
    let listed = Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(library())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let exported: BTreeSet<_> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(declared.len() > 15, "{declared:?}");
    assert_eq!(declared, exported);
}
