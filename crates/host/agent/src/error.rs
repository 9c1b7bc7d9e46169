//! Failures, as a user reads them.

use std::io;
use std::path::Path;

use thiserror::Error as Derive;

use crate::enrolment::NoEnrolment;

/// An agent that cannot begin or go on.
#[derive(Debug, Derive)]
pub enum Error {
    /// The system refuses; the text names the place.
    #[error("{place}: {error}")]
    System {
        /// The file that it is about.
        place: String,
        /// Its reason.
        error: io::Error,
    },
    /// The agent's folder cannot be used.
    #[error("{0}")]
    Folder(String),
    /// The token is none.
    #[error(transparent)]
    Enrolment(#[from] NoEnrolment),
    /// The server is not reached, or breaks off.
    #[error("{0}")]
    Unreached(String),
    /// The server refuses.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// Names the place of an error of the system.
    pub fn at(place: &Path) -> impl FnOnce(io::Error) -> Self {
        let place = place.display().to_string();
        move |error| Self::System { place, error }
    }
}
