//! A broker in a thread of the test.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use mptcplab_broker::{Broker, Config};
use mptcplab_kernel::netns::NetNs;
use mptcplab_subflow::Open;

/// A rule that allows everything.
pub(crate) fn anything() -> serde_json::Value {
    serde_json::json!({
        "place": "test", "users": "all", "groups": {"these": []}, "interfaces": ["*"],
        "max_subflows": 300, "backup": true, "announce": "any",
        "options": [[libc::IPPROTO_TCP, libc::TCP_CONGESTION]], "congestion_controls": null,
    })
}

/// A broker that ends with this.
pub(crate) struct Running {
    pub(crate) socket: PathBuf,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
    _folder: Folder,
}

/// A folder that goes with this.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("mptcplab-broker-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a broker is told.
pub(crate) fn config(socket: &Path, rule: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"socket": socket, "policy": {"rules": [rule]}, "quiet": true})
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
            broker.serve(stopped.as_fd());
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

/// A subflow from any port of this address.
pub(crate) fn from(address: IpAddr) -> Open {
    Open::from(SocketAddr::new(address, 0))
}
