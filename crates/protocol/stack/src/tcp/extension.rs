//! Additions of the owner of a [`Tcp`](super::Tcp) to its segments: options of MPTCP and the window
//! of the connection.

use mptcplab_wire::Options;

use super::SharedWindow;

/// Where the bytes of a segment stand in the data of an MPTCP connection. It is fixed when the
/// bytes are handed over and repeated with every retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataMapping {
    /// Data sequence number of the first byte.
    pub data_sequence: u64,
    /// DATA_FIN follows the last byte.
    pub data_fin: bool,
    /// The last byte ends what was handed over together: PSH.
    pub push: bool,
    /// Checksum of the mapping, where checksums are used (RFC 8684, section 3.3.1).
    pub checksum: Option<u16>,
}

/// The segment that is about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// SYN of an active open.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// The ACK that answers the peer's SYN/ACK; sent again for each repeated SYN/ACK.
    HandshakeAck,
    /// With payload.
    Data {
        /// Offset of the first byte in the stream: 1 is the first byte after the SYN. Its low
        /// 32 bits are the subflow sequence number of a mapping.
        offset: u64,
        /// Length of the payload.
        bytes: usize,
        /// As handed over with the payload.
        mapping: Option<DataMapping>,
    },
    /// Without payload: acknowledgement, window update, probe, or FIN.
    Ack,
    /// RST.
    Reset,
}

/// Writes into each segment what the owner wants there.
pub(crate) trait Extension {
    /// Adds options to a segment; those together may have `room_bytes`. Options of MPTCP come
    /// before blocks of selective acknowledgement, which get the room that is left.
    fn options(&mut self, carrier: Carrier, room_bytes: usize, options: &mut Options);

    /// Window to advertise instead of the subflow's own: that of the connection.
    fn shared_window(&self) -> Option<SharedWindow>;
}

/// Plain TCP: nothing to add.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoExtension;

impl Extension for NoExtension {
    fn options(&mut self, _carrier: Carrier, _room_bytes: usize, _options: &mut Options) {}

    fn shared_window(&self) -> Option<SharedWindow> {
        None
    }
}
