//! The story of a connection, event by event.

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
    /// Whose doing it is.
    pub from: Option<Side>,
    /// One of the words of the table `events`.
    pub kind: &'static str,
    /// The same for people, with every field of the option that tells it.
    pub text: String,
}
