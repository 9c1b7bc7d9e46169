//! Events of a connection.

use crate::{Nanos, Side};

/// Something that happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Nanos,
    /// The frame that shows it.
    pub frame: u64,
    /// Number of the connection.
    pub connection: u32,
    /// Number of the subflow that it is about.
    pub subflow: Option<u32>,
    /// End that caused it.
    pub from: Option<Side>,
    /// One of the words of the table `events`.
    pub kind: &'static str,
    /// A sentence, with every field of the option that shows it.
    pub text: String,
}
