//! Hosts, routers and switches.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::Prefix;

/// A host, a router or a switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name, unique in the plan.
    pub name: String,
    /// A router forwards packets; a host does not.
    pub router: bool,
    /// A switch passes frames on as controllers say; neither a host nor a router does.
    #[serde(default)]
    pub switch: Option<Switch>,
    /// Interfaces in the order of the scenario.
    pub interfaces: Vec<Interface>,
    /// Static routes of the main table beside those that follow from the interfaces.
    pub routes: Vec<Route>,
    /// MPTCP settings; ignored by routers.
    pub mptcp: Mptcp,
    /// The clock of a host's TCP and MPTCP shows multiples of this; simulator only.
    pub clock_granularity_ns: u64,
    /// A host's TCP spreads segments over the round trip; simulator only.
    pub pacing: bool,
    /// Other sysctls of the namespace, by dotted name.
    pub sysctls: BTreeMap<String, String>,
}

/// An OpenFlow switch. Its ports are the interfaces of its node, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// The number of the datapath, unique in the plan.
    pub datapath_id: u64,
    /// It is a bridge of Open vSwitch, not this project's; kernel engine only.
    #[serde(default)]
    pub is_open_vswitch: bool,
}

impl Node {
    /// Whether it is a bridge of Open vSwitch.
    pub fn is_bridge(&self) -> bool {
        self.switch.is_some_and(|switch| switch.is_open_vswitch)
    }

    /// Whether it has applications.
    pub fn is_host(&self) -> bool {
        !self.router && self.switch.is_none()
    }
}

/// One end of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Name, unique in its node.
    pub name: String,
    /// Addresses with prefix length.
    pub addresses: Vec<Prefix>,
    /// Next hops for what the interface does not reach directly, at most one a family.
    pub gateways: Vec<IpAddr>,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Time from the moment the interface comes up until its addresses are usable again
    /// (association, authentication). Not applied at the start of the run.
    pub address_delay_ns: u64,
    /// Flags of the MPTCP endpoint of each address; `None` where there is no endpoint.
    pub endpoint: Option<EndpointFlags>,
}

/// Flags of an endpoint of the kernel's path manager (`MPTCP_PM_ADDR_FLAG_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointFlags {
    /// Announce the address to the peer (ADD_ADDR).
    #[serde(default)]
    pub signal: bool,
    /// Open a subflow from the address.
    #[serde(default)]
    pub subflow: bool,
    /// Open the subflow as a backup.
    #[serde(default)]
    pub backup: bool,
    /// Open subflows to every address of the peer.
    #[serde(default)]
    pub fullmesh: bool,
}

/// A static route.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Destination; length 0 is the default route.
    pub to: Prefix,
    /// Next hop.
    pub via: IpAddr,
}

/// MPTCP settings of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mptcp {
    /// `net.mptcp.enabled`.
    pub enabled: bool,
    /// `net.mptcp.checksum_enabled`.
    pub checksum: bool,
    /// `net.mptcp.syn_retrans_before_tcp_fallback`.
    pub syn_retries: Option<u32>,
    /// `net.mptcp.scheduler` on the kernel engine; on the simulator `default`, `lowest-rtt`,
    /// `round-robin`, `redundant`, `blest` or `ecf`.
    pub scheduler: Option<String>,
    /// Options of the simulator's schedulers.
    #[serde(default)]
    pub scheduler_options: SchedulerOptions,
    /// Subflows on the address pair of the initial one (`ndiffports`), itself included; 1 is none more.
    /// Done through the userspace path manager interface where above 1.
    pub subflows_per_pair: u32,
    /// Limit of additional subflows of a connection.
    pub limit_subflows: u32,
    /// Limit of accepted ADD_ADDR of a connection.
    pub limit_add_addr_accepted: u32,
    /// Applications open and close subflows themselves; the node's path manager opens none.
    #[serde(default)]
    pub by_application: bool,
}

/// Options of the simulator's schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerOptions {
    /// Round robin: segments in turn on each subflow.
    pub num_segments: u32,
    /// Round robin: skip subflows whose congestion window is full instead of waiting for them.
    pub cwnd_limited: bool,
    /// When the connection's window is full, send its first unacknowledged segment again on a
    /// subflow that has room and has not carried it.
    pub opportunistic_retransmission: bool,
    /// After such a retransmission, halve the window of the subflow that held the segment up.
    pub penalisation: bool,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            num_segments: 1,
            cwnd_limited: true,
            opportunistic_retransmission: false,
            penalisation: false,
        }
    }
}
