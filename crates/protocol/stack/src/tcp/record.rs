//! Records of segments that were sent and are not acknowledged.

use super::rate::RateStamp;
use crate::Nanos;

/// A segment that was sent. It keeps its bounds when it is sent again.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Offset of its first byte.
    pub(crate) start: u64,
    /// Length of its payload.
    pub(crate) payload_bytes: u32,
    /// The payload has a mapping.
    pub(crate) is_mapped: bool,
    /// FIN follows the payload.
    pub(crate) fin: bool,
    /// When it was last sent.
    pub(crate) sent: Nanos,
    /// Number of its last transmission among all transmissions of the connection.
    pub(crate) transmission: u64,
    /// It was sent more than once.
    pub(crate) retransmitted: bool,
    pub(crate) status: Status,
    pub(crate) stamp: RateStamp,
}

/// Fate of a record's last transmission, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Taken to be in the network.
    InFlight,
    /// Taken to be lost; to be sent again.
    Lost,
    /// Received out of order.
    Sacked,
}

impl Record {
    /// Length in the sequence space.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.payload_bytes) + u64::from(self.fin)
    }

    /// Offset that follows it.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.bytes()
    }

    /// Its last transmission, where it has this number.
    pub(crate) fn transmission_of(&self, number: u64) -> Transmission {
        Transmission {
            record: number,
            number: self.transmission,
            sent: self.sent,
        }
    }
}

/// One transmission, in the order of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// Number of the record.
    pub(crate) record: u64,
    /// Number of the transmission.
    pub(crate) number: u64,
    /// When.
    pub(crate) sent: Nanos,
}
