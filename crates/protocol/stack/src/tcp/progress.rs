//! Changes by a segment or a deadline.

/// Changes of a [`Tcp`](super::Tcp) that its owner is told, after a segment or a deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The segment was acceptable (RFC 9293, section 3.10.7.4; PAWS passed; its ACK is of data
    /// that was sent): its options may be believed.
    pub accepted: bool,
    /// The handshake is complete.
    pub established: bool,
    /// SND.UNA moved by as many bytes of data.
    pub acknowledged_bytes: u64,
    /// New data stands ready in order.
    pub readable: bool,
    /// The peer's FIN came, and everything before it.
    pub finished: bool,
    /// The segment must be answered by a RST that is made from it alone (RFC 9293,
    /// section 3.10.7.1); the connection goes on.
    pub answer_with_reset: bool,
    /// The connection is closed: nothing but what is still to be transmitted follows.
    pub closed: Option<CloseReason>,
}

/// Why a TCP connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both directions were closed in order.
    Finished,
    /// The peer refused the connection: RST in answer to SYN.
    Refused,
    /// A router has no route to the peer: an ICMP error in answer to SYN.
    Unreachable,
    /// The peer reset it.
    Reset,
    /// The peer did not answer, as often as data, SYN or keepalive probes were sent.
    TimedOut,
    /// It was aborted here.
    Aborted,
    /// No local port was free to open it.
    NoPort,
}
