//! Send sequence space: SND.UNA and SND.NXT (RFC 9293, section 3.3.1), as offsets.

use crate::sequence::Numbering;

/// Send variables of a connection.
#[derive(Clone, Debug)]
pub(crate) struct SendSequence {
    numbering: Numbering,
    una: u64,
    next: u64,
    /// Offset of the FIN, once sent.
    fin: Option<u64>,
    /// End of the last segment that was not full: Nagle's algorithm waits for its acknowledgement.
    small_end: u64,
}

impl SendSequence {
    /// The variables of a connection whose SYN is to be sent.
    pub(crate) fn new(initial: u32) -> Self {
        Self {
            numbering: Numbering::new(initial),
            una: 0,
            next: 1,
            fin: None,
            small_end: 0,
        }
    }

    /// SND.UNA.
    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// SND.NXT.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The sequence number of an offset.
    #[inline]
    pub(crate) fn wire(&self, offset: u64) -> u32 {
        self.numbering.wire(offset)
    }

    /// The offset of a sequence number: the one closest to SND.UNA.
    #[inline]
    pub(crate) fn offset(&self, number: u32) -> Option<u64> {
        self.numbering.offset(number, self.una)
    }

    /// Notes that the SYN was acknowledged.
    pub(crate) fn on_syn_acknowledged(&mut self) {
        self.una = 1;
    }

    /// Moves SND.UNA. Gives the bytes of data acknowledged, without SYN and FIN.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledged: u64) -> u64 {
        let data_end = self.fin.unwrap_or(u64::MAX);
        let from = self.una.max(1);
        self.una = acknowledged;
        acknowledged.min(data_end).saturating_sub(from)
    }

    /// Moves SND.NXT over data, and over a FIN that follows it. Gives the offset of the first byte.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u64, fin: bool, segment_bytes: u64) -> u64 {
        let offset = self.next;
        self.next += bytes + u64::from(fin);
        if fin {
            self.fin = Some(offset + bytes);
        }
        if bytes < segment_bytes {
            self.small_end = self.next;
        }
        offset
    }

    /// Bytes sent and not acknowledged, the SYN aside.
    #[inline]
    pub(crate) fn outstanding_bytes(&self) -> u64 {
        self.next.saturating_sub(self.una.max(1))
    }

    /// Whether a segment that was not full waits for its acknowledgement.
    #[inline]
    pub(crate) fn awaits_small(&self) -> bool {
        self.small_end > self.una
    }

    /// Whether the FIN was sent.
    #[inline]
    pub(crate) fn is_fin_sent(&self) -> bool {
        self.fin.is_some()
    }

    /// Whether the FIN was acknowledged.
    #[inline]
    pub(crate) fn is_fin_acknowledged(&self) -> bool {
        self.fin.is_some_and(|fin| self.una > fin)
    }
}
