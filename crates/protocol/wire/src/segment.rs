//! The fields of a TCP segment.

mod build;
mod options;
mod parse;
#[cfg(test)]
mod tests;
mod usual;

use core::net::SocketAddr;

use arrayvec::ArrayVec;
use bytes::Bytes;
use smallvec::SmallVec;

pub use options::MAX_OPTION_BYTES;
pub use parse::ParseError;

use crate::ecn::Ecn;
use crate::option::MptcpOption;

/// Most options of MPTCP that are read from one segment; more than two together have no use.
pub const MAX_MPTCP_OPTIONS: usize = 4;

/// A TCP segment with the addresses of its packet (RFC 9293, section 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver; of the same family.
    pub destination: SocketAddr,
    /// SEG.SEQ: sequence number of the first byte, or of SYN.
    pub sequence: u32,
    /// SEG.ACK; counts where [`Flags::ack`] is set.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: Flags,
    /// SEG.WND as in the header: not yet scaled.
    pub window: u16,
    /// Urgent pointer; 0 where URG is not set.
    pub urgent: u16,
    /// Options of TCP and MPTCP.
    pub options: Options,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Data.
    pub payload: Bytes,
}

impl Segment {
    /// SEG.LEN: bytes of sequence space, SYN and FIN included.
    pub fn sequence_bytes(&self) -> u32 {
        self.payload.len() as u32 + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }
}

/// Control bits (RFC 9293, section 3.1; RFC 3168 for ECE and CWR).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Congestion window reduced.
    pub cwr: bool,
    /// ECN echo.
    pub ece: bool,
    /// Urgent pointer is significant.
    pub urg: bool,
    /// Acknowledgement is significant.
    pub ack: bool,
    /// Push.
    pub psh: bool,
    /// Reset.
    pub rst: bool,
    /// Synchronise sequence numbers.
    pub syn: bool,
    /// No more data from the sender.
    pub fin: bool,
}

/// Options of a segment, each at most once but for MPTCP's.
///
/// Unknown options are skipped when read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293, section 3.7.1); in SYNs.
    pub max_segment_bytes: Option<u16>,
    /// Shift of the window (RFC 7323, section 2.2); in SYNs.
    pub window_shift: Option<u8>,
    /// SACK permitted (RFC 2018, section 2); in SYNs.
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323, section 3.2).
    pub timestamps: Option<Timestamps>,
    /// Blocks of selective acknowledgement (RFC 2018, section 3; RFC 2883 for D-SACK).
    pub sack: ArrayVec<SackBlock, 4>,
    /// Options of MPTCP in their order. Nearly every segment has one; room for more is found
    /// elsewhere, as segments are handed on often.
    pub mptcp: SmallVec<[MptcpOption; 1]>,
}

/// Timestamps option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr; counts where ACK is set.
    pub echo: u32,
}

/// A block of received bytes: from `left` to before `right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// The sequence number that follows the block.
    pub right: u32,
}
