//! Who opens subflows in the broker's namespace.

use std::fs;
use std::io;

use crate::StartError;

/// Gives the connections that are opened from now on to orders (`net.mptcp.path_manager=userspace`).
pub(crate) fn by_orders() -> Result<(), StartError> {
    const NAMES: [(&str, &str); 2] = [
        ("/proc/sys/net/mptcp/path_manager", "userspace"),
        // Before Linux 6.15.
        ("/proc/sys/net/mptcp/pm_type", "1"),
    ];
    let mut result = Err(io::Error::from(io::ErrorKind::NotFound));
    for (name, value) in NAMES {
        result = fs::write(name, value);
        match &result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => break,
        }
    }
    result.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StartError::NoMptcp,
        _ => StartError::system(
            "setting net.mptcp.path_manager=userspace (--leave-path-manager leaves it)",
            error,
        ),
    })
}
