//! A processor for the links alone.
//!
//! The thread of the links stands for all networks between the hosts. A program that is woken up on
//! its processor waits until it sleeps, however many others are free: how long, decides races
//! between paths, and at high rates how much a path carries. So one processor is the links', and
//! programs have the others. Runs that go on at one time choose different ones.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, bind, socket};
use nix::unistd::Pid;

const CALLING_THREAD: Pid = Pid::from_raw(0);

/// A processor that no other run has for its links, until this is dropped.
pub(crate) struct Processor {
    number: usize,
    /// All that the process may use.
    usable: CpuSet,
    _claim: OwnedFd,
}

impl Processor {
    /// Claims one of those that the process may use, by a socket's name: runs that are to see it are
    /// started in one network namespace, and call this before they leave it. `None` where there is
    /// only one, or each is another run's.
    ///
    /// # Errors
    /// When the kernel gives no socket.
    pub(crate) fn claim() -> io::Result<Option<Self>> {
        // Refused, or a machine with more processors than the set has room for.
        let Ok(usable) = sched_getaffinity(CALLING_THREAD) else {
            return Ok(None);
        };
        let numbers = || (0..CpuSet::count()).filter(|&number| usable.is_set(number) == Ok(true));
        if numbers().count() < 2 {
            return Ok(None);
        }
        for number in numbers().collect::<Vec<_>>().into_iter().rev() {
            let claim = socket(
                AddressFamily::Unix,
                SockType::Datagram,
                SockFlag::SOCK_CLOEXEC,
                None,
            )?;
            let name = format!("mptcplab-links-on-processor-{number}");
            let is_ours = bind(claim.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?);
            if is_ours.is_ok() {
                return Ok(Some(Self {
                    number,
                    usable,
                    _claim: claim,
                }));
            }
        }
        Ok(None)
    }

    /// Lets the calling thread, and those that it makes, run nowhere else.
    ///
    /// # Errors
    /// When the processor has gone meanwhile.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let mut only = CpuSet::new();
        only.set(self.number)?;
        Ok(sched_setaffinity(CALLING_THREAD, &only)?)
    }

    /// Lets the calling thread, and those that it makes, run on all others.
    ///
    /// # Errors
    /// When all others have gone meanwhile.
    pub(crate) fn leave(&self) -> io::Result<()> {
        let mut others = self.usable;
        others.unset(self.number)?;
        Ok(sched_setaffinity(CALLING_THREAD, &others)?)
    }
}
