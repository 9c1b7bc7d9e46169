//! Reasons why a server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

/// A server that does not start; the text says why, and what to do.
#[derive(Debug, Error)]
pub enum StartError {
    /// The configuration is none.
    #[error("the configuration cannot be read: {0}")]
    Config(String),
    /// There is no such policy.
    #[error("there is no policy '{0}'")]
    UnknownPolicy(String),
    /// Everybody who reaches the address could be a switch, and that was not asked for.
    #[error(
        "{0} is beyond the loopback: give --tls-ca, --tls-cert and --tls-key, or --plain-tcp to \
         take anybody who connects for a switch"
    )]
    PlainBeyondLoopback(SocketAddr),
    /// Everybody who reaches the address could read who speaks with whom.
    #[error(
        "{0} is beyond the loopback: give --http-cert, --http-key and --http-token, as whoever \
         reaches it could read all that the controller knows"
    )]
    HttpBeyondLoopback(SocketAddr),
    /// The file of the token holds none.
    #[error("{path}: {reason}", path = path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A file of TLS cannot be used.
    #[error("{path}: {reason}", path = path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The address cannot be listened at.
    #[error("{address}: cannot listen there: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The system has no random numbers.
    #[error("no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}
