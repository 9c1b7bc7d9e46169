//! What one end of a connection sent, at the level of data.

use super::carried::Carried;
use super::closing::DataFin;
use super::flow::Flow;
use super::moves::Moves;
use super::now::Now;
use super::numbers::Numbers;
use super::ranges::{BOUND, Number};
use super::round_trips::RoundTrips;
use super::silence::Pace;
use super::window::{Change, Window};
use crate::{DataVerdict, Event, Nanos};

/// One direction of a connection.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    pub(super) numbers: Numbers,
    pub(super) carried: Carried,
    /// After the highest byte of data that was seen.
    pub(super) sent_to: Number,
    /// After the highest byte that a DATA_ACK covers.
    pub(super) acknowledged: Number,
    pub(super) trips: RoundTrips,
    pub(super) window: Window,
    pub(super) pace: Pace,
    pub(super) moves: Moves,
    pub(super) fin: DataFin,
    /// There is no data to come: the DATA_FIN was seen, of plain TCP the FIN.
    pub(super) is_complete: bool,
    pub(super) totals: Totals,
}

/// Sums over all that one end sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) packets: u64,
    pub(super) payload_bytes: u64,
    pub(super) new_bytes: u64,
    pub(super) reinjected_bytes: u64,
    pub(super) won_bytes: u64,
    pub(super) late_bytes: u64,
    pub(super) late_extent_bytes: u64,
}

impl Default for Direction {
    fn default() -> Self {
        Self {
            numbers: Numbers::default(),
            carried: Carried::default(),
            sent_to: -BOUND,
            acknowledged: -BOUND,
            trips: RoundTrips::default(),
            window: Window::default(),
            pace: Pace::default(),
            moves: Moves::default(),
            fin: DataFin::default(),
            is_complete: false,
            totals: Totals::default(),
        }
    }
}

impl Direction {
    /// Data of `[start, end)` is seen for the first time, on the subflow of `flow`.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        now: &Now,
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
            self.trips.send(end, now.at);
            self.note_window(now.at);
        } else {
            self.totals.late_bytes += bytes;
            let extent = (self.sent_to - start) as u64;
            self.totals.late_extent_bytes = self.totals.late_extent_bytes.max(extent);
        }
        self.pace.send(now, self.trips.smoothed_ns, events);
        flow.send_new(now, bytes);
    }

    /// What a first data sequence number is taken for where the initial one is unknown.
    #[inline]
    pub(super) fn next_number(&self) -> Number {
        if self.sent_to > -BOUND {
            self.sent_to
        } else {
            1
        }
    }

    /// Data before `number` is acknowledged by the segment, which grants `window` from there on.
    #[inline(always)]
    pub(super) fn acknowledge(
        &mut self,
        now: &Now,
        number: Number,
        window: Option<u64>,
        verdict: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        verdict.data_acknowledgement = Some(number);
        if number > self.acknowledged {
            self.acknowledged = number;
            verdict.data_rtt = self.trips.acknowledge(number, now.at);
            if number >= self.sent_to {
                self.pace.acknowledge_all(now.at);
                self.fin.acknowledge(now, number, events);
            }
        }
        if let Some(window) = window {
            let change = self.window.grant(number, window, self.acknowledged);
            if change != Change::Nothing {
                self.note_window(now.at);
                tell_window(now, window, change, events);
            }
        }
    }

    /// Looks whether the window limits.
    #[inline]
    pub(super) fn note_window(&mut self, at: Nanos) {
        self.window.note(at, self.sent_to, self.is_complete);
    }
}

#[inline]
fn tell_window(now: &Now, bytes: u64, change: Change, events: &mut Vec<Event>) {
    if matches!(change, Change::Closed | Change::Opened) {
        tell(now, bytes, events);
    }
}

#[cold]
fn tell(now: &Now, bytes: u64, events: &mut Vec<Event>) {
    events.push(if bytes == 0 {
        now.event("zero_window", "the window is closed".to_owned())
    } else {
        now.event(
            "window_opened",
            format!("the window opens to {bytes} bytes"),
        )
    });
}
