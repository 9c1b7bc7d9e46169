//! A broker in a thread of the test.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use mptcplab_broker::{Broker, Config};
use mptcplab_linux::netns::NetNs;

use crate::common::{Folder, config};

/// A broker that ends with this.
pub(crate) struct Running {
    pub(crate) socket: PathBuf,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
    _folder: Folder,
}

impl Running {
    /// Starts a broker in a namespace, with this rule.
    pub(crate) fn start(netns: &NetNs, rule: &serde_json::Value) -> Self {
        Self::start_with(netns, |socket| config(socket, rule))
    }

    /// Starts a broker in a namespace, with a configuration made for its socket.
    pub(crate) fn start_with(
        netns: &NetNs,
        config: impl FnOnce(&Path) -> serde_json::Value,
    ) -> Self {
        let folder = Folder::new();
        let socket = folder.0.join("broker.sock");
        let config = Config::parse(&config(&socket).to_string()).expect("a configuration");
        let (stop, stopped) = UnixStream::pair().expect("a pair");
        let (started, has_started) = std::sync::mpsc::channel();
        let netns = netns.clone();
        let thread = thread::spawn(move || {
            netns.enter().expect("the namespace can be entered");
            let broker = Broker::start(&config).expect("a broker");
            started.send(()).expect("the test waits");
            broker.serve(stopped.as_fd()).expect("threads");
        });
        has_started.recv().expect("the broker starts");
        Self {
            socket,
            stop: Some(stop),
            thread: Some(thread),
            _folder: folder,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut stop) = self.stop.take() {
            let _ = stop.write_all(&[0]);
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(thread::panicking() || ended.is_ok(), "the broker panicked");
        }
    }
}
