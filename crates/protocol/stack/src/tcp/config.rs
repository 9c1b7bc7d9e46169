//! Settings of one TCP connection. The defaults are Linux's.

use core::hash::{Hash, Hasher};
use core::net::{IpAddr, SocketAddr};

use crate::Nanos;
use crate::congestion::CongestionAlgorithm;

const MILLISECOND: Nanos = 1_000_000;
const SECOND: Nanos = 1000 * MILLISECOND;

/// Addresses and ports of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FourTuple {
    /// This end.
    pub local: SocketAddr,
    /// The other.
    pub remote: SocketAddr,
}

impl Hash for FourTuple {
    /// By whole numbers: each segment that arrives is looked up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        if let (SocketAddr::V4(local), SocketAddr::V4(remote)) = (self.local, self.remote) {
            let pair = |local: u32, remote: u32| u64::from(local) << 32 | u64::from(remote);
            state.write_u64(pair(local.ip().to_bits(), remote.ip().to_bits()));
            state.write_u64(pair(local.port().into(), remote.port().into()));
        } else {
            (self.local, self.remote).hash(state);
        }
    }
}

/// Largest payload of a segment without options on a link of this MTU. It stays within what an
/// IP packet can hold with options, and above what headers alone would fill.
pub(crate) fn mss_of(mtu: u32, local: IpAddr) -> u32 {
    let headers = if local.is_ipv4() { 40 } else { 60 };
    mtu.saturating_sub(headers).clamp(88, 65_000)
}

/// Settings of one TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TcpConfig {
    /// Largest payload of a segment without options that the local interface takes; announced
    /// to the peer.
    pub mss: u32,
    /// The clock's times are multiples of this; at least 1.
    pub clock_granularity_ns: Nanos,
    /// Congestion control.
    pub congestion_control: CongestionAlgorithm,
    /// Send small segments at once (no Nagle).
    pub no_delay: bool,
    /// Spread segments over the round trip.
    pub pacing: bool,
    /// Explicit congestion notification.
    pub ecn: EcnPolicy,
    /// Probe an idle peer.
    pub keepalive: Option<Keepalive>,
    /// Send buffer (`tcp_wmem`).
    pub send_buffer: BufferLimits,
    /// Receive buffer (`tcp_rmem`).
    pub receive_buffer: BufferLimits,
    /// Initial congestion window in segments (RFC 6928).
    pub initial_window_segments: u32,
    /// Smallest retransmission timeout, less the smoothed round trip.
    pub min_rto_ns: Nanos,
    /// Largest.
    pub max_rto_ns: Nanos,
    /// Longest delay of an acknowledgement.
    pub delayed_ack_ns: Nanos,
    /// `tcp_syn_retries`: how often a SYN is sent again with doubled timeouts.
    pub syn_retries: u32,
    /// `tcp_syn_linear_timeouts`: how often it is sent again before, each time after 1 s.
    pub syn_linear_timeouts: u32,
    /// `tcp_synack_retries`: how often a SYN/ACK is sent again.
    pub syn_ack_retries: u32,
    /// `tcp_retries2`: how often data is sent again without an answer, as a span of time: that
    /// of as many doublings of the smallest timeout.
    pub data_retries: u32,
    /// The same once the application has let go of the connection (`tcp_orphan_retries`: 0,
    /// which means 8).
    pub orphan_retries: u32,
    /// TIME-WAIT.
    pub time_wait_ns: Nanos,
    /// Longest FIN-WAIT-2 once the application has let go (`tcp_fin_timeout`).
    pub fin_wait_2_ns: Nanos,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            mss: 1460,
            clock_granularity_ns: 1,
            congestion_control: CongestionAlgorithm::Cubic,
            no_delay: false,
            pacing: false,
            ecn: EcnPolicy::default(),
            keepalive: None,
            send_buffer: BufferLimits::SEND,
            receive_buffer: BufferLimits::RECEIVE,
            initial_window_segments: 10,
            min_rto_ns: 200 * MILLISECOND,
            max_rto_ns: 120 * SECOND,
            delayed_ack_ns: 40 * MILLISECOND,
            syn_retries: 6,
            syn_linear_timeouts: 4,
            syn_ack_retries: 5,
            data_retries: 15,
            orphan_retries: 8,
            time_wait_ns: 60 * SECOND,
            fin_wait_2_ns: 60 * SECOND,
        }
    }
}

/// Size of a buffer and how far it may grow by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// At the start.
    pub initial_bytes: u64,
    /// At most.
    pub max_bytes: u64,
}

impl BufferLimits {
    /// Linux's `tcp_wmem`: a send buffer has at least room for an initial window.
    pub const SEND: Self = Self {
        initial_bytes: 16_384,
        max_bytes: 4_194_304,
    };
    /// Linux's `tcp_rmem` (`tcp_init`, since Linux 6.16; 6 MiB before).
    pub const RECEIVE: Self = Self {
        initial_bytes: 131_072,
        max_bytes: 33_554_432,
    };
}

/// `tcp_ecn`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnPolicy {
    /// Neither ask nor agree.
    Off,
    /// Agree where the peer asks.
    #[default]
    Agree,
    /// Ask and agree.
    Request,
}

/// Keepalive (RFC 9293, section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Idle time before the first probe.
    pub idle_ns: Nanos,
    /// Time between probes.
    pub interval_ns: Nanos,
    /// Unanswered probes before the connection is given up.
    pub probes: u32,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self {
            idle_ns: 7200 * SECOND,
            interval_ns: 75 * SECOND,
            probes: 9,
        }
    }
}
