//! Data of one end of a connection.

use super::closing::DataFin;
use super::coverage::Coverage;
use super::current_segment::CurrentSegment;
use super::flow::Flow;
use super::gaps::DataGaps;
use super::numbers::Numbers;
use super::path_switches::PathSwitches;
use super::ranges::{BOUND, Number};
use super::round_trips::RoundTrips;
use super::window::{Change, Window};
use crate::{DataVerdict, Event, Nanos};

/// One direction of a connection.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Debug)]
pub(super) struct Direction {
    pub(super) numbers: Numbers,
    /// After the highest byte that a DATA_ACK covers.
    pub(super) acknowledged: Number,
    /// After the highest byte of data that was seen.
    pub(super) sent_to: Number,
    /// There is no data to come: the DATA_FIN was seen, of plain TCP the FIN.
    pub(super) is_complete: bool,
    pub(super) window: Window,
    pub(super) fin: DataFin,
    pub(super) totals: Totals,
    pub(super) trips: RoundTrips,
    pub(super) gaps: DataGaps,
    pub(super) path_switches: PathSwitches,
    pub(super) coverage: Coverage,
}

/// Sums over the segments of one end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) packets: u64,
    pub(super) payload_bytes: u64,
    pub(super) new_bytes: u64,
    pub(super) reinjected_bytes: u64,
    pub(super) won_bytes: u64,
    pub(super) late_bytes: u64,
    pub(super) late_extent_bytes: u64,
    pub(super) checksums_verified: u64,
    pub(super) checksums_wrong: u64,
}

impl Default for Direction {
    fn default() -> Self {
        Self {
            numbers: Numbers::default(),
            coverage: Coverage::default(),
            sent_to: -BOUND,
            acknowledged: -BOUND,
            trips: RoundTrips::default(),
            window: Window::default(),
            gaps: DataGaps::default(),
            path_switches: PathSwitches::default(),
            fin: DataFin::default(),
            is_complete: false,
            totals: Totals::default(),
        }
    }
}

impl Direction {
    /// Takes new data of `[start, end)`, on the subflow of `flow`.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        current: &CurrentSegment,
        flow: &mut Flow,
        (start, end): (Number, Number),
        verdict: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let bytes = (end - start) as u64;
        self.totals.new_bytes += bytes;
        verdict.new_data_bytes += bytes as u32;
        if start >= self.sent_to {
            self.sent_to = end;
            self.trips.send(end, current.at);
            self.note_window(current.at);
        } else {
            self.totals.late_bytes += bytes;
            let extent = (self.sent_to - start) as u64;
            self.totals.late_extent_bytes = self.totals.late_extent_bytes.max(extent);
        }
        self.gaps.send(current, self.trips.smoothed_ns, events);
        flow.send_new(current, bytes);
    }

    /// Returns the count of a first data sequence number where the initial one is unknown.
    #[inline]
    pub(super) fn next_number(&self) -> Number {
        if self.sent_to > -BOUND {
            self.sent_to
        } else {
            1
        }
    }

    /// Takes a DATA_ACK of `number`, in a segment that grants `window` from there on.
    #[inline(always)]
    pub(super) fn acknowledge(
        &mut self,
        current: &CurrentSegment,
        number: Number,
        window: Option<u64>,
        verdict: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        verdict.data_acknowledgement = Some(number);
        if number > self.acknowledged {
            self.acknowledged = number;
            verdict.data_rtt = self.trips.acknowledge(number, current.at);
            if number >= self.sent_to {
                self.gaps.acknowledge_all(current.at);
                self.fin.acknowledge(current, number, events);
            }
        }
        if let Some(window) = window {
            let change = self.window.grant(number, window, self.acknowledged);
            if change != Change::Nothing {
                self.note_window(current.at);
                report_window(current, window, change, events);
            }
        }
    }

    /// Notes whether the window limits.
    #[inline]
    pub(super) fn note_window(&mut self, at: Nanos) {
        self.window.note(at, self.sent_to, self.is_complete);
    }
}

#[inline]
fn report_window(current: &CurrentSegment, bytes: u64, change: Change, events: &mut Vec<Event>) {
    if matches!(change, Change::Closed | Change::Opened) {
        report_change(current, bytes, events);
    }
}

#[cold]
fn report_change(current: &CurrentSegment, bytes: u64, events: &mut Vec<Event>) {
    events.push(if bytes == 0 {
        current.event("zero_window", "the window is closed".to_owned())
    } else {
        current.event(
            "window_opened",
            format!("the window opens to {bytes} bytes"),
        )
    });
}
