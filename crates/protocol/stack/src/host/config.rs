//! Settings of a host and of its sockets.

use crate::Nanos;
use crate::congestion::CongestionAlgorithm;
use crate::mptcp::MptcpConfig;
use crate::protocol::Protocol;
use crate::tcp::{BufferLimits, EcnPolicy, Keepalive};

/// Settings of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// The clock's times are multiples of this: what lies between is not seen, and a deadline
    /// is kept at the first multiple that is not before it. At least 1.
    pub clock_granularity_ns: Nanos,
    /// Half-open connections of a listener at most (`tcp_max_syn_backlog`).
    pub syn_backlog: usize,
    /// Time to live, or hop limit, of packets sent.
    pub hop_limit: u8,
    /// First and last of the local ports for [`connect`](super::HostStack::connect)
    /// (`ip_local_port_range`).
    pub local_ports: [u16; 2],
    /// Settings of MPTCP.
    pub mptcp: MptcpConfig,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            clock_granularity_ns: 1,
            syn_backlog: 4096,
            hop_limit: 64,
            local_ports: [32_768, 60_999],
            mptcp: MptcpConfig::default(),
        }
    }
}

impl HostConfig {
    /// The time as the clock shows it: it stands still between two ticks.
    pub(crate) fn last_tick(&self, now: Nanos) -> Nanos {
        match self.clock_granularity_ns {
            0 | 1 => now,
            granularity => now - now % granularity,
        }
    }

    /// The first tick at or after a deadline: before it nothing is due.
    pub(crate) fn next_tick(&self, deadline: Nanos) -> Nanos {
        match self.clock_granularity_ns {
            0 | 1 => deadline,
            granularity => deadline
                .checked_next_multiple_of(granularity)
                .unwrap_or(Nanos::MAX),
        }
    }
}

/// Settings of a socket, and of those that a listening socket accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketOptions {
    /// Transport.
    pub protocol: Protocol,
    /// A socket of IPv6 that takes IPv4 too (`IPV6_V6ONLY` off): the subflows of its connections
    /// may be of both families. Those of any other socket are of the family of the first one.
    pub dual_stack: bool,
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
    /// Send buffer.
    pub send_buffer: BufferLimits,
    /// Receive buffer.
    pub receive_buffer: BufferLimits,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            protocol: Protocol::default(),
            dual_stack: false,
            congestion_control: CongestionAlgorithm::Cubic,
            no_delay: false,
            pacing: false,
            ecn: EcnPolicy::default(),
            keepalive: None,
            send_buffer: BufferLimits::SEND,
            receive_buffer: BufferLimits::RECEIVE,
        }
    }
}
