//! A user namespace around one test.

use std::ffi::CStr;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{env, io};

use nix::sched::{CloneFlags, unshare};

const INSIDE: &str = "MPTCPLAB_TEST_INSIDE";

/// True in a process that is root in a user namespace of its own. Otherwise runs the test `name`
/// again in such a process, and returns false when that has passed.
///
/// A process must have a single thread to make a user namespace, and the test harness has several:
/// the new process makes it between fork and exec.
///
/// # Panics
/// Where the test fails in there.
pub fn inside(name: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    let id = |id: u32| format!("0 {id} 1").into_bytes();
    // SAFETY: both only read the process's own identity.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    let maps = [
        (c"/proc/self/uid_map", id(uid)),
        (c"/proc/self/setgroups", b"deny".to_vec()),
        (c"/proc/self/gid_map", id(gid)),
    ];
    let enter = move || {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
        maps.iter()
            .try_for_each(|(path, map)| write_file(path, map))
    };
    if let Err(error) = again(name, enter) {
        println!("skipped {name}: no user namespace here: {error}");
    }
    false
}

/// As [`inside`], in a network namespace only, by root: a test that needs other users, or BPF.
///
/// # Panics
/// Where the test fails in there.
pub fn inside_as_root(name: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    // SAFETY: only reads the process's own identity.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped {name}: only root can run it");
        return false;
    }
    if let Err(error) = again(name, || Ok(unshare(CloneFlags::CLONE_NEWNET)?)) {
        println!("skipped {name}: no network namespace here: {error}");
    }
    false
}

/// Runs a test again, in a process that does `enter` first.
fn again(
    name: &str,
    enter: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<()> {
    let mut command = Command::new(env::current_exe().expect("the test has a path"));
    command
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1");
    // SAFETY: between fork and exec only system calls are made, on memory made before.
    unsafe { command.pre_exec(enter) };
    let status = command.status()?;
    assert!(status.success(), "{name} failed inside its namespaces");
    Ok(())
}

fn write_file(path: &CStr, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: `path` ends with a zero and `bytes` is as long as it says; the descriptor is used
    // here only.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY);
        let written = libc::write(fd, bytes.as_ptr().cast(), bytes.len());
        libc::close(fd);
        if written < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}
