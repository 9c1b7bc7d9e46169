//! Configurations of brokers for tests.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use mptcplab_subflow::Open;

/// A rule that allows everything.
pub(crate) fn anything() -> serde_json::Value {
    serde_json::json!({
        "place": "test", "users": "all", "groups": {"these": []}, "interfaces": ["*"],
        "max_subflows": 300, "backup": true, "announce": "any",
        "options": [[libc::IPPROTO_TCP, libc::TCP_CONGESTION]], "congestion_controls": null,
    })
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

/// Configuration of a broker.
pub(crate) fn config(socket: &Path, rule: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"socket": socket, "policy": {"rules": [rule]}, "quiet": true})
}

/// A subflow from any port of this address.
pub(crate) fn from(address: IpAddr) -> Open {
    Open::from(SocketAddr::new(address, 0))
}
