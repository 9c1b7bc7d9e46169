//! State of connections and subflows, for telemetry.

use alloc::vec::Vec;
use core::net::SocketAddr;

use crate::Nanos;
use crate::event::SubflowId;
use crate::protocol::Protocol;
use crate::scheduler::{Choice, SubflowView};
use crate::tcp::{TcpDetail, TcpInfo};

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Transport in use: TCP also after a fallback.
    pub protocol: Protocol,
    /// MPTCP was asked for, and TCP is spoken.
    pub fallback: bool,
    /// This end, at the start.
    pub local: SocketAddr,
    /// The other end, at the start.
    pub remote: SocketAddr,
    /// This end opened it.
    pub initiated_here: bool,
    /// Token of this end; MPTCP only.
    pub token: Option<u32>,
    /// MPTCP's own figures.
    pub multipath: Option<MultipathInfo>,
    /// Bytes that the application has written and the peer has not acknowledged.
    pub send_queue_bytes: u64,
    /// Bytes in order that the application has not read.
    pub receive_queue_bytes: u64,
}

/// Figures of `MPTCP_INFO` of Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultipathInfo {
    /// Subflows beside the first one.
    pub subflows_additional: u32,
    /// Subflows.
    pub subflows_total: u32,
    /// Addresses announced here.
    pub add_addr_signal: u32,
    /// Addresses of the peer that were accepted.
    pub add_addr_accepted: u32,
    /// Checksums are used.
    pub checksum: bool,
    /// Data sequence number of the next byte that the application writes.
    pub write_sequence: u64,
    /// First data sequence number that the peer has not acknowledged.
    pub unacknowledged: u64,
    /// Next data sequence number that is expected.
    pub receive_next: u64,
    /// Memory that the send buffer holds at most.
    pub send_buffer_bytes: u64,
    /// Memory of what was written and the peer has not acknowledged.
    pub send_memory_bytes: u64,
    /// Memory that the receive buffer holds at most.
    pub receive_buffer_bytes: u64,
    /// Bytes of data sent, without reinjections.
    pub bytes_sent: u64,
    /// Bytes of data received in order.
    pub bytes_received: u64,
    /// Bytes of data acknowledged by the peer.
    pub bytes_acked: u64,
    /// Bytes of data sent again on another subflow.
    pub bytes_retransmitted: u64,
    /// Timeouts of the connection-level retransmission timer.
    pub retransmits: u32,
}

/// State of a subflow; a plain TCP connection is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowInfo {
    /// Which.
    pub id: SubflowId,
    /// MPTCP only: used as a backup.
    pub backup: Option<bool>,
    /// MPTCP only: id of the local address.
    pub local_id: Option<u8>,
    /// MPTCP only: id of the remote address.
    pub remote_id: Option<u8>,
    /// As TCP sees it.
    pub tcp: TcpInfo,
}

/// Sequence numbers of a connection at the level of data. Offsets count the bytes of its data from
/// 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDetail {
    /// The first byte that the peer has not acknowledged.
    pub unacknowledged: u64,
    /// The first byte that no subflow was given yet.
    pub next: u64,
    /// The end of what the application has written.
    pub end: u64,
    /// The end of the peer's receive window.
    pub window_end: u64,
    /// The next byte that is expected.
    pub receive_next: u64,
    /// Data that waits for data before it.
    pub reassembly_bytes: u64,
    /// Data in order that the application has not read.
    pub ready_bytes: u64,
    /// Window that was last advertised.
    pub receive_window_bytes: u64,
    /// Data sent again on another subflow.
    pub reinjected_bytes: u64,
    /// When data is sent again by the connection's own timer.
    pub retransmission_timer: Option<Nanos>,
}

/// All state of a subflow; a plain TCP connection is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowDetail {
    /// As telemetry has it.
    pub info: SubflowInfo,
    /// Sequence numbers, scoreboard and timers.
    pub tcp: TcpDetail,
    /// This end opened it.
    pub initiated_here: bool,
    /// How far it has come: `opening`, `pre-established`, `established`, `closing`.
    pub stage: &'static str,
}

/// A choice of a scheduler, and what it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedChoice {
    /// The usable subflows, as they stood.
    pub subflows: Vec<SubflowView>,
    /// Its answer.
    pub choice: Choice,
}
