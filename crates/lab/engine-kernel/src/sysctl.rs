//! Settings under `/proc/sys` of the calling thread's network namespace.

use std::fs;
use std::io;

/// Writes a sysctl by its dotted name.
///
/// # Errors
/// Names the sysctl and the value that the kernel refused.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::write(path(name), value)
        .map_err(|error| io::Error::new(error.kind(), format!("sysctl {name} = {value}: {error}")))
}

/// Reads a sysctl by its dotted name.
///
/// # Errors
/// `NotFound` where this kernel has no such sysctl.
pub fn get(name: &str) -> io::Result<String> {
    Ok(fs::read_to_string(path(name))?.trim().to_owned())
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}
