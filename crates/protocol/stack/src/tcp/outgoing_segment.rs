//! The content of a segment, before its header and options are written.

use bytes::Bytes;

use super::extension::{Carrier, DataMapping};

/// Content of a segment that is to be [written](super::Tcp::write).
#[derive(Debug)]
pub(crate) struct OutgoingSegment {
    /// Offset of the first byte, or of SYN or FIN.
    pub(super) offset: u64,
    pub(super) payload: Bytes,
    /// FIN follows the payload.
    pub(super) fin: bool,
    pub(super) carrier: Carrier,
    /// Its payload leaves for the first time.
    pub(super) new_data: bool,
}

impl OutgoingSegment {
    /// Without payload.
    pub(super) fn bare(offset: u64, carrier: Carrier) -> Self {
        Self {
            offset,
            payload: Bytes::new(),
            fin: false,
            carrier,
            new_data: false,
        }
    }

    /// With payload, or a FIN alone, for the first time or again.
    pub(super) fn data(
        offset: u64,
        payload: Bytes,
        mapping: Option<DataMapping>,
        fin: bool,
        first: bool,
    ) -> Self {
        let bytes = payload.len();
        let carrier = match bytes {
            0 => Carrier::Ack,
            _ => Carrier::Data {
                offset,
                bytes,
                mapping,
            },
        };
        Self {
            offset,
            payload,
            fin,
            carrier,
            new_data: first && bytes > 0,
        }
    }

    /// Whether it has PSH: at the end of mapped data that was handed over together, of other data
    /// where no more waits.
    pub(super) fn ends_push(&self, more_waits: bool) -> bool {
        match self.carrier {
            Carrier::Data {
                mapping: Some(mapping),
                ..
            } => mapping.push,
            Carrier::Data { .. } => !more_waits,
            _ => false,
        }
    }
}
