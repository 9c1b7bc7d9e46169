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
    let mut command = Command::new(env::current_exe().expect("the test has a path"));
    command
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1");
    let enter = move || {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
        maps.iter()
            .try_for_each(|(path, map)| write_file(path, map))
    };
    // SAFETY: between fork and exec only system calls are made, on memory made before.
    unsafe { command.pre_exec(enter) };
    match command.status() {
        Ok(status) => assert!(status.success(), "{name} failed inside its namespaces"),
        Err(error) => println!("skipped {name}: no user namespace here: {error}"),
    }
    false
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
