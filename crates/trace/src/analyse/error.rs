//! Why an analysis was not made.

use std::path::PathBuf;
use std::{fmt, io};

use crate::input::OpenError;
use crate::tables::TableError;

/// Reason why an analysis failed, as a sentence.
#[derive(Debug)]
pub enum AnalyseError {
    /// A file cannot be opened, or is no capture.
    Open(OpenError),
    /// A table cannot be written.
    Table(TableError),
    /// `capture.json` cannot be written.
    Capture(PathBuf, io::Error),
}

impl fmt::Display for AnalyseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Table(error) => error.fmt(f),
            Self::Capture(path, error) => {
                write!(f, "{}: cannot be written: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for AnalyseError {}

impl From<OpenError> for AnalyseError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<TableError> for AnalyseError {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}
