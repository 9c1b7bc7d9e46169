//! The size of the send buffer, which is counted in memory as Linux counts it: a segment takes more
//! than its payload.
//!
//! Source: `tcp_sndbuf_expand`, `tcp_new_space` in Linux 6.18, net/ipv4/tcp_input.c, which
//! acknowledgements call, and `tcp_event_new_data_sent`, tcp_output.c.

use super::Tcp;
use super::config::BufferLimits;
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
    /// A segment left since the last acknowledgement that did not fill the congestion window.
    unfilled: bool,
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
            unfilled: false,
        }
    }

    /// Grows for a wider window.
    fn widen(&mut self, window: &Window) {
        if window.bytes > self.window_bytes {
            *self = Self::new(self.limits, window);
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

    /// Memory that the send buffer holds of what was handed over and not acknowledged.
    pub(crate) fn outstanding_memory_bytes(&self) -> u64 {
        let mss = self.congestion.segment_bytes().max(1);
        self.outstanding_bytes() * (mss + OVERHEAD_BYTES) / mss
    }

    /// Notes that a new segment has left.
    pub(super) fn fill_send_buffer(&mut self) {
        let filled = self.scoreboard.in_flight_bytes() + self.congestion.segment_bytes();
        self.send_buffer.unfilled |= filled <= self.congestion.window_bytes();
    }

    /// Something was acknowledged. Where the application waits for room, the buffer may be what
    /// keeps it back, and grows: where what is queued does not fill the congestion window, or did
    /// not with every segment that has left since the last acknowledgement. It never shrinks.
    pub(crate) fn widen_send_buffer(&mut self, awaited: bool) {
        let unfilled = core::mem::take(&mut self.send_buffer.unfilled);
        if awaited && (unfilled || self.congestion_room_bytes() > 0) {
            self.send_buffer.widen(self.congestion.window());
        }
    }
}
