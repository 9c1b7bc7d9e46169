//! The size of the send buffer, which is counted in memory as Linux counts it: a segment takes more
//! than its payload.
//!
//! Source: `tcp_sndbuf_expand`, `tcp_new_space` in Linux 6.18, net/ipv4/tcp_input.c, which
//! acknowledgements call, and `tcp_event_new_data_sent`, tcp_output.c.

use super::Tcp;
use super::config::BufferLimits;
use crate::Nanos;
use crate::congestion::Window;

/// Memory of a segment beside its payload where the interface does not cut segments itself:
/// measured on Linux 6.18, x86-64.
const OVERHEAD_BYTES: u64 = 832;

/// Memory reckoned for headers and bookkeeping behind the payload before it is rounded up to a
/// power of two (`MAX_TCP_HEADER` without tunnels, `skb_shared_info`), and on top of that
/// (`sk_buff`).
const INSIDE_BYTES: u64 = 576;
const OUTSIDE_BYTES: u64 = 256;

/// Size of a send buffer. Asked for with every segment, it is reckoned when it changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendBuffer {
    limits: BufferLimits,
    /// The widest congestion window that it is for.
    window_bytes: u64,
    memory_bytes: u64,
    payload_bytes: u64,
    /// The application waits for room.
    awaited: bool,
    /// It has grown since [`Tcp::take_widened`] was asked.
    widened: bool,
}

impl SendBuffer {
    /// For twice the segments of a congestion window.
    pub(super) fn new(limits: BufferLimits, window: &Window) -> Self {
        let mss = u64::from(window.mss).max(1);
        let segment = (mss + INSIDE_BYTES).next_power_of_two() + OUTSIDE_BYTES;
        let memory_bytes = (2 * window.bytes.div_ceil(mss) * segment)
            .max(limits.initial_bytes)
            .min(limits.max_bytes);
        Self {
            limits,
            window_bytes: window.bytes,
            memory_bytes,
            payload_bytes: memory_bytes * mss / (mss + OVERHEAD_BYTES),
            awaited: false,
            widened: false,
        }
    }

    /// Grows for a wider window.
    fn widen(&mut self, window: &Window) {
        if window.bytes > self.window_bytes {
            *self = Self {
                awaited: self.awaited,
                widened: true,
                ..Self::new(self.limits, window)
            };
        }
    }
}

impl Tcp {
    /// Memory that the send buffer holds at most.
    pub(crate) fn send_buffer_memory_bytes(&self) -> u64 {
        self.send_buffer.memory_bytes
    }

    /// Payload in full segments that the send buffer holds at most.
    pub(crate) fn send_buffer_bytes(&self) -> u64 {
        self.send_buffer.payload_bytes
    }

    /// Memory that the send buffer holds of what was handed over and not acknowledged. Neighbours
    /// that were acknowledged selectively share a buffer.
    pub(crate) fn outstanding_memory_bytes(&self) -> u64 {
        let mss = self.congestion.segment_bytes().max(1);
        let buffers = self.scoreboard.len() - self.scoreboard.merged();
        let buffers = buffers as u64 + self.snd.queued_segments(mss);
        self.outstanding_bytes() + buffers * OVERHEAD_BYTES
    }

    /// Payload in full segments that the send buffer has room for.
    pub(crate) fn send_buffer_room_bytes(&self) -> u64 {
        let mss = self.congestion.segment_bytes();
        let used = self.outstanding_memory_bytes();
        let room = self.send_buffer.memory_bytes.saturating_sub(used);
        (room * mss).div_ceil(mss + OVERHEAD_BYTES)
    }

    /// Whether at least a third of the send buffer is free, which is worth waking the writer for.
    pub(crate) fn is_writable(&self) -> bool {
        3 * self.outstanding_memory_bytes() <= 2 * self.send_buffer.memory_bytes
    }

    /// Sets whether the application waits for room.
    pub(crate) fn set_awaited(&mut self, awaited: bool) {
        self.send_buffer.awaited = awaited;
    }

    /// Whether the application waits for room.
    pub(super) fn is_awaited(&self) -> bool {
        self.send_buffer.awaited
    }

    /// Whether the buffer has grown since this was asked last.
    pub(crate) fn take_widened(&mut self) -> bool {
        core::mem::take(&mut self.send_buffer.widened)
    }

    /// Lets the buffer grow after a new segment has left, where that did not fill the congestion
    /// window.
    pub(super) fn fill_send_buffer(&mut self, now: Nanos) {
        let filled = self.flight_bytes() + self.congestion.segment_bytes();
        let has_window = filled <= self.congestion.window_bytes();
        if self.send_buffer.awaited && has_window {
            self.note_send_buffer_limit(now);
        }
        self.widen_send_buffer(now, has_window);
    }

    /// Lets the buffer grow after something was acknowledged, where what is queued does not fill the
    /// congestion window.
    pub(crate) fn relieve_send_buffer(&mut self, now: Nanos) {
        let room = self.congestion_room_bytes();
        self.widen_send_buffer(now, room >= self.congestion.segment_bytes());
    }

    /// Where the application waits for room though the congestion window has some, the buffer is
    /// what keeps it back, and grows; the window does not count as unused. It never shrinks.
    fn widen_send_buffer(&mut self, now: Nanos, has_window: bool) {
        if self.send_buffer.awaited && has_window {
            self.send_buffer.widen(self.congestion.window());
            self.congestion.keep_unused(now);
        }
    }
}
