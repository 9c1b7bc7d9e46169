//! Results of the analysis for one segment.

use crate::Nanos;

/// Kind of a segment in its subflow. The exact definitions, in their order, are those of
/// [`Subflow`](crate::Subflow)'s module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No data, no SYN, FIN or RST.
    Acknowledgement,
    /// RST, the first SYN, or data (or FIN) not seen before, above all that was seen.
    New,
    /// Data (or FIN) sent again because the receiver reported later data.
    FastRetransmission,
    /// Data (or SYN, FIN) sent again because a timer expired.
    TimeoutRetransmission,
    /// Data not seen before, but below what was seen, and sent before that: packets passed the
    /// capture in another order than they were sent.
    OutOfOrder,
    /// Data below the sender's left edge that was acknowledged already: one byte, or none, to make
    /// the receiver answer (RFC 9293, section 3.8.4).
    KeepAlive,
    /// One byte beyond the closed window of the receiver, or what would be a keep-alive while the
    /// window is closed (RFC 9293, section 3.8.6.1).
    WindowProbe,
    /// An RST, or an acknowledgement in SYN-SENT, that its receiver does not accept: nothing but
    /// the packet is counted of it. As for a duplicate, the caller of [`Subflow`](crate::Subflow)
    /// finds that out.
    NotAcceptable,
    /// The same packet that another interface saw before; nothing is counted of it, and it is not
    /// handed to [`Subflow`](crate::Subflow).
    Duplicate,
}

/// How a round trip was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RttMethod {
    /// Echo of a timestamp (RFC 7323, section 4), which identifies the transmission that is
    /// acknowledged where data was sent more than once.
    Timestamp,
    /// Acknowledgement of data that was sent once (Karn's rule, RFC 6298, section 3). The first
    /// choice: it is exact to the capture's clock.
    Karn,
}

/// Result for a segment at the level of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its kind.
    pub kind: Kind,
    /// Sequence number counted from the first of its sender (0 is the SYN; 1 the first byte of
    /// data), without wrapping. Where the SYN was not captured the first byte that was seen is
    /// number 1, or that which the other end was seen to expect before; what comes late then is 0
    /// or less.
    pub sequence: i64,
    /// The same for the acknowledged sequence number of the other end.
    pub acknowledgement: Option<i64>,
    /// Bytes of data in it that had not been seen before.
    pub new_bytes: u32,
    /// Bytes of data of the other end that it is the first to acknowledge.
    pub newly_acknowledged_bytes: u64,
    /// Bytes of data of its sender that are not acknowledged, after it. What was selectively
    /// acknowledged counts, SYN and FIN do not.
    pub in_flight_bytes: u64,
    /// The same as a sender with SACK estimates it: the pipe of RFC 6675. Without SACK it is all
    /// that is in flight.
    pub pipe_bytes: u64,
    /// Window that it grants, scaled; null where the scale is not known, and for an RST.
    pub window_bytes: Option<u64>,
    /// Round trip that it completes, seen from the place of the capture.
    pub rtt: Option<(RttMethod, Nanos)>,
    /// Frame of a retransmission that it reports as not needed by D-SACK (RFC 2883): the first of
    /// several.
    pub spurious_frame: Option<u64>,
}

impl Verdict {
    /// Returns the verdict for a segment of this kind without further figures.
    pub(crate) fn of(kind: Kind) -> Self {
        Self {
            kind,
            sequence: 0,
            acknowledgement: None,
            new_bytes: 0,
            newly_acknowledged_bytes: 0,
            in_flight_bytes: 0,
            pipe_bytes: 0,
            window_bytes: None,
            rtt: None,
            spurious_frame: None,
        }
    }
}

/// Result for a segment at the level of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataVerdict {
    /// Data sequence number of its first byte, counted from the initial one (1 is the first byte of
    /// data), by the mapping that covers it, wherever that stood.
    pub data_sequence: Option<i64>,
    /// Data acknowledgement in it, counted likewise for the other end.
    pub data_acknowledgement: Option<i64>,
    /// Bytes in it that no segment of the connection had carried before.
    pub new_data_bytes: u32,
    /// Bytes in it that were sent on another subflow before: reinjected.
    pub reinjected_bytes: u32,
    /// The subflow that sent the first of the reinjected bytes first.
    pub reinjected_from: Option<u32>,
    /// Time from sending to acknowledgement at the level of data that it completes.
    pub data_rtt: Option<Nanos>,
    /// The checksum of the mapping whose data it completes is right; not known where it was not
    /// asked for, or where not all of the mapped data was captured.
    pub checksum_valid: Option<bool>,
}
