//! Reinjections that follow each other.

use super::now::{Now, name};
use super::ranges::Number;
use crate::{Event, Nanos};

/// A series of reinjections ends when none was made on the subflow for so long.
const QUIET_NS: Nanos = 1_000_000_000;

/// Reinjections of one end on one subflow, none more than [`QUIET_NS`] after the one before.
#[derive(Clone, Debug)]
pub(super) struct Series {
    first: Now,
    last_at: Nanos,
    /// The data from the lowest to the highest byte.
    data: (Number, Number),
    /// The subflow that carried the first byte of the first one first.
    of: Option<u32>,
    bytes: u64,
}

impl Series {
    /// One more reinjection, of `[start, end)` which `of` carried first; the event of the series
    /// that it does not belong to.
    pub(super) fn add(
        series: &mut Option<Self>,
        now: &Now,
        (start, end): (Number, Number),
        of: Option<u32>,
    ) -> Option<Event> {
        let bytes = (end - start) as u64;
        if let Some(series) = series
            && now.at.saturating_sub(series.last_at) <= QUIET_NS
        {
            series.last_at = now.at;
            series.bytes += bytes;
            series.data = (series.data.0.min(start), series.data.1.max(end));
            return None;
        }
        let new = Self {
            first: *now,
            last_at: now.at,
            data: (start, end),
            of,
            bytes,
        };
        series.replace(new).map(|series| series.event())
    }

    /// The event that tells of it.
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
        let mut now = Now {
            at: 5,
            frame: 10,
            connection: 3,
            subflow: 1,
            from: Side::Server,
        };
        assert_eq!(Series::add(&mut series, &now, (101, 201), Some(0)), None);
        now.at += QUIET_NS;
        now.frame = 11;
        assert_eq!(Series::add(&mut series, &now, (51, 101), Some(0)), None);
        now.at += QUIET_NS + 1;
        let event = Series::add(&mut series, &now, (301, 302), None).expect("an end");
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
