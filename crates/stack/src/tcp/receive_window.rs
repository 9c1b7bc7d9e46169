//! The window that this end offers, and how it grows (Linux's dynamic right-sizing, after Fisk
//! and Feng 2001).

use super::config::BufferLimits;
use crate::Nanos;

/// Segments that the first round trip may bring.
const INITIAL_SEGMENTS: u64 = 10;

/// The offered window.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    /// Most that is offered now; follows the clamp with the data that comes.
    limit_bytes: u64,
    /// What the buffer holds: half of it, as headers and bookkeeping take the rest.
    clamp_bytes: u64,
    max_bytes: u64,
    /// Window scale of what is advertised; none where the peer does not scale.
    shift: Option<u8>,
    mss: u64,
    /// Largest right edge ever advertised.
    right: u64,
    /// Last window advertised.
    advertised_bytes: u64,
    /// What the application read in the last round trip that counted.
    space_bytes: u64,
    read_bytes: u64,
    round_from: Nanos,
    rtt_ns: Nanos,
    /// Last timestamp echoed.
    echo: Option<u32>,
}

impl ReceiveWindow {
    pub(crate) fn new(buffer: BufferLimits, mss: u32) -> Self {
        let mss = u64::from(mss.max(1));
        let max_bytes = (buffer.max_bytes.max(buffer.initial_bytes) / 2).max(1);
        let initial = (buffer.initial_bytes / 2).clamp(1, 65_535);
        let initial = if initial > mss {
            initial - initial % mss
        } else {
            initial
        };
        let scaled = buffer.max_bytes.max(65_535);
        Self {
            limit_bytes: initial,
            clamp_bytes: initial,
            max_bytes,
            shift: Some((scaled.ilog2().saturating_sub(15)).min(14) as u8),
            mss,
            right: 0,
            advertised_bytes: initial,
            space_bytes: initial.min(INITIAL_SEGMENTS * mss),
            read_bytes: 0,
            round_from: 0,
            rtt_ns: 0,
            echo: None,
        }
    }

    /// Window scale for the SYN or SYN/ACK, 0 too: without the option the peer would not scale
    /// either (RFC 7323, section 2.2).
    pub(crate) fn shift(&self) -> Option<u8> {
        self.shift
    }

    /// The peer does not scale windows.
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

    /// What an application reads in a round trip.
    pub(crate) fn space_bytes(&self) -> u64 {
        self.space_bytes
    }

    /// What segments beyond a hole may use.
    pub(crate) fn early_room_bytes(&self) -> u64 {
        2 * self.clamp_bytes.max(65_535)
    }

    /// The window of a SYN, which is not scaled.
    pub(crate) fn syn_window(&mut self, next: u64) -> u16 {
        let window = self.limit_bytes.min(65_535);
        self.right = self.right.max(next + window);
        self.advertised_bytes = window;
        window as u16
    }

    /// The window field of a segment that acknowledges `next`. The right edge moves in steps of a
    /// segment or half the window, and never back (RFC 9293, section 3.8.6.2.2).
    pub(crate) fn advertise(&mut self, next: u64, ready_bytes: u64) -> u16 {
        let free = self.limit_bytes.saturating_sub(ready_bytes);
        let kept = self.right.saturating_sub(next);
        let step = self.mss.min(self.limit_bytes / 2);
        let unit = self.unit_bytes();
        let units = if free >= kept + step {
            free / unit
        } else {
            kept.div_ceil(unit)
        };
        self.set(next, units)
    }

    /// The same where the owner says what to offer, which may also be less than before.
    pub(crate) fn advertise_shared(&mut self, next: u64, window_bytes: u64) -> u16 {
        self.set(next, window_bytes / self.unit_bytes())
    }

    fn set(&mut self, next: u64, units: u64) -> u16 {
        let units = units.min(u64::from(u16::MAX));
        self.advertised_bytes = units * self.unit_bytes();
        self.right = self.right.max(next + self.advertised_bytes);
        units as u16
    }

    /// Last window advertised.
    pub(crate) fn advertised_bytes(&self) -> u64 {
        self.advertised_bytes
    }

