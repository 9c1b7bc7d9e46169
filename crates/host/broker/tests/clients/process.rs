//! A broker that is a process of its own.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use mptcplab_linux::netns::NetNs;
use mptcplab_subflow::{Error, Manager};

use crate::common::{Folder, anything, config};

/// The broker's program.
pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mptcplab-broker"))
}

/// A broker that is a process.
pub(crate) struct Process {
    child: Child,
    pub(crate) socket: PathBuf,
    folder: Option<Folder>,
}

impl Process {
    /// Starts one that allows everything.
    pub(crate) fn start(netns: &NetNs, folder: Folder) -> Self {
        Self::start_as(netns, folder, program(), |_| {})
    }

    /// Starts one in another way, told something else.
    pub(crate) fn start_as(
        netns: &NetNs,
        folder: Folder,
        mut program: Command,
        other: impl FnOnce(&mut serde_json::Value),
    ) -> Self {
        // The broker makes its folder.
        let socket = folder.0.join("run").join("broker.sock");
        let mut told = config(&socket, &anything());
        other(&mut told);
        let start = || {
            program
                .stdin(Stdio::piped())
                .spawn()
                .expect("the broker is built")
        };
        let mut child = netns.run(start).expect("the namespace can be entered");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin
            .write_all(told.to_string().as_bytes())
            .expect("it reads");
        drop(stdin);
        // It listens before it has given up what it does not need; then it answers.
        let is_answered = || {
            let mut manager = Manager::broker(&socket).ok()?;
            let asked = manager.close_subflow(io::stdin(), 0);
            (!matches!(asked, Err(Error::NoBroker { .. }))).then_some(())
        };
        while is_answered().is_none() {
            let ended = child.try_wait().expect("a child");
            assert_eq!(ended, None, "the broker ended");
            thread::sleep(Duration::from_millis(5));
        }
        Self {
            child,
            socket,
            folder: Some(folder),
        }
    }

    /// Ends it by a signal.
    pub(crate) fn signal(&mut self, name: &str) -> ExitStatus {
        self.send(name);
        self.child.wait().expect("a child")
    }

    /// Does something while the broker does nothing.
    pub(crate) fn while_stopped<T>(&self, work: impl FnOnce() -> T) -> T {
        self.send("STOP");
        while self.tasks().iter().any(|task| !task.contains("State:\tT")) {
            thread::yield_now();
        }
        let done = work();
        self.send("CONT");
        done
    }

    fn send(&self, name: &str) {
        let words = format!("-{name} {}", self.child.id());
        mptcplab_testbed::run("kill", &words);
    }

    /// The folder of its socket, for the next one.
    pub(crate) fn take_folder(&mut self) -> Folder {
        self.folder.take().expect("it is taken once")
    }

    /// How many descriptors it has open.
    pub(crate) fn descriptors(&self) -> usize {
        let open = fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        open.expect("it runs").count()
    }

    /// Waits until it has as few descriptors as before: it closes what has gone in its own time.
    pub(crate) fn wait_for_descriptors(&self, before: usize) {
        while self.descriptors() > before {
            thread::yield_now();
        }
    }

    /// The text of a file in `/proc` of each of its threads.
    pub(crate) fn tasks(&self) -> Vec<String> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let tasks = fs::read_dir(tasks).expect("it runs");
        let status = |task: fs::DirEntry| fs::read_to_string(task.path().join("status"));
        // One that has just ended has none.
        tasks
            .filter_map(|task| status(task.expect("a task")).ok())
            .collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
