//! The path manager of a network namespace: the kernel's own, or userspace.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// The settings that leave subflows to userspace: from Linux 6.15 on, and before.
const SETTINGS: [(&str, &str); 2] = [
    ("/proc/sys/net/mptcp/path_manager", "userspace"),
    ("/proc/sys/net/mptcp/pm_type", "1"),
];
/// Longer than any value of these.
const VALUE_BYTES: usize = 64;

/// Selects the userspace path manager for the connections that are opened in a namespace; puts back
/// the setting that was there before when it is dropped.
#[derive(Debug)]
pub struct UserspacePm {
    /// Open all the while: a process that may open no more files can still put it back.
    setting: File,
    ours: &'static str,
    before: String,
}

impl UserspacePm {
    /// Selects it in the calling thread's namespace.
    ///
    /// # Errors
    /// `NotFound` where the kernel takes no commands (before Linux 5.19, or without MPTCP), and
    /// `PermissionDenied` without CAP_NET_ADMIN.
    pub fn select() -> io::Result<Self> {
        Self::select_after(|found, _| found.to_owned())
    }

    /// As [`Self::select`]. Before anything is changed, `decide` is given the setting that was found
    /// and the one to come, and gives the one to put back.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn select_after(decide: impl FnOnce(&str, &str) -> String) -> io::Result<Self> {
        for (path, ours) in SETTINGS {
            let opened = OpenOptions::new().read(true).write(true).open(path);
            let setting = match opened {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let mut bytes = [0; VALUE_BYTES];
            let length = setting.read_at(&mut bytes, 0)?;
            let before = decide(String::from_utf8_lossy(&bytes[..length]).trim(), ours);
            setting.write_at(ours.as_bytes(), 0)?;
            return Ok(Self {
                setting,
                ours,
                before,
            });
        }
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            "this kernel's MPTCP takes no commands: it needs Linux 5.19 or newer, with CONFIG_MPTCP",
        ))
    }

    /// Leaves it selected for good.
    pub fn keep(mut self) {
        self.before = self.ours.to_owned();
    }
}

impl Drop for UserspacePm {
    fn drop(&mut self) {
        if self.before != self.ours {
            // A process that has lost the privilege meanwhile cannot put it back.
            let _ = self.setting.write_at(self.before.as_bytes(), 0);
        }
    }
}
