//! Summary of a whole subflow.

use crate::{Nanos, Side};

/// How TCP ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TcpEnd {
    /// Both ends sent FIN, before any RST.
    Fin,
    /// An RST came before both FINs.
    Reset,
    /// The capture shows no end, or the FIN of one side only.
    Open,
}

/// Summary of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSummary {
    /// Data of the client.
    pub client: SentSummary,
    /// Data of the server.
    pub server: SentSummary,
    /// From SYN to SYN/ACK and on to the acknowledgement of that, wherever the capture was made;
    /// null where one of them is ambiguous or was not captured.
    pub handshake_rtt_ns: Option<Nanos>,
    /// How it ended.
    pub end: TcpEnd,
}

impl TcpSummary {
    /// Returns the summary of one end's data.
    pub fn sent(&self, by: Side) -> &SentSummary {
        match by {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }
}

/// Summary of the data of one end of a subflow. Acknowledgements, SACK blocks, windows
/// and round trips are those about the data of this end: the other end sent them.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentSummary {
    /// Packets, as captured.
    pub packets: u64,
    /// Packets, each that is larger than the MTU counted as the packets that it stands for.
    pub wire_packets: u64,
    /// Bytes of data with everything that was sent twice: Linux's `tcpi_bytes_sent`.
    pub payload_bytes: u64,
    /// Distinct bytes of data.
    pub bytes: u64,
    /// Most that was sent and not acknowledged.
    pub in_flight_max_bytes: u64,
    /// The largest pipe (RFC 6675).
    pub pipe_max_bytes: u64,
    /// Largest window granted to it.
    pub window_max_bytes: Option<u64>,
    /// First packet with data.
    pub first_data_ns: Option<Nanos>,
    /// Last packet with data.
    pub last_data_ns: Option<Nanos>,
    /// Longest time between two packets with data.
    pub idle_max_ns: Option<Nanos>,
    /// When that began.
    pub idle_at_ns: Option<Nanos>,
    /// MSS option of its SYN.
    pub mss: Option<u16>,
    /// Window scale option of its SYN.
    pub window_shift: Option<u8>,
    /// Retransmissions, as captured.
    pub retransmissions: u64,
    /// Retransmissions, counted as [`wire_packets`](Self::wire_packets): Linux's
    /// `tcpi_total_retrans`.
    pub retransmitted_packets: u64,
    /// Bytes of data in retransmissions that were sent before: Linux's `tcpi_bytes_retrans`.
    pub retransmitted_bytes: u64,
    /// Of these bytes those whose first transmission was not captured: they are in
    /// [`bytes`](Self::bytes).
    pub retransmitted_unseen_bytes: u64,
    /// Bytes of data in keep-alives and window probes that were sent before. So `payload_bytes` is
    /// `bytes` + `retransmitted_bytes` − `retransmitted_unseen_bytes` + `probe_bytes`.
    pub probe_bytes: u64,
    /// Of the retransmissions: those because the receiver reported later data.
    pub fast_retransmissions: u64,
    /// Of the retransmissions: those because a timer expired.
    pub timeout_retransmissions: u64,
    /// Of the retransmissions: those that a D-SACK reported as not needed.
    pub spurious_retransmissions: u64,
    /// Segments captured in another order than they were sent.
    pub out_of_order: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// SACK blocks (RFC 2018) about its data, without D-SACK.
    pub sack_blocks: u64,
    /// D-SACK blocks (RFC 2883) about its data.
    pub dsack_blocks: u64,
    /// Duplicate acknowledgements (RFC 5681, section 2) of its data.
    pub duplicate_acknowledgements: u64,
    /// Segments without SYN, FIN and RST that granted it a window of 0.
    pub zero_windows: u64,
    /// Packets marked with congestion experienced (RFC 3168).
    pub ecn_marked: u64,
    /// Round trips of its data from the place of the capture to the other end and back.
    pub rtt_samples: u64,
    /// The smallest.
    pub rtt_min_ns: Option<Nanos>,
    /// Their mean.
    pub rtt_mean_ns: Option<Nanos>,
    /// The largest.
    pub rtt_max_ns: Option<Nanos>,
    /// Their standard deviation.
    pub rtt_deviation_ns: Option<Nanos>,
    /// First FIN.
    pub fin_ns: Option<Nanos>,
    /// First acknowledgement of the FIN.
    pub fin_acknowledged_ns: Option<Nanos>,
    /// First RST.
    pub reset_ns: Option<Nanos>,
}
