//! The size of a receive buffer, which is counted in memory as Linux counts it: a segment takes
//! more than its payload, and the window is what is left for payload.
//!
//! Source: `tcp_rcvbuf_grow`, `tcp_measure_rcv_mss` in Linux 6.18, net/ipv4/tcp_input.c; the idea
//! is dynamic right-sizing (M. Fisk, W. Feng, LACSI 2001). MPTCP does the same
//! (`mptcp_rcvbuf_grow`).

use super::config::BufferLimits;
use crate::Nanos;

/// Memory of a received segment beside its payload, before that is rounded up to a power of two:
/// its headers and `skb_shared_info`; and on top of that (`sk_buff`).
const INSIDE_BYTES: u64 = 416;
const OUTSIDE_BYTES: u64 = 256;

/// Segments that the first round trip may bring.
const INITIAL_SEGMENTS: u64 = 10;

/// Part of a buffer's memory that is payload, in 256ths (`scaling_ratio`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PayloadShare(u64);

impl PayloadShare {
    /// Half of it: before any segment has come.
    pub(crate) const UNKNOWN: Self = Self(128);

    /// That of segments with so much payload.
    pub(crate) fn of_segments(payload_bytes: u64) -> Self {
        Self(((payload_bytes << 8) / segment_memory_bytes(payload_bytes)).max(1))
    }

    /// Part of a window that a segment with so much payload takes.
    pub(crate) fn taken_bytes(self, payload_bytes: u64) -> u64 {
        self.window_bytes(segment_memory_bytes(payload_bytes))
    }

    fn window_bytes(self, memory_bytes: u64) -> u64 {
        (memory_bytes * self.0) >> 8
    }

    fn memory_bytes(self, window_bytes: u64) -> u64 {
        window_bytes.saturating_mul(256) / self.0
    }
}

/// Memory that a segment with so much payload takes (`truesize`).
fn segment_memory_bytes(payload_bytes: u64) -> u64 {
    (payload_bytes + INSIDE_BYTES).next_power_of_two() + OUTSIDE_BYTES
}

/// A receive buffer that grows with what the application reads; it never shrinks.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    memory_bytes: u64,
    max_memory_bytes: u64,
    share: PayloadShare,
    /// Bytes that the application read in the last round trip that counted.
    space_bytes: u64,
    /// Read since `round_from`.
    read_bytes: u64,
    round_from: Nanos,
}

impl ReceiveBuffer {
    /// `segment_bytes` is the payload of a full segment.
    pub(crate) fn new(limits: BufferLimits, segment_bytes: u64) -> Self {
        let share = PayloadShare::UNKNOWN;
        let first = INITIAL_SEGMENTS * segment_bytes;
        Self {
            memory_bytes: limits.initial_bytes,
            max_memory_bytes: limits.max_bytes.max(limits.initial_bytes),
            share,
            space_bytes: share
                .window_bytes(limits.initial_bytes)
                .clamp(1, first.max(1)),
            read_bytes: 0,
            round_from: 0,
        }
    }

    /// Payload that has room in it.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.share.window_bytes(self.memory_bytes)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    pub(crate) fn share(&self) -> PayloadShare {
        self.share
    }

    pub(crate) fn set_share(&mut self, share: PayloadShare) {
        self.share = share;
    }

    /// Bytes that the application read in the last round trip that counted.
    pub(crate) fn space_bytes(&self) -> u64 {
        self.space_bytes
    }

    /// The application read.
    pub(crate) fn count_read(&mut self, bytes: u64) {
        self.read_bytes += bytes;
    }

    /// Whether a round trip is over, where it is known.
    pub(crate) fn is_round_over(&self, now: Nanos, rtt_ns: Nanos) -> bool {
        rtt_ns > 0 && now.saturating_sub(self.round_from) >= rtt_ns
    }

    /// Gives what the application read in a round trip, where one is over.
    pub(crate) fn end_round(&mut self, now: Nanos, rtt_ns: Nanos) -> Option<u64> {
        if !self.is_round_over(now, rtt_ns) {
            return None;
        }
        self.round_from = now;
        Some(core::mem::take(&mut self.read_bytes))
    }

    /// The application read so much in a round trip, and so much has come beyond a hole: the window
    /// becomes twice of the former, and more while that grows, as the sender's window doubles. True
    /// when the buffer is larger now.
    pub(crate) fn grow(&mut self, read_bytes: u64, beyond_bytes: u64) -> bool {
        let before = core::mem::replace(&mut self.space_bytes, read_bytes).max(1);
        let window = u128::from(read_bytes) * 2;
        let ahead = window * u128::from(read_bytes.saturating_sub(before)) / u128::from(before);
        let wanted = window + 2 * ahead + u128::from(beyond_bytes);
        let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
        let memory = self.share.memory_bytes(wanted).min(self.max_memory_bytes);
        let grows = memory > self.memory_bytes;
        self.memory_bytes = self.memory_bytes.max(memory);
        grows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures are those of Linux 6.18 with `tcp_rmem` 4096 131072 400000 (tracepoint
    /// `tcp_rcvbuf_grow`).
    #[test]
    fn the_buffer_grows_as_linux_s_does() {
        let limits = BufferLimits {
            initial_bytes: 131_072,
            max_bytes: 400_000,
        };
        let mut buffer = ReceiveBuffer::new(limits, 1448);
        assert_eq!(
            (buffer.window_bytes(), buffer.space_bytes()),
            (65_536, 14_480)
        );
        buffer.set_share(PayloadShare::of_segments(1448));
        assert_eq!(buffer.window_bytes(), 81_920);
        assert!(buffer.grow(30_408, 0));
        assert_eq!(
            (buffer.memory_bytes(), buffer.window_bytes()),
            (311_376, 194_610)
        );
        assert!(buffer.grow(57_920, 0));
        assert_eq!(
            (buffer.memory_bytes(), buffer.window_bytes()),
            (400_000, 250_000)
        );
        assert!(!buffer.grow(1_000_000, 0));
    }

    #[test]
    fn segments_beyond_a_hole_widen_it() {
        let mut buffer = ReceiveBuffer::new(BufferLimits::RECEIVE, 1448);
        assert!(!buffer.grow(14_480, 36_576));
        assert!(buffer.grow(14_480, 36_578));
        assert_eq!(buffer.window_bytes(), 65_538);
    }

    #[test]
    fn short_segments_waste_memory() {
        assert_eq!(PayloadShare::of_segments(1424), PayloadShare(158));
        assert_eq!(PayloadShare::of_segments(100), PayloadShare(20));
    }
}
