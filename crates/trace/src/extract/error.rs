//! Why frames cannot be taken out.

use std::{fmt, io};

use crate::input::OpenError;

/// Reason why frames cannot be taken out.
#[derive(Debug)]
pub enum ExtractError {
    /// A capture cannot be read.
    Open(OpenError),
    /// The new capture cannot be written.
    Write(io::Error),
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Write(error) => write!(f, "cannot be written: {error}"),
        }
    }
}

impl std::error::Error for ExtractError {}

impl From<OpenError> for ExtractError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<io::Error> for ExtractError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}
