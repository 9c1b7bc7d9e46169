//! SIGINT and SIGTERM as a pollable descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, pthread_sigmask, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGINT and SIGTERM of this process, as a descriptor; SIGPIPE is ignored. Dropped, it restores both.
pub(crate) struct Signals {
    descriptor: SignalFd,
    before: SigSet,
    pipe_before: SigHandler,
}

impl Signals {
    /// Blocks the two signals, also for threads that are started later.
    pub(crate) fn catch() -> io::Result<Self> {
        let wanted = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
        let mut before = SigSet::empty();
        pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&wanted), Some(&mut before))?;
        // SAFETY: to ignore a signal runs no code.
        let pipe_before = unsafe { signal(Signal::SIGPIPE, SigHandler::SigIgn) }?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Self {
            descriptor: SignalFd::with_flags(&wanted, flags)?,
            before,
            pipe_before,
        })
    }

    /// Takes the signal that came.
    pub(crate) fn take(&self) -> Option<Signal> {
        let told = self.descriptor.read_signal().ok().flatten()?;
        Signal::try_from(told.ssi_signo as i32).ok()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: puts back what was there.
        let _ = unsafe { signal(Signal::SIGPIPE, self.pipe_before) };
        let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&self.before), None);
    }
}
