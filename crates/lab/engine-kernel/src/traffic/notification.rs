//! System calls that wait for an answer (`seccomp_unotify(2)`).

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::poll::PollFlags;
use nix::unistd::Pid;
use socket2::Socket;

use crate::pidfd;

/// The descriptor at which the calls of the processes under a filter arrive.
pub(super) struct Listener(pub(super) OwnedFd);

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A call whose caller waits.
pub(super) struct Call(libc::seccomp_notif);

impl Deref for Call {
    type Target = libc::seccomp_notif;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Call {
    /// The socket that is the call's first argument; `None` where that is none.
    ///
    /// # Errors
    /// When the caller has gone, or may not be looked into.
    pub(super) fn socket(&self) -> io::Result<Option<Socket>> {
        let descriptor = self.data.args[0] as RawFd;
        let thread = self.pid;
        let target = fs::read_link(format!("/proc/{thread}/fd/{descriptor}"))?;
        if !target.to_string_lossy().starts_with("socket:") {
            return Ok(None);
        }
        let process = pidfd::open(Pid::from_raw(thread as i32))
            .or_else(|_| pidfd::open(process_of(thread)?))?;
        pidfd::get_descriptor(&process, descriptor).map(|fd| Some(Socket::from(fd)))
    }
}

/// The process that a thread is of.
fn process_of(thread: u32) -> io::Result<Pid> {
    let status = fs::read_to_string(format!("/proc/{thread}/status"))?;
    let mut lines = status.lines();
    let number = lines.find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    number
        .map(Pid::from_raw)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

impl Listener {
    /// The next call; `None` where its caller was killed after it was announced.
    pub(super) fn receive(&self) -> io::Result<Option<Call>> {
        let mut call = MaybeUninit::<libc::seccomp_notif>::zeroed();
        // SAFETY: the kernel wants the structure zeroed, and fills it; all zeros are valid too.
        let (result, call) = unsafe {
            let request = libc::SECCOMP_IOCTL_NOTIF_RECV;
            (
                libc::ioctl(self.0.as_raw_fd(), request, call.as_mut_ptr()),
                call.assume_init(),
            )
        };
        match io::Error::last_os_error() {
            _ if result >= 0 => Ok(Some(Call(call))),
            error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => Ok(None),
            error => Err(error),
        }
    }

    /// Every process under the filter has gone.
    pub(super) fn has_hung_up(&self) -> io::Result<bool> {
        let mut fds = [nix::poll::PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        nix::poll::poll(&mut fds, nix::poll::PollTimeout::ZERO)?;
        Ok(fds[0]
            .revents()
            .is_some_and(|events| events.contains(PollFlags::POLLHUP)))
    }

    /// Puts a copy of `socket` into the caller and lets its call return it.
    pub(super) fn hand_over(&self, id: u64, socket: RawFd, close_on_exec: bool) -> io::Result<()> {
        let add = libc::seccomp_notif_addfd {
            id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: socket as u32,
            newfd: 0,
            newfd_flags: if close_on_exec {
                libc::O_CLOEXEC as u32
            } else {
                0
            },
        };
        // SAFETY: the kernel only reads the structure.
        let result = unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ADDFD,
                &raw const add,
            )
        };
        match io::Error::last_os_error() {
            _ if result >= 0 => Ok(()),
            // The caller was killed meanwhile.
            error if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            error => Err(error),
        }
    }

    /// Lets the call fail as `socket(2)` would have failed.
    pub(super) fn refuse(&self, id: u64, error: i32) {
        self.answer(id, -error, 0);
    }

    /// Lets the kernel carry the call out.
    pub(super) fn go_on(&self, id: u64) {
        self.answer(id, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    fn answer(&self, id: u64, error: i32, flags: u32) {
        let mut answer = libc::seccomp_notif_resp {
            id,
            val: 0,
            error,
            flags,
        };
        // SAFETY: the kernel only reads the structure. It fails where the caller has gone.
        unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw mut answer,
            )
        };
    }
}
