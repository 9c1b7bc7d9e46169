//! Errors of a session.

use mptcplab_engine_sim::SimError;
use thiserror::Error;

/// The reason for which a session cannot do what it was asked to.
#[derive(Debug, Error)]
pub enum DebugError {
    /// The plan cannot be simulated.
    #[error(transparent)]
    Plan(#[from] SimError),
    /// A word of a condition means nothing here.
    #[error("{0}")]
    Name(String),
    /// There is nothing earlier.
    #[error("{0}")]
    Back(String),
    /// A change that the world refuses.
    #[error("{0}")]
    Change(String),
}
