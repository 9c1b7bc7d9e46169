//! The size of the send buffer, which is counted in memory as Linux counts it: a segment takes more
//! than its payload.
//!
//! Source: `tcp_sndbuf_expand`, `tcp_new_space` in Linux 6.18, net/ipv4/tcp_input.c.

use super::Tcp;

/// What a segment takes beside its payload where the interface does not cut segments itself:
/// measured on Linux 6.18, x86-64.
const OVERHEAD_BYTES: u64 = 832;

/// What is reckoned for headers and bookkeeping behind the payload before it is rounded up to a
/// power of two (`MAX_TCP_HEADER` without tunnels, `skb_shared_info`), and on top of that
/// (`sk_buff`).
const INSIDE_BYTES: u64 = 576;
const OUTSIDE_BYTES: u64 = 256;

impl Tcp {
    /// Memory that the send buffer holds at most: for twice the segments of the widest window.
    pub fn send_buffer_memory_bytes(&self) -> u64 {
        let limits = self.config.send_buffer;
        let mss = u64::from(self.window.mss).max(1);
        let window = self.widest_bytes.max(self.initial_window());
        let segment = (mss + INSIDE_BYTES).next_power_of_two() + OUTSIDE_BYTES;
        (2 * window.div_ceil(mss) * segment)
            .max(limits.initial_bytes)
            .min(limits.max_bytes)
    }

    /// Payload in full segments that the send buffer holds at most.
    pub fn send_buffer_bytes(&self) -> u64 {
        let mss = u64::from(self.window.mss).max(1);
        self.send_buffer_memory_bytes() * mss / (mss + OVERHEAD_BYTES)
    }

    /// The application waits for room: where what it has written does not fill the congestion
    /// window, the buffer is what keeps it back, and grows. It never shrinks.
    pub fn widen_send_buffer(&mut self) {
        if self.congestion_room_bytes() > 0 {
            self.widest_bytes = self.widest_bytes.max(self.window.bytes);
        }
    }
}
