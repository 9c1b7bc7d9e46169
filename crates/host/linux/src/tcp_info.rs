//! `struct tcp_info` of `linux/tcp.h`, of whatever length the kernel has.

use serde::Serialize;

use crate::bytes::{u8_at, u32_at, u64_at};

/// Length that is asked for; longer structures are cut, shorter ones leave fields unknown.
pub(crate) const TCP_INFO_LENGTH: usize = 512;

/// `TCP_INFINITE_SSTHRESH`: slow start has not ended yet.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// `TCPI_OPT_SYN_DATA`
const OPTION_SYN_DATA: u8 = 32;

/// The kernel's state of one TCP connection or MPTCP subflow; named as the columns of
/// `subflow_samples`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpInfo {
    /// State by its RFC 9293 name.
    pub state: Option<&'static str>,
    /// Retransmission timeouts in a row (`tcpi_retransmits`).
    #[serde(skip)]
    pub timeouts: Option<u8>,
    /// Payload sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Payload acknowledged by the peer.
    pub bytes_acked: Option<u64>,
    /// Payload received in order.
    pub bytes_received: Option<u64>,
    /// Payload sent again.
    pub bytes_retrans: Option<u64>,
    /// Segments sent.
    pub segs_out: Option<u32>,
    /// Segments received.
    pub segs_in: Option<u32>,
    /// Segments sent again.
    pub retrans: Option<u32>,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: Option<u32>,
    /// Mean deviation of the round-trip time, microseconds.
    pub rttvar_us: Option<u32>,
    /// Smallest recent round-trip time, microseconds; unknown before the first measurement.
    pub min_rtt_us: Option<u32>,
    /// Congestion window, segments.
    pub cwnd: Option<u32>,
    /// Slow-start threshold, segments; unknown while there is none.
    pub ssthresh: Option<u32>,
    /// Segments in flight.
    pub unacked: Option<u32>,
    /// Most recent delivery rate, bit/s.
    pub delivery_rate_bps: Option<u64>,
    /// Pacing rate, bit/s; unknown while unlimited.
    pub pacing_rate_bps: Option<u64>,
    /// Receive window announced by the peer, bytes.
    pub snd_wnd: Option<u32>,
    /// Receive buffer in use, bytes.
    pub rcv_space: Option<u32>,
    /// Reordering events seen by the sender.
    pub reord_seen: Option<u32>,
    /// Duplicates that the receiver reported (DSACK).
    pub dsack_dups: Option<u32>,
    /// Retransmission timeout, microseconds.
    pub rto_us: Option<u32>,
    /// Time in which data was not acknowledged or not sent, microseconds.
    #[serde(skip)]
    pub busy_us: Option<u64>,
    /// The part of it in which the peer's window was too small, microseconds.
    #[serde(skip)]
    pub rwnd_limited_us: Option<u64>,
    /// The part of it in which the send buffer was too small, microseconds.
    #[serde(skip)]
    pub sndbuf_limited_us: Option<u64>,
    /// Bytes handed over and not sent.
    #[serde(skip)]
    pub notsent_bytes: Option<u32>,
    /// Time since payload came last, milliseconds in steps of the kernel's tick; without meaning
    /// before any has come.
    #[serde(skip)]
    pub last_data_received_ms: Option<u32>,
    /// Time since the last acknowledgement came, milliseconds in steps of the kernel's tick.
    #[serde(skip)]
    pub last_ack_received_ms: Option<u32>,
    /// The SYN/ACK acknowledged data of the SYN, which was sent or received (`TCPI_OPT_SYN_DATA`).
    #[serde(skip)]
    pub syn_data_acked: Option<bool>,
    /// The reason for which TCP Fast Open of this end failed; unknown where it did not, or was not
    /// tried.
    #[serde(skip)]
    pub fast_open_failure: Option<FastOpenFailure>,
}

/// The reason for which TCP Fast Open failed at the end that opened a connection
/// (`enum tcp_fastopen_client_fail`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenFailure {
    /// There was no cookie, so that one was asked for.
    CookieUnavailable,
    /// The SYN/ACK did not acknowledge the data.
    DataNotAcked,
    /// The same, of a SYN that was sent again, without data.
    SynRetransmitted,
}

impl FastOpenFailure {
    /// That of the two bits after the first one in `bits`.
    fn of(bits: u8) -> Option<Self> {
        let shift = if cfg!(target_endian = "big") { 5 } else { 1 };
        match bits >> shift & 3 {
            1 => Some(Self::CookieUnavailable),
            2 => Some(Self::DataNotAcked),
            3 => Some(Self::SynRetransmitted),
            _ => None,
        }
    }
}

