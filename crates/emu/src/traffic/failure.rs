//! Why a connection did not do what it should, in the recording's words.

use std::fmt;
use std::io;

use mptcplab_kernel::describe;
use mptcplab_traffic::http::Malformed;

/// The reason for which one end of a connection ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The run ends, for this reason.
    Stopped(&'static str),
    /// The other end has ended; its own failure tells why.
    Cancelled,
    /// The time of the transfer is over.
    Deadline,
    /// What was tried, and what the kernel said.
    Io(String, io::Error),
    /// Anything else, as a sentence.
    Other(String),
}

impl Failure {
    /// For `map_err`: `what` is what was tried.
    pub(super) fn of(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io(what, error)
    }
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Self {
        Self::Other(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(reason) => f.write_str(reason),
            Self::Cancelled => f.write_str("the other end had ended"),
            Self::Deadline => f.write_str("the time of the transfer was over"),
            Self::Io(what, error) => write!(f, "{what}: {}", describe(error)),
            Self::Other(sentence) => f.write_str(sentence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_kernel_reads_as_a_sentence() {
        let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
        let failure = Failure::of("connect to 10.0.9.2:5001")(error);
        assert_eq!(
            failure.to_string(),
            "connect to 10.0.9.2:5001: connection timed out"
        );
    }
}
