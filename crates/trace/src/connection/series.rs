//! Series of reinjections.

use super::current_segment::{CurrentSegment, name};
use super::ranges::Number;
use crate::{Event, Nanos};

/// A series of reinjections ends when none was made on the subflow for so long.
const QUIET_NS: Nanos = 1_000_000_000;

/// Reinjections of one end on one subflow, none more than [`QUIET_NS`] after the one before.
#[derive(Clone, Debug)]
pub(super) struct Series {
    first: CurrentSegment,
    last_at: Nanos,
    /// The data from the lowest to the highest byte.
    data: (Number, Number),
    /// The subflow that carried the first byte of the first one first.
    of: Option<u32>,
    bytes: u64,
}

impl Series {
    /// Adds a reinjection of `[start, end)`, which `of` carried first. Returns the event of the
    /// series before where this one begins another.
    pub(super) fn add(
        series: &mut Option<Self>,
        current: &CurrentSegment,
        (start, end): (Number, Number),
        of: Option<u32>,
    ) -> Option<Event> {
        let bytes = (end - start) as u64;
        if let Some(series) = series
            && current.at.saturating_sub(series.last_at) <= QUIET_NS
        {
            series.last_at = current.at;
            series.bytes += bytes;
            series.data = (series.data.0.min(start), series.data.1.max(end));
            return None;
        }
        let new = Self {
            first: *current,
            last_at: current.at,
            data: (start, end),
            of,
            bytes,
        };
        series.replace(new).map(|series| series.event())
    }

    /// Returns its event.
    pub(super) fn event(&self) -> Event {
        let of = self.of.map_or_else(String::new, |of| {
            format!(" that subflow {of} carried first")
        });
        let (start, end) = self.data;
        self.first.event(
            "reinjection",
            format!(
                "the {} sends {} bytes again over subflow {}{of}: data sequence {start} to {}",
                name(self.first.from),
                self.bytes,
                self.first.subflow,
                end - 1,
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn a_series_is_told_with_all_its_bytes() {
        let mut series = None;
        let mut current = CurrentSegment {
            at: 5,
            frame: 10,
            connection: 3,
            subflow: 1,
            from: Side::Server,
        };
        assert_eq!(
            Series::add(&mut series, &current, (101, 201), Some(0)),
            None
        );
        current.at += QUIET_NS;
        current.frame = 11;
        assert_eq!(Series::add(&mut series, &current, (51, 101), Some(0)), None);
        current.at += QUIET_NS + 1;
        let event = Series::add(&mut series, &current, (301, 302), None).expect("an end");
        assert_eq!((event.at, event.frame, event.kind), (5, 10, "reinjection"));
        assert_eq!(
            event.text,
            "the server sends 150 bytes again over subflow 1 that subflow 0 carried first: \
             data sequence 51 to 200"
        );
        let last = series.expect("a series").event();
        assert_eq!(
            last.text,
            "the server sends 1 bytes again over subflow 1: data sequence 301 to 301"
        );
    }
}
