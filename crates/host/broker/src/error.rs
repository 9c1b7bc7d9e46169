//! Why the broker cannot start.

use std::io;
use std::path::PathBuf;

/// Why the broker cannot start. The text says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration cannot be read.
    #[error("the broker's configuration: {0}")]
    Config(String),
    /// The kernel has no MPTCP.
    #[error("this kernel has no MPTCP: it needs CONFIG_MPTCP")]
    NoMptcp,
    /// It lacks CAP_NET_ADMIN.
    #[error(
        "the broker needs CAP_NET_ADMIN over its network namespace: start it as root, or in a \
         namespace of your own"
    )]
    NotPrivileged,
    /// Another broker listens at the socket.
    #[error("a broker answers at {0} already: stop it, or choose another socket by --socket")]
    Running(PathBuf),
    /// There is a file of another kind where the socket should be.
    #[error("{0} is there and is no socket: remove it, or choose another place by --socket")]
    NoSocket(PathBuf),
    /// systemd passed something else than a listening socket of the right kind.
    #[error("systemd passed {0}: the unit needs one ListenSequentialPacket=")]
    Passed(String),
    /// The process has threads, which would keep what the broker gives up.
    #[error("the process has {0} threads: start the broker in one that has a single thread")]
    Threads(usize),
    /// The system refuses something.
    #[error("{doing}: {error}")]
    System {
        /// The operation that failed.
        doing: String,
        /// Why.
        error: io::Error,
    },
}

impl StartError {
    /// A system call's error, and what was tried.
    pub(crate) fn system(doing: impl Into<String>, error: impl Into<io::Error>) -> Self {
        Self::System {
            doing: doing.into(),
            error: error.into(),
        }
    }
}
