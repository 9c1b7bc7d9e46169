//! Errors of the engine.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason for which a plan cannot be simulated, or not to its end.
#[derive(Debug, Error)]
pub enum SimError {
    /// A part of the plan cannot be simulated.
    #[error("{part}: {problem}")]
    Refused {
        /// The link, node, flow or event.
        part: String,
        /// The fault.
        problem: String,
    },
    /// A capture could not be written.
    #[error("{}: cannot be written: {error}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// The file system's reason.
        error: io::Error,
    },
}

impl SimError {
    pub(crate) fn refused(part: impl Into<String>, problem: impl ToString) -> Self {
        Self::Refused {
            part: part.into(),
            problem: problem.to_string(),
        }
    }
}
