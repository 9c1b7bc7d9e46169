//! The failures of connections, in the recording's words.

use std::fmt;

use crate::http::Malformed;

/// The reason for which one end of a connection ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The run ends, for this reason.
    Stopped(&'static str),
    /// The other end has ended, for a reason of its own.
    Cancelled,
    /// The time of the transfer is over.
    Deadline,
    /// The operation and its error, in the kernel's words.
    Io(String, String),
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
            Self::Cancelled => f.write_str("the other end had ended"),
            Self::Deadline => f.write_str("the time of the transfer was over"),
            Self::Io(operation, error) => write!(f, "{operation}: {error}"),
            Self::Other(sentence) => f.write_str(sentence),
        }
    }
}

impl Failure {
    /// A connection without an answer to its SYN, after so many seconds.
    pub fn no_answer(operation: &str, seconds: f64) -> Self {
        Self::Other(format!("{operation}: no answer after {seconds:.1} s"))
    }

    /// A connection attempt that the kernel has given up with `error`, after so many seconds.
    pub fn timed_out(operation: &str, error: &str, seconds: f64) -> Self {
        Self::Other(format!("{operation}: {error} after {seconds:.1} s"))
    }

    /// The other end closed the connection within an exchange.
    pub fn closed() -> Self {
        Self::Other("the other end closed the connection".to_owned())
    }
}

/// The description of connecting, for failures.
pub fn connecting(target: std::net::SocketAddr, source: Option<std::net::IpAddr>) -> String {
    let from = source.map_or_else(String::new, |source| format!(" from {source}"));
    format!("connect to {target}{from}")
}

/// Checks that the whole amount has been received.
///
/// # Errors
/// Where it has not.
pub fn complete(bytes: u64, amount: u64) -> Result<(), Failure> {
    if bytes == amount {
        return Ok(());
    }
    Err(Failure::Other(format!(
        "the connection ended after {bytes} of {amount} bytes"
    )))
}

/// Checks that a transfer that ends by its time has received anything.
///
/// # Errors
/// Where it has not.
pub fn delivered(bytes: u64) -> Result<(), Failure> {
    match bytes {
        0 => Err(Failure::Other("no byte was delivered".to_owned())),
        _ => Ok(()),
    }
}
