//! Settings of a host's endpoint and of its sockets.

use core::net::IpAddr;

use crate::Nanos;
use crate::congestion::CongestionAlgorithm;
use crate::mptcp::MptcpConfig;
use crate::tcp::{BufferLimits, EcnPolicy, Keepalive};

/// Settings of a host.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// The clock's times are multiples of this: what lies between is not seen, and a deadline
    /// is kept at the first multiple that is not before it. At least 1.
    pub clock_granularity_ns: Nanos,
    /// Half-open connections of a listener at most (`tcp_max_syn_backlog`).
    pub syn_backlog: usize,
    /// Time to live, or hop limit, of packets sent.
    pub hop_limit: u8,
    /// First and last of the local ports for [`connect`](super::Endpoint::connect)
    /// (`ip_local_port_range`).
    pub local_ports: [u16; 2],
    /// Settings of MPTCP.
    pub mptcp: MptcpConfig,
}

impl Default for EndpointConfig {
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

/// An address of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// The address.
    pub address: IpAddr,
    /// Largest IP packet that its interface takes, bytes.
    pub mtu: u32,
    /// Flags of the path manager's endpoint; none where there is no endpoint.
    pub endpoint: Option<EndpointFlags>,
}

impl EndpointConfig {
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

/// Flags of an endpoint of the path manager; they mean what `MPTCP_PM_ADDR_FLAG_*` mean to Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointFlags {
    /// Announce the address to the peer (ADD_ADDR).
    pub signal: bool,
    /// Open a subflow from the address.
    pub subflow: bool,
    /// Open the subflow as a backup.
    pub backup: bool,
    /// Open subflows to every address of the peer.
    pub fullmesh: bool,
}

/// Transport to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Plain TCP.
    #[default]
    Tcp,
    /// Multipath TCP, or TCP where the peer or the path does not want it.
    Mptcp,
}

/// Settings of a socket, and of those that a listening socket accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct SocketOptions {
    /// Transport.
    pub protocol: Protocol,
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