impl TcpInfo {
    /// Reads the structure; fields that it is too short for are `None`.
    pub fn parse(bytes: &[u8]) -> Self {
        let u32_at = |offset| u32_at(bytes, offset);
        let u64_at = |offset| u64_at(bytes, offset);
        let bits = |rate: u64| rate.checked_mul(8);
        Self {
            state: u8_at(bytes, 0).and_then(state_name),
            timeouts: u8_at(bytes, 2),
            syn_data_acked: u8_at(bytes, 5).map(|options| options & OPTION_SYN_DATA != 0),
            fast_open_failure: u8_at(bytes, 7).and_then(FastOpenFailure::of),
            rto_us: u32_at(8),
            unacked: u32_at(24),
            last_data_received_ms: u32_at(52),
            last_ack_received_ms: u32_at(56),
            rtt_us: u32_at(68),
            rttvar_us: u32_at(72),
            ssthresh: u32_at(76).filter(|&ssthresh| ssthresh < INFINITE_SSTHRESH),
            cwnd: u32_at(80),
            rcv_space: u32_at(96),
            retrans: u32_at(100),
            // An unlimited rate is all ones, in 32 or 64 bits by the kernel's age.
            pacing_rate_bps: u64_at(104)
                .filter(|&rate| rate != u64::from(u32::MAX))
                .and_then(bits),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            segs_out: u32_at(136),
            segs_in: u32_at(140),
            notsent_bytes: u32_at(144),
            min_rtt_us: u32_at(148).filter(|&rtt| rtt != u32::MAX),
            delivery_rate_bps: u64_at(160).and_then(bits),
            busy_us: u64_at(168),
            rwnd_limited_us: u64_at(176),
            sndbuf_limited_us: u64_at(184),
            bytes_sent: u64_at(200),
            bytes_retrans: u64_at(208),
            dsack_dups: u32_at(216),
            reord_seen: u32_at(220),
            snd_wnd: u32_at(228),
        }
    }
}

/// The RFC 9293 names of states in the order of their numbers in the kernel (`TCP_ESTABLISHED` = 1 …).
const STATES: [&str; 12] = [
    "ESTABLISHED",
    "SYN-SENT",
    "SYN-RECEIVED",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "CLOSED",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
    // The kernel's TCP_NEW_SYN_RECV: a request without a socket.
    "SYN-RECEIVED",
];

fn state_name(state: u8) -> Option<&'static str> {
    STATES.get(usize::from(state).checked_sub(1)?).copied()
}

/// The number of a state in `<netinet/tcp.h>`, by the name that [`TcpInfo::state`] has for it.
pub fn state_number(name: &str) -> Option<u8> {
    (1..)
        .zip(STATES)
        .find(|(_, state)| *state == name)
        .map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A structure in which each 32-bit word holds its own offset.
    fn numbered() -> Vec<u8> {
        (0..64u32)
            .flat_map(|word| (word * 4).to_ne_bytes())
            .collect()
    }

    fn two_words(offset: u64) -> u64 {
        u64::from_ne_bytes(numbered()[offset as usize..][..8].try_into().unwrap())
    }

    #[test]
    fn fields_come_from_the_offsets_of_the_kernel_header() {
        let mut bytes = numbered();
        bytes[0] = 1;
        let info = TcpInfo::parse(&bytes);
        assert_eq!(info.state, Some("ESTABLISHED"));
        assert_eq!(info.last_data_received_ms, Some(52));
        assert_eq!(info.last_ack_received_ms, Some(56));
        assert_eq!(info.rtt_us, Some(68));
        assert_eq!(info.ssthresh, Some(76));
        assert_eq!(info.cwnd, Some(80));
        assert_eq!(info.notsent_bytes, Some(144));
        assert_eq!(info.busy_us, Some(two_words(168)));
        assert_eq!(info.sndbuf_limited_us, Some(two_words(184)));
        assert_eq!(info.bytes_sent, Some(two_words(200)));
        assert_eq!(info.delivery_rate_bps, two_words(160).checked_mul(8));
        assert_eq!(info.snd_wnd, Some(228));
    }

    #[test]
    fn a_short_structure_leaves_later_fields_unknown() {
        // Linux 4.9 ends after delivery_rate.
        let info = TcpInfo::parse(&numbered()[..168]);
        assert!(info.delivery_rate_bps.is_some());
        assert_eq!(info.bytes_sent, None);
        assert_eq!(info.snd_wnd, None);
    }

    #[test]
    fn values_that_mean_none_are_unknown() {
        let info = TcpInfo::parse(&[0xff; 232]);
        assert_eq!(info.min_rtt_us, None);
        assert_eq!(info.ssthresh, None);
        assert_eq!(info.pacing_rate_bps, None);
        assert_eq!(info.state, None);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_fate_of_data_in_a_syn_is_told() {
        let of = |options: u8, bits: u8| {
            let mut bytes = [0; 232];
            (bytes[5], bytes[7]) = (options, bits);
            let info = TcpInfo::parse(&bytes);
            (info.syn_data_acked, info.fast_open_failure)
        };
        assert_eq!(of(39, 1), (Some(true), None));
        let failures = [2, 4, 6].map(|bits| of(7, bits).1.unwrap());
        let expected = [
            FastOpenFailure::CookieUnavailable,
            FastOpenFailure::DataNotAcked,
            FastOpenFailure::SynRetransmitted,
        ];
        assert_eq!(failures, expected);
    }

    #[test]
    fn a_state_has_the_number_of_the_kernel_header() {
        for number in 1..=11 {
            assert_eq!(state_name(number).and_then(state_number), Some(number));
        }
        assert_eq!(state_number("SYN-RECEIVED"), Some(3));
        assert_eq!(state_number("ASLEEP"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            TcpInfo::parse(&bytes);
        }
    }
}
