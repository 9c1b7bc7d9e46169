//! The window that this end offers, and how it grows with the buffer behind it.
//!
//! Source: `tcp_init_buffer_space`, `tcp_grow_window`, `tcp_set_window_clamp`,
//! `tcp_rcv_space_adjust` and `__tcp_select_window` in Linux 6.18, net/ipv4.

use super::config::BufferLimits;
use super::receive_buffer::{PayloadShare, ReceiveBuffer};
use crate::Nanos;

/// Bytes of a segment that timestamps take from its payload.
pub(super) const TIMESTAMPS_BYTES: u64 = 12;

/// Segments are taken for full ones from this payload on (RFC 9293, section 3.7.1).
const LEAST_FULL_BYTES: u64 = 536;

/// Window that the owner of all subflows of a connection offers on one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedWindow {
    /// Room that there is.
    pub free_bytes: u64,
    /// The rest of the window that was offered before, on whatever subflow.
    pub promised_bytes: u64,
    /// Less than half of the buffer is free.
    pub is_scarce: bool,
}

/// The offered window.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    /// Most that is offered now; follows the buffer with the data that comes.
    limit_bytes: u64,
    buffer: ReceiveBuffer,
    /// Payload of the full segments that come.
    segment_bytes: u64,
    /// Window scale of what is advertised; none where the peer does not scale.
    shift: Option<u8>,
    mss: u64,
    /// Largest right edge ever advertised.
    right: u64,
    /// Last window advertised, and its right edge.
    advertised_bytes: u64,
    told_right: u64,
}

impl ReceiveWindow {
    pub(crate) fn new(buffer: BufferLimits, mss: u32) -> Self {
        let mss = u64::from(mss.max(1));
        let payload = mss.saturating_sub(TIMESTAMPS_BYTES).max(1);
        let scaled = buffer.max_bytes.max(65_535);
        let buffer = ReceiveBuffer::new(buffer, payload);
        let mut window = Self {
            limit_bytes: 0,
            buffer,
            segment_bytes: LEAST_FULL_BYTES.min(payload),
            shift: Some((scaled.ilog2().saturating_sub(15)).min(14) as u8),
            mss,
            right: 0,
            advertised_bytes: 0,
            told_right: 0,
        };
        window.limit_bytes = window.initial_bytes();
        window.advertised_bytes = window.limit_bytes;
        window
    }

    /// The first window: whole segments.
    fn initial_bytes(&self) -> u64 {
        let initial = self.buffer.window_bytes().clamp(1, 65_535);
        if initial > self.mss {
            initial - initial % self.mss
        } else {
            initial
        }
    }

    /// The peer's SYN has come, and segments have so many bytes of options. Room for a segment is
    /// not offered until data comes.
    pub(crate) fn on_syn(&mut self, option_bytes: u64) {
        self.mss = self.mss.saturating_sub(option_bytes).max(1);
        let window = self.buffer.window_bytes();
        let most = window.saturating_sub(self.mss).max(2 * self.mss);
        self.limit_bytes = self.initial_bytes().min(most).min(window);
    }

    /// Window scale for the SYN or SYN/ACK, 0 too: without the option the peer would not scale
    /// either (RFC 7323, section 2.2).
    pub(crate) fn shift(&self) -> Option<u8> {
        self.shift
    }

    /// Does not scale windows, as the peer does not.
    pub(crate) fn disable_scaling(&mut self) {
        self.shift = None;
    }

    /// Bytes that one in the window field means.
    fn unit_bytes(&self) -> u64 {
        1 << self.shift.unwrap_or(0)
    }

    /// Largest right edge ever advertised: the peer may send up to it.
    pub(crate) fn right(&self) -> u64 {
        self.right
    }

