//! The segment that is being analysed.

use crate::{Event, Nanos, Place, Segment, Side};

/// Time, frame and place of the segment that is being analysed.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentSegment {
    pub(super) at: Nanos,
    pub(super) frame: u64,
    pub(super) connection: u32,
    pub(super) subflow: u32,
    pub(super) from: Side,
}

impl CurrentSegment {
    pub(super) fn new(segment: &Segment, place: Place) -> Self {
        Self {
            at: segment.at,
            frame: segment.frame,
            connection: place.connection,
            subflow: place.subflow,
            from: place.from,
        }
    }

    /// Returns an event that the sender of the segment causes by it.
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

/// Returns the name of an end.
pub(super) fn name(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}

/// Formats a time in seconds.
pub(super) fn seconds(span: Nanos) -> String {
    format!("{:.3} s", span as f64 / 1e9)
}
