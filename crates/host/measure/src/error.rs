//! Failures, as a user reads them.

use std::io;

use thiserror::Error as Derive;

/// A measurement that cannot begin or go on.
#[derive(Debug, Derive)]
pub enum Error {
    /// The system refuses; the text names the place.
    #[error("{place}: {error}")]
    System {
        /// The address or the file that it is about.
        place: String,
        /// Its reason.
        error: io::Error,
    },
    /// The peer does not keep to the protocol.
    #[error("{0}")]
    Protocol(String),
    /// The target does not want to do it, and says why.
    #[error("the target refuses: {0}")]
    Refused(String),
    /// A request that nothing can carry out.
    #[error("{0}")]
    Request(String),
    /// The caller wants no more of it.
    #[error("stopped")]
    Stopped,
    /// All bytes that the caller allows have gone.
    #[error("the budget is used up")]
    Budget,
}

impl Error {
    /// Names the place of an error of the system.
    pub fn at(place: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System {
            place: place.to_string(),
            error,
        }
    }
}
