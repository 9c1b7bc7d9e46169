//! Why a connection did not do what it should, in the recording's words.

use std::fmt;

use mptcplab_traffic::http::Malformed;

/// The reason for which one end of a connection ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The run ends, for this reason.
    Stopped(&'static str),
    /// The time of the transfer is over.
    Deadline,
    /// What was tried, and why it did not go, in the kernel's words.
    Io(String, &'static str),
    /// Anything else, as a sentence.
    Other(String),
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
            Self::Deadline => f.write_str("the time of the transfer was over"),
            Self::Io(what, why) => write!(f, "{what}: {why}"),
            Self::Other(sentence) => f.write_str(sentence),
        }
    }
}

/// That all of a given amount came, or a sentence.
pub(super) fn complete(bytes: u64, amount: u64) -> Result<(), Failure> {
    if bytes == amount {
        return Ok(());
    }
    Err(Failure::Other(format!(
        "the connection ended after {bytes} of {amount} bytes"
    )))
}
