//! State of a connection beyond `TCP_INFO`, for whoever stops time and looks.

use super::Tcp;
use super::recovery::Phase;
use super::timers::TIMERS;
use crate::Nanos;
use crate::congestion::Cause;

/// Sequence numbers, scoreboard and timers of one TCP connection. Offsets count from its SYN, which
/// has 0; the first byte of data has 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpDetail {
    /// Initial sequence number of this end.
    pub initial_send_sequence: u32,
    /// Initial sequence number of the peer; 0 before its SYN.
    pub initial_receive_sequence: u32,
    /// SND.UNA.
    pub unacknowledged: u64,
    /// SND.NXT.
    pub next: u64,
    /// RCV.NXT.
    pub receive_next: u64,
    /// Window that was last advertised.
    pub receive_window_bytes: u64,
    /// Data in order that was not read.
    pub ready_bytes: u64,
    /// Data that came before what precedes it.
    pub early_bytes: u64,
    /// Segments taken to be lost and not sent again.
    pub lost_segments: u64,
    /// Segments that were selectively acknowledged.
    pub sacked_segments: u64,
    /// The cause that the congestion window reacts to, in Linux's words: `Open`, `CWR`, `Recovery`, `Loss`.
    pub congestion_state: &'static str,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Windows advertised as closed.
    pub zero_windows: u64,
    /// Deadlines of the timers that run, by name.
    pub timers: [(&'static str, Option<Nanos>); TIMERS.len()],
}

impl Tcp {
    /// Sequence numbers, scoreboard and timers.
    pub(crate) fn detail(&self) -> TcpDetail {
        let board = &self.scoreboard;
        let (sent, sacked) = (board.len() as u64, board.sacked() as u64);
        TcpDetail {
            initial_send_sequence: self.snd.wire(0),
            initial_receive_sequence: self.receiver.wire(0),
            unacknowledged: self.snd.una(),
            next: self.snd.next(),
            receive_next: self.receiver.next(),
            receive_window_bytes: self.receiver.advertised_bytes(),
            ready_bytes: self.receiver.ready_bytes(),
            early_bytes: self.receiver.early_bytes(),
            lost_segments: sent - sacked - board.in_flight_segments(),
            sacked_segments: sacked,
            congestion_state: match self.recovery.phase {
                Phase::Open => "Open",
                Phase::Reduction {
                    cause: Cause::EcnEcho,
                } => "CWR",
                Phase::Reduction { .. } => "Recovery",
                Phase::Loss { .. } => "Loss",
            },
            timeouts: self.counters.timeouts.into(),
            zero_windows: self.counters.zero_windows.into(),
            timers: TIMERS.map(|timer| (timer.name(), self.timers.get(timer))),
        }
    }
}
