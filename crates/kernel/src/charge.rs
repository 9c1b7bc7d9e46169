//! Who opens the subflows of a network namespace: the kernel's own path manager, or orders.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// The settings that leave subflows to orders: from Linux 6.15 on, and before.
const SETTINGS: [(&str, &str); 2] = [
    ("/proc/sys/net/mptcp/path_manager", "userspace"),
    ("/proc/sys/net/mptcp/pm_type", "1"),
];
/// Longer than any value of these.
const VALUE_BYTES: usize = 64;

/// Leaves the connections that are opened in a namespace to orders, as long as it lives: then what
/// was there before is put back.
#[derive(Debug)]
pub struct Charge {
    /// Open all the while: who may open no more files can still give back.
    setting: File,
    ours: &'static str,
    before: String,
}

impl Charge {
    /// Takes charge of the calling thread's namespace.
    ///
    /// # Errors
    /// `NotFound` where the kernel takes no orders (before Linux 5.19, or without MPTCP), and
    /// `PermissionDenied` without CAP_NET_ADMIN.
    pub fn take() -> io::Result<Self> {
        for (path, ours) in SETTINGS {
            let opened = OpenOptions::new().read(true).write(true).open(path);
            let setting = match opened {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let mut bytes = [0; VALUE_BYTES];
            let length = setting.read_at(&mut bytes, 0)?;
            let before = String::from_utf8_lossy(&bytes[..length]).trim().to_owned();
            setting.write_at(ours.as_bytes(), 0)?;
            return Ok(Self {
                setting,
                ours,
                before,
            });
        }
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            "this kernel's MPTCP takes no orders: it needs Linux 5.19 or newer, with CONFIG_MPTCP",
        ))
    }

    /// Nothing will be put back.
    pub fn keep(mut self) {
        self.before = self.ours.to_owned();
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.before != self.ours {
            // Who has lost the privilege meanwhile cannot mend it, either.
            let _ = self.setting.write_at(self.before.as_bytes(), 0);
        }
    }
}