    /// Memory that the buffer holds at most.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.buffer.memory_bytes()
    }

    /// Bytes that the application reads in a round trip.
    pub(crate) fn space_bytes(&self) -> u64 {
        self.buffer.space_bytes()
    }

    /// Room for segments beyond a hole.
    pub(crate) fn early_room_bytes(&self) -> u64 {
        self.buffer.memory_bytes().max(131_070)
    }

    /// Part of the buffer's memory that is payload.
    pub(crate) fn share(&self) -> PayloadShare {
        self.buffer.share()
    }

    /// The window that may be offered while the buffer holds `held_bytes`.
    fn free_bytes(&self, held_bytes: u64) -> u64 {
        let window = self.buffer.window_bytes();
        let free = usable_bytes(window.saturating_sub(held_bytes), window, self.mss);
        free.min(self.limit_bytes)
    }

    /// Whether the window that may be offered is less than the last one that was.
    pub(crate) fn is_narrower(&self, held_bytes: u64) -> bool {
        let units = self.free_bytes(held_bytes).div_ceil(self.unit_bytes());
        units * self.unit_bytes() < self.advertised_bytes
    }

    /// Whether less than half of the buffer is free.
    pub(crate) fn is_scarce(&self, held_bytes: u64) -> bool {
        2 * held_bytes > self.buffer.window_bytes()
    }

    /// The window of a SYN, which is not scaled.
    pub(crate) fn syn_window(&mut self, next: u64) -> u16 {
        let window = self.initial_bytes();
        self.told_right = next + window;
        self.right = self.right.max(self.told_right);
        self.advertised_bytes = window;
        window as u16
    }

    /// The window field of a segment that acknowledges `next`. The right edge never moves back.
    pub(crate) fn advertise(&mut self, next: u64, held_bytes: u64) -> u16 {
        let free = self.free_bytes(held_bytes);
        let kept = self.right.saturating_sub(next);
        let window = if free >= kept + self.step_bytes() {
            free
        } else {
            kept
        };
        self.set(next, window.div_ceil(self.unit_bytes()))
    }

    /// The right edge moves in steps of a segment or half the window (RFC 9293, section
    /// 3.8.6.2.2); where windows are scaled, the scale is the step.
    fn step_bytes(&self) -> u64 {
        match self.shift {
            None | Some(0) => self.mss.min(self.limit_bytes / 2),
            Some(_) => 1,
        }
    }

    /// The same where the owner says what to offer, which may also be less than before.
    pub(crate) fn advertise_shared(&mut self, next: u64, shared: SharedWindow) -> u16 {
        let free = shared.free_bytes.min(self.limit_bytes);
        let unit = self.unit_bytes();
        let units = if free >= shared.promised_bytes + self.step_bytes() {
            free.div_ceil(unit)
        } else {
            shared.promised_bytes / unit
        };
        self.set(next, units)
    }

    fn set(&mut self, next: u64, units: u64) -> u16 {
        let units = units.min(u64::from(u16::MAX));
        self.advertised_bytes = units * self.unit_bytes();
        self.told_right = next + self.advertised_bytes;
        self.right = self.right.max(self.told_right);
        units as u16
    }

    /// Takes the window that the owner has promised on another subflow.
    pub(crate) fn promise(&mut self, next: u64, bytes: u64) {
        let largest = u64::from(u16::MAX) * self.unit_bytes();
        self.right = self.right.max(next + bytes.min(largest));
    }

    /// Last window advertised.
    pub(crate) fn advertised_bytes(&self) -> u64 {
        self.advertised_bytes
    }

    /// Reading has made so much room that the peer should know: the window is at least twice
    /// what is left of the one advertised.
    pub(crate) fn should_update(&self, next: u64, held_bytes: u64) -> bool {
        self.is_much(next, self.free_bytes(held_bytes))
    }

    /// The same where the owner has so much room.
    pub(crate) fn should_update_shared(&self, next: u64, free_bytes: u64) -> bool {
        self.is_much(next, free_bytes.min(self.limit_bytes))
    }

    fn is_much(&self, next: u64, free: u64) -> bool {
        let left = self.told_right.saturating_sub(next);
        let window = self.buffer.window_bytes();
        2 * left <= window && free >= (2 * left).max(self.mss.min(self.limit_bytes / 2))
    }

    /// Data came in a segment, and the buffer holds so much with it: the offer moves towards what
    /// is left, where the segment has at least a few hundred bytes. True where it moves.
    ///
    /// Memory is counted for the segment, not payload: one that is a little shorter than those
    /// before leaves no more room.
    pub(crate) fn on_data(&mut self, bytes: u64, held_bytes: u64) -> bool {
        if bytes >= self.segment_bytes && (bytes != self.segment_bytes || self.is_new()) {
            self.segment_bytes = bytes;
            self.buffer.set_share(PayloadShare::of_segments(bytes));
            let window = self.buffer.window_bytes();
            self.limit_bytes = self.limit_bytes.max(self.advertised_bytes.min(window));
        }
        let before = held_bytes.saturating_sub(bytes);
        let taken = before + self.buffer.share().taken_bytes(bytes);
        let room = self.buffer.window_bytes().saturating_sub(taken);
        let room = room.saturating_sub(self.limit_bytes);
        let grows = bytes >= 128 && room > 0;
        if grows {
            let step = 2 * self.mss.max(bytes);
            self.limit_bytes += step.min(room);
        }
        grows
    }

    /// Whether no full segment has come yet.
    fn is_new(&self) -> bool {
        self.buffer.share() == PayloadShare::UNKNOWN
    }

    /// Notes data beyond a hole, up to so far from what is expected next.
    pub(crate) fn on_early(&mut self, beyond_bytes: u64) {
        self.buffer.grow(self.buffer.space_bytes(), beyond_bytes);
    }

    /// Follows the owner's buffer, which grew by the bytes that its application read in a round
    /// trip.
    pub(crate) fn follow(&mut self, read_bytes: u64) {
        self.buffer.grow(read_bytes, 0);
    }

    /// The application read, and left `ready_bytes`: once a round trip the buffer follows.
    pub(crate) fn on_read(
        &mut self,
        now: Nanos,
        bytes: u64,
        rtt_ns: Nanos,
        ready_bytes: u64,
        beyond_bytes: u64,
    ) {
        self.buffer.count_read(bytes);
        let Some(read) = self.buffer.end_round(now, rtt_ns) else {
            return;
        };
        let read = read.saturating_sub(ready_bytes);
        if read > self.buffer.space_bytes() {
            self.buffer.grow(read, beyond_bytes);
        }
    }
}

/// The part of `free` bytes that is worth offering, where the buffer has room for `window`: all of
/// it, or nothing, as a small offer would make the peer send small segments.
pub(crate) fn usable_bytes(free: u64, window: u64, mss: u64) -> u64 {
    if free < window / 16 || free < mss.min(window / 2) {
        0
    } else {
        free
    }
}

#[cfg(test)]
mod tests;
