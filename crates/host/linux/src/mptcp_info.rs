//! `struct mptcp_info` of `linux/mptcp.h`, of whatever length the kernel has.

use serde::Serialize;

use crate::bytes::{u8_at, u32_at, u64_at};

/// Length that is asked for; longer structures are cut, shorter ones leave fields unknown.
pub(crate) const MPTCP_INFO_LENGTH: usize = 128;

/// `MPTCP_INFO_FLAG_FALLBACK`
const FLAG_FALLBACK: u32 = 1;
/// `MPTCP_INFO_FLAG_REMOTE_KEY_RECEIVED`
const FLAG_REMOTE_KEY_RECEIVED: u32 = 2;

/// The kernel's state of one MPTCP connection; named as the columns of
/// `connection_samples`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MptcpInfo {
    /// Token of this end.
    pub token: Option<u32>,
    /// Additional subflows, as the kernel counts them: also those whose SYN has no answer yet.
    pub subflows: Option<u8>,
    /// Subflows, the initial one included where it lives.
    pub subflows_total: Option<u8>,
    /// Addresses announced.
    pub add_addr_signal: Option<u8>,
    /// Announced addresses accepted.
    pub add_addr_accepted: Option<u8>,
    /// The connection has become plain TCP.
    pub fallback: Option<bool>,
    /// Next data sequence number to be written.
    pub write_seq: Option<u64>,
    /// Oldest data sequence number not yet acknowledged.
    pub snd_una: Option<u64>,
    /// Next data sequence number expected.
    pub rcv_nxt: Option<u64>,
    /// Payload sent, reinjections excluded.
    pub bytes_sent: Option<u64>,
    /// Payload received in order.
    pub bytes_received: Option<u64>,
    /// Payload acknowledged at the level of the connection.
    pub bytes_acked: Option<u64>,
    /// Payload sent again on another subflow (reinjected).
    pub bytes_retrans: Option<u64>,
    /// Timeouts at the level of the connection.
    pub retransmits: Option<u32>,
    /// The peer has shown its key: the handshake was one of MPTCP.
    #[serde(skip)]
    pub remote_key_received: Option<bool>,
    /// Data checksums are in use.
    pub checksum: Option<bool>,
    /// Additional subflows that the kernel's own path manager allows a connection; 0 where another
    /// one is at work.
    #[serde(skip)]
    pub subflows_max: Option<u8>,
    /// Endpoints from which that path manager opens subflows.
    #[serde(skip)]
    pub local_addr_max: Option<u8>,
}

impl MptcpInfo {
    /// Reads the structure; fields that it is too short for are `None`.
    pub fn parse(bytes: &[u8]) -> Self {
        let u8_at = |offset| u8_at(bytes, offset);
        let u32_at = |offset| u32_at(bytes, offset);
        let u64_at = |offset| u64_at(bytes, offset);
        Self {
            subflows: u8_at(0),
            add_addr_signal: u8_at(1),
            add_addr_accepted: u8_at(2),
            subflows_max: u8_at(3),
            local_addr_max: u8_at(41),
            fallback: u32_at(8).map(|flags| flags & FLAG_FALLBACK != 0),
            remote_key_received: u32_at(8).map(|flags| flags & FLAG_REMOTE_KEY_RECEIVED != 0),
            token: u32_at(12),
            write_seq: u64_at(16),
            snd_una: u64_at(24),
            rcv_nxt: u64_at(32),
            checksum: u8_at(42).map(|enabled| enabled != 0),
            retransmits: u32_at(44),
            bytes_retrans: u64_at(48),
            bytes_sent: u64_at(56),
            bytes_received: u64_at(64),
            bytes_acked: u64_at(72),
            subflows_total: u8_at(80),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered() -> Vec<u8> {
        (0..=255).collect()
    }

    #[test]
    fn fields_come_from_the_offsets_of_the_kernel_header() {
        let info = MptcpInfo::parse(&numbered());
        assert_eq!(info.subflows, Some(0));
        assert_eq!(info.add_addr_accepted, Some(2));
        assert_eq!(
            (info.subflows_max, info.local_addr_max),
            (Some(3), Some(41))
        );
        assert_eq!(info.fallback, Some(false));
        assert_eq!(info.token, Some(u32::from_ne_bytes([12, 13, 14, 15])));
        assert_eq!(info.checksum, Some(true));
        assert_eq!(
            info.bytes_retrans,
            Some(u64::from_ne_bytes([48, 49, 50, 51, 52, 53, 54, 55]))
        );
        assert_eq!(info.subflows_total, Some(80));
    }

    #[test]
    fn a_short_structure_leaves_later_fields_unknown() {
        // Linux 5.16 to 6.4 end after csum_enabled.
        let info = MptcpInfo::parse(&numbered()[..43]);
        assert_eq!(info.checksum, Some(true));
        assert_eq!(info.retransmits, None);
        assert_eq!(info.bytes_sent, None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            MptcpInfo::parse(&bytes);
        }
    }
}
