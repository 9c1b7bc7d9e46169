//! A captured TCP segment, as the analysis sees it.

use std::net::SocketAddr;

use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{Ecn, Flags, Options};

use crate::dissect::Layers;

/// Nanoseconds since the Unix epoch, as the capture stamped them.
pub type Nanos = i64;

/// A captured TCP segment. Lengths are those in the headers, not of the captured part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it was captured.
    pub at: Nanos,
    /// Number of the frame in its file, from 1, as Wireshark shows it. Of a fragmented packet that
    /// of the fragment that completed it.
    pub frame: u64,
    /// Which interface of which file: a number over all files of the analysis, from 0.
    pub interface: u32,
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub destination: SocketAddr,
    /// Identification of the IPv4 header.
    pub identification: Option<u16>,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Bytes of the packet from the IP header on.
    pub packet_bytes: u32,
    /// SEG.SEQ.
    pub sequence: u32,
    /// SEG.ACK; counts where [`Flags::ack`] is set.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: Flags,
    /// SEG.WND as in the header: not yet scaled.
    pub window: u16,
    /// Checksum field of the TCP header.
    pub checksum: u16,
    /// Bytes of data.
    pub payload_bytes: u32,
    /// Ones' complement sum of the data, folded and not inverted, where it was asked for and all of
    /// the data was captured.
    pub payload_sum: Option<u16>,
    /// Options of TCP and MPTCP.
    pub options: Options,
    /// The capture ends within the options: there may have been more.
    pub options_cut: bool,
    /// Headers between that of the link and the IP header; addresses, lengths and other fields are
    /// those of the latter.
    pub layers: Layers,
}

impl Segment {
    /// Returns whether it maps data, as the first data of a connection of MPTCP must.
    pub(crate) fn has_mapping(&self) -> bool {
        self.options.mptcp.iter().any(|option| match option {
            MptcpOption::Capable(_) => true,
            MptcpOption::Dss(dss) => dss.mapping.is_some(),
            _ => false,
        })
    }
}
