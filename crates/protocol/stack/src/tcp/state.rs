//! States of a connection (RFC 9293, section 3.3.2).

/// State of a connection; LISTEN belongs to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN sent.
    SynSent,
    /// SYN received, SYN/ACK sent.
    SynReceived,
    /// Open both ways.
    Established,
    /// FIN sent, not acknowledged.
    FinWait1,
    /// FIN acknowledged; the peer may go on sending.
    FinWait2,
    /// The peer has closed; this end may go on sending.
    CloseWait,
    /// Both have sent FIN at once.
    Closing,
    /// FIN sent after the peer's.
    LastAck,
    /// Waits for segments that may still be on their way.
    TimeWait,
    /// Gone.
    Closed,
}

impl State {
    /// Name of RFC 9293.
    pub fn name(self) -> &'static str {
        match self {
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
            Self::Closed => "CLOSED",
        }
    }

    /// Whether new data may be sent.
    pub fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait)
    }

    /// Data of the peer is taken.
    pub fn may_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// Whether both ends have agreed on their sequence numbers.
    pub fn is_synchronised(self) -> bool {
        !matches!(self, Self::SynSent | Self::SynReceived | Self::Closed)
    }
}
