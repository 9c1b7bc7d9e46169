//! Two processes that watch over each other, so that one of them sees to the other's end.
//!
//! When a process is killed, the kernel closes its connections as if it had asked for that, and
//! goes on sending what was not delivered: for two minutes and more, in which the network
//! namespace cannot go, and its interfaces with it. Whichever process is left therefore aborts
//! them in every node's namespace.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::thread;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::abort;
use crate::netns::NetNs;
use crate::pidfd;
use crate::sysctl;

/// Descriptors in one message; the kernel takes up to 253 (`SCM_MAX_FD`).
const LARGEST_MESSAGE: usize = 128;
/// Time that the process inside has to end by itself, milliseconds.
const GRACE_MS: u16 = 2000;

/// One end of the connection between the process outside of the walls and the one inside.
pub struct Guard(UnixStream);

impl Guard {
    /// The two ends.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = UnixStream::pair()?;
        Ok((Self(one), Self(other)))
    }

    /// Inside: names the namespaces that hold connections. From now on the end of the process
    /// outside no longer kills this one; then, and when standard input closes, it ends by itself
    /// once it has let go of them. Called by the main thread, before there is any traffic.
    ///
    /// # Errors
    /// When the process outside has ended, or the system gives no thread.
    pub fn entrust(self, namespaces: Vec<NetNs>) -> io::Result<()> {
        for part in namespaces.chunks(LARGEST_MESSAGE) {
            let descriptors: Vec<RawFd> = part.iter().map(|n| n.as_fd().as_raw_fd()).collect();
            let rights = [ControlMessage::ScmRights(&descriptors)];
            let bytes = [IoSlice::new(&[0])];
            sendmsg::<()>(self.0.as_raw_fd(), &bytes, &rights, MsgFlags::empty(), None)?;
        }
        thread::Builder::new().name("guard".into()).spawn(move || {
            let stdin = io::stdin();
            // Nothing is ever sent this way: both only hang up.
            let mut fds =
                [self.0.as_fd(), stdin.as_fd()].map(|end| PollFd::new(end, PollFlags::empty()));
            while poll(&mut fds, PollTimeout::NONE) == Err(Errno::EINTR) {}
            let_go(&namespaces);
            // SAFETY: as PID 1 of its namespace, this process takes every other with it.
            unsafe { libc::_exit(1) }
        })?;
        prctl::set_pdeathsig(None)?;
        Ok(())
    }

    /// Outside: waits until the process inside has ended, and lets go of its namespaces. Gives its
    /// exit status. It is killed when it does not end soon after standard input closes.
    ///
    /// # Errors
    /// When it cannot be watched.
    pub(super) fn watch(self, inside: Pid) -> io::Result<i32> {
        let process = pidfd::open(inside)?;
        prctl::set_pdeathsig(None)?;
        let stdin = io::stdin();
        let mut fds = [
            PollFd::new(process.as_fd(), PollFlags::POLLIN),
            PollFd::new(stdin.as_fd(), PollFlags::empty()),
        ];
        while poll(&mut fds, PollTimeout::NONE) == Err(Errno::EINTR) {}
        let is_late = poll(&mut fds[..1], GRACE_MS).unwrap_or(0) == 0;
        if is_late {
            kill(inside, Signal::SIGKILL)?;
        }
        let status = match waitpid(inside, None)? {
            WaitStatus::Exited(_, status) => status,
            _ => 1,
        };
        let_go(&self.entrusted()?);
        Ok(status)
    }

    /// All namespaces that the process inside has named; it has ended.
    fn entrusted(&self) -> io::Result<Vec<NetNs>> {
        let mut namespaces = Vec::new();
        loop {
            let mut control = nix::cmsg_space!([RawFd; LARGEST_MESSAGE]);
            let mut byte = [0];
            let mut bytes = [IoSliceMut::new(&mut byte)];
            let flags = MsgFlags::MSG_CMSG_CLOEXEC;
            let fd = self.0.as_raw_fd();
            let message = recvmsg::<()>(fd, &mut bytes, Some(&mut control), flags)?;
            if message.bytes == 0 {
                return Ok(namespaces);
            }
            for rights in message.cmsgs()? {
                if let ControlMessageOwned::ScmRights(descriptors) = rights {
                    // SAFETY: the kernel has just made the descriptors for us.
                    let owned = |fd| NetNs::from(unsafe { OwnedFd::from_raw_fd(fd) });
                    namespaces.extend(descriptors.into_iter().map(owned));
                }
            }
        }
    }
}

/// Whether the other end of standard input has gone.
pub(super) fn is_orphan() -> io::Result<bool> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO)?;
    Ok(fds[0].any() == Some(true))
}

/// Aborts all connections, and lets those that the kernel cannot abort end with their next timeout
/// instead of in minutes. The calling thread is left in one of the namespaces.
///
/// One kind stays for what is left of a minute (`TCP_TIMEWAIT_LEN`) after its program was killed:
/// an MPTCP connection whose buffer is full and one of whose subflows has received more. Linux
/// frees no subflow that holds data, and no such connection before its subflows; neither the
/// sysctl `net.mptcp.close_timeout` nor the path manager changes that.
fn let_go(namespaces: &[NetNs]) {
    for namespace in namespaces {
        if namespace.enter().is_ok() {
            // A failure is left to the kernel's own timeouts: no reader of a message is left.
            sysctl::set("net.ipv4.tcp_orphan_retries", "1").ok();
            abort::connections().ok();
        }
    }
}
