//! What a segment carries, before its header and options are written.

use bytes::Bytes;

use super::extension::{Carrier, DataMapping};

/// A segment that is to be [written](super::Tcp::write).
#[derive(Debug)]
pub struct Draft {
    /// Offset of the first byte, or of SYN or FIN.
    pub(super) offset: u64,
    pub(super) payload: Bytes,
    pub(super) mapping: Option<DataMapping>,
    pub(super) kind: Kind,
    /// FIN follows the payload.
    pub(super) fin: bool,
    /// Its payload leaves for the first time.
    pub(super) new_data: bool,
}

/// What a draft becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Syn,
    SynAck,
    /// The ACK that answers the peer's SYN/ACK.
    HandshakeAck,
    /// Any other segment of a synchronised connection.
    Synchronised,
    Reset,
}

impl Draft {
    /// Without payload.
    pub(super) fn bare(offset: u64, kind: Kind) -> Self {
        Self {
            offset,
            payload: Bytes::new(),
            mapping: None,
            kind,
            fin: false,
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
        let new_data = first && !payload.is_empty();
        Self {
            offset,
            payload,
            mapping,
            kind: Kind::Synchronised,
            fin,
            new_data,
        }
    }

    /// What it is to those who add options.
    pub(super) fn carrier(&self) -> Carrier {
        match self.kind {
            Kind::Syn => Carrier::Syn,
            Kind::SynAck => Carrier::SynAck,
            Kind::HandshakeAck => Carrier::HandshakeAck,
            Kind::Reset => Carrier::Reset,
            Kind::Synchronised if self.payload.is_empty() => Carrier::Ack,
            Kind::Synchronised => Carrier::Data {
                offset: self.offset,
                bytes: self.payload.len(),
                mapping: self.mapping,
            },
        }
    }
}
