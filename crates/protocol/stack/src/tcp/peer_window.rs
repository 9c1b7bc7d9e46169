//! The window that the peer offers (RFC 9293, section 3.10.7.4, fifth step).

use mptcplab_wire::Segment;

/// SND.WND with the segment that told it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerWindow {
    bytes: u64,
    largest_bytes: u64,
    shift: u8,
    /// SND.WL1.
    sequence: u64,
    /// SND.WL2.
    acknowledged: u64,
}

impl PeerWindow {
    /// Sets the window scale of the peer's SYN (RFC 7323, section 2.3: at most 14).
    pub(crate) fn set_shift(&mut self, shift: u8) {
        self.shift = shift.min(14);
    }

    /// SND.WND.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Largest window ever offered.
    pub(crate) fn largest_bytes(&self) -> u64 {
        self.largest_bytes
    }

    /// Another subflow was offered more: that holds here until the next acknowledgement, as far as
    /// a window field could have said it.
    pub(crate) fn raise(&mut self, bytes: u64) {
        self.bytes = self.bytes.max(bytes.min(65_535 << self.shift));
        self.largest_bytes = self.largest_bytes.max(self.bytes);
    }

    /// Takes the window of a SYN, which is not scaled.
    pub(crate) fn set_unscaled(&mut self, segment: &Segment, sequence: u64, acknowledged: u64) {
        self.set(u64::from(segment.window), sequence, acknowledged);
    }

    /// Takes the window of a segment unless a newer one told another. True where it changed.
    pub(crate) fn update(&mut self, segment: &Segment, sequence: u64, acknowledged: u64) -> bool {
        let newer = self.acknowledged < acknowledged
            || self.sequence < sequence
            || (self.sequence == sequence && self.acknowledged <= acknowledged);
        if !newer {
            return false;
        }
        let bytes = u64::from(segment.window) << self.shift;
        let changed = bytes != self.bytes;
        self.set(bytes, sequence, acknowledged);
        changed
    }

    fn set(&mut self, bytes: u64, sequence: u64, acknowledged: u64) {
        self.bytes = bytes;
        self.largest_bytes = self.largest_bytes.max(bytes);
        self.sequence = sequence;
        self.acknowledged = acknowledged;
    }
}
