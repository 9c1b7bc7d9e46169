//! Who opens the subflows of a network namespace: the kernel's own path manager, or orders.

use std::fs;
use std::io;

/// The settings that leave subflows to orders: from Linux 6.15 on, and before.
const SETTINGS: [(&str, &str); 2] = [
    ("/proc/sys/net/mptcp/path_manager", "userspace"),
    ("/proc/sys/net/mptcp/pm_type", "1"),
];

/// What a setting was before.
#[derive(Clone, Debug)]
pub struct Before {
    file: &'static str,
    value: String,
}

impl Before {
    /// Gives it back.
    ///
    /// # Errors
    /// What writing it gives.
    pub fn restore(&self) -> io::Result<()> {
        fs::write(self.file, &self.value)
    }
}

/// Leaves the connections that are opened from now on in the calling thread's namespace to orders.
///
/// # Errors
/// `NotFound` where the kernel takes no orders (before Linux 5.19, or without MPTCP), and
/// `PermissionDenied` without CAP_NET_ADMIN.
pub fn by_orders() -> io::Result<Before> {
    for (file, value) in SETTINGS {
        let before = match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            read => read?,
        };
        fs::write(file, value)?;
        return Ok(Before {
            file,
            value: before,
        });
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        "this kernel's MPTCP takes no orders: it needs Linux 5.19 or newer, with CONFIG_MPTCP",
    ))
}
