//! A process as a descriptor.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::unistd::Pid;

/// A descriptor that becomes readable when the process ends.
///
/// # Errors
/// Those of pidfd_open(2), ESRCH above all.
pub(crate) fn open(process: Pid) -> io::Result<OwnedFd> {
    // SAFETY: the system call takes numbers; the descriptor that it returns is new and ours.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// A copy of a descriptor of a process.
///
/// # Errors
/// Those of pidfd_getfd(2), EBADF above all.
pub(crate) fn get_descriptor(process: &OwnedFd, descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the system call takes numbers; the descriptor that it returns is new and ours.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}