    /// Reading has made so much room that the peer should know: the window is at least twice
    /// what is left of the one advertised.
    pub(crate) fn should_update(&self, next: u64, ready_bytes: u64) -> bool {
        let left = self.right.saturating_sub(next);
        let free = self.limit_bytes.saturating_sub(ready_bytes);
        2 * left <= self.clamp_bytes && free >= (2 * left).max(self.mss.min(self.limit_bytes / 2))
    }

    /// Data came in a segment of at least a few hundred bytes: the offer moves towards the clamp.
    pub(crate) fn on_data(&mut self, bytes: u64) {
        if self.limit_bytes < self.clamp_bytes && bytes >= 128 {
            self.limit_bytes = (self.limit_bytes + 2 * self.mss).min(self.clamp_bytes);
        }
    }

    /// A round trip as the timestamps of received data tell it; smoothed as SRTT is. Only the
    /// first segment that echoes a timestamp counts.
    pub(crate) fn sample_rtt(&mut self, rtt_ns: Nanos, echo: u32) {
        if self.echo == Some(echo) {
            return;
        }
        self.echo = Some(echo);
        self.rtt_ns = if self.rtt_ns == 0 {
            rtt_ns
        } else {
            self.rtt_ns - self.rtt_ns / 8 + rtt_ns / 8
        };
    }

    /// The round trip as a receiver sees it; 0 before the first sample.
    pub(crate) fn rtt_ns(&self) -> Nanos {
        self.rtt_ns
    }

    /// The round trip of the handshake.
    pub(crate) fn set_rtt(&mut self, rtt_ns: Nanos) {
        self.rtt_ns = rtt_ns;
    }

    /// The application read: once a round trip the clamp becomes twice what it read, and more
    /// while that grows, as the sender's window doubles.
    pub(crate) fn on_read(&mut self, now: Nanos, bytes: u64) {
        self.read_bytes += bytes;
        if self.rtt_ns == 0 || now.saturating_sub(self.round_from) < self.rtt_ns {
            return;
        }
        let read = core::mem::take(&mut self.read_bytes);
        self.round_from = now;
        if read <= self.space_bytes {
            return;
        }
        let window = 2 * read + 16 * self.mss;
        let growth = u128::from(window) * u128::from(read - self.space_bytes);
        let growth = (growth / u128::from(self.space_bytes.max(1))) as u64;
        let window = (window + 2 * growth).min(self.max_bytes);
        self.clamp_bytes = self.clamp_bytes.max(window);
        self.space_bytes = read;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> ReceiveWindow {
        ReceiveWindow::new(BufferLimits::RECEIVE, 1460)
    }

    #[test]
    fn linux_s_buffer_has_its_first_window_and_scale() {
        let mut window = window();
        assert_eq!(window.shift(), Some(7));
        assert_eq!(window.syn_window(1), 64_240);
        assert_eq!(window.right(), 64_241);
    }

    #[test]
    fn the_right_edge_never_moves_back_and_forward_by_segments() {
        let mut window = window();
        window.syn_window(1);
        let right = window.right();
        window.advertise(30_001, 30_000);
        assert!(window.right().abs_diff(right) < 128);
        let right = window.right();
        window.advertise(30_001, 29_000);
        assert!(window.right() - right < 128);
        window.advertise(30_001, 20_000);
        assert_eq!(window.right(), 30_001 + (44_240 / 128) * 128);
    }

    #[test]
    fn the_clamp_follows_what_is_read_in_a_round_trip() {
        let mut window = window();
        window.set_rtt(10);
        window.on_read(10, 60_000);
        // 2 · 60 000 + 16 · 1460, and twice its share of (60 000 − 14 600) / 14 600 on top.
        assert_eq!(window.clamp_bytes, 143_360 + 2 * 445_790);
        let before = window.limit_bytes;
        window.on_data(1448);
        assert_eq!(window.limit_bytes, before + 2920);
        window.on_read(20, 100_000_000);
        assert_eq!(window.clamp_bytes, 3_145_728);
    }
}
