//! The reasons for which the command fails.

use std::io;

use mptcplab_linux::describe;
use nix::sys::signal::Signal;

/// Reason of a failure; the exit status follows from it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A system call's error, and what was tried.
    #[error("{what}: {}", describe(error))]
    Io { what: String, error: io::Error },
    /// Anything else, as a sentence.
    #[error("{0}")]
    Sentence(String),
    /// SIGINT or SIGTERM.
    #[error("ended by {0}")]
    Signal(Signal),
    /// Standard output does not take what was received: no other client changes that.
    #[error("standard output: {}", describe(.0))]
    Output(io::Error),
}

impl Failure {
    /// For `map_err`: `what` is what was tried.
    pub(crate) fn of(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    /// The exit status, as shells have it.
    pub(crate) fn status(&self) -> i32 {
        match self {
            Self::Signal(signal) => 128 + *signal as i32,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_kernel_reads_as_a_sentence() {
        let error = io::Error::from_raw_os_error(libc::ECONNREFUSED);
        let failure = Failure::of("connect to ::1 port 1 (tcp)")(error);
        let text = "connect to ::1 port 1 (tcp): connection refused";
        assert_eq!((failure.to_string().as_str(), failure.status()), (text, 1));
    }

    #[test]
    fn a_signal_gives_the_status_that_shells_give() {
        assert_eq!(Failure::Signal(Signal::SIGINT).status(), 130);
        assert_eq!(Failure::Signal(Signal::SIGTERM).status(), 143);
    }
}
