//! How long data acknowledgements are, and the room that segments leave for them: 4 bytes until the
//! peer sends data with numbers of 8, then 8.
//!
//! Source: `use_64bit_ack` in Linux 6.18, net/mptcp.

use super::connection::Connection;

/// Bytes that the options of a data segment take, in whole words: a DSS with an acknowledgement of
/// 4 bytes, a mapping and a checksum.
const SHORT_DSS_BYTES: u32 = 24;

/// The same with an acknowledgement of 8 bytes.
const LONG_DSS_BYTES: u32 = 28;

/// Bytes that data segments of a new subflow leave for a DSS.
pub(super) fn dss_bytes(long_acks: bool) -> u32 {
    if long_acks {
        LONG_DSS_BYTES
    } else {
        SHORT_DSS_BYTES
    }
}

impl Connection {
    /// Acknowledges with 8 bytes from now on. What was cut into segments before keeps its 4.
    pub(super) fn lengthen_acks(&mut self) {
        if !core::mem::replace(&mut self.long_acks, true) {
            for subflow in self.subflows.iter_mut() {
                subflow.tcp.reserve_options(LONG_DSS_BYTES);
            }
        }
    }
}
