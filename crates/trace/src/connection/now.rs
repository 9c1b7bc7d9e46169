//! The segment that is looked at.

use crate::{Event, Nanos, Place, Segment, Side};

/// When and where a segment was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) at: Nanos,
    pub(super) frame: u64,
    pub(super) connection: u32,
    pub(super) subflow: u32,
    pub(super) from: Side,
}

impl Now {
    pub(super) fn new(segment: &Segment, place: Place) -> Self {
        Self {
            at: segment.at,
            frame: segment.frame,
            connection: place.connection,
            subflow: place.subflow,
            from: place.from,
        }
    }

    /// Something that the sender of the segment does by it.
    pub(super) fn event(&self, kind: &'static str, text: String) -> Event {
        Event {
            at: self.at,
            frame: self.frame,
            connection: self.connection,
            subflow: Some(self.subflow),
            from: Some(self.from),
            kind,
            text,
        }
    }
}

/// An end in words.
pub(super) fn name(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}

/// Seconds in words.
pub(super) fn seconds(span: Nanos) -> String {
    format!("{:.3} s", span as f64 / 1e9)
}
