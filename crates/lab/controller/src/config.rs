//! The setting up of a controller.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::place::PortRef;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

/// The size of the transfers of a server, known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSize {
    /// The server's address.
    pub server: IpAddr,
    /// The server's port.
    pub port: u16,
    /// Bytes of each transfer.
    pub bytes: u64,
}

/// Bounds of what others can make the controller remember and do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Switches.
    pub switches: usize,
    /// Ports of a switch.
    pub ports: usize,
    /// Addresses of hosts at a port.
    pub hosts_by_port: usize,
    /// Connections remembered. Where there are more, the port with the most of them loses one:
    /// first one that is over, then one that was never answered, then the oldest.
    pub connections: usize,
    /// Subflows of a connection.
    pub subflows: usize,
    /// Packets that wait for a host, a token or the end of a port's discovery.
    pub held_packets: usize,
    /// Packets a second from a port to the controller. A port with more is blocked for a second, but
    /// for what has rules.
    pub packet_ins_by_port: u32,
    /// Packets a second from a switch to the controller: the rate of its meter.
    pub packet_ins_by_switch: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            switches: 1024,
            ports: 1024,
            hosts_by_port: 256,
            connections: 1 << 16,
            subflows: 64,
            held_packets: 1024,
            packet_ins_by_port: 2_000,
            packet_ins_by_switch: 20_000,
        }
    }
}

/// A controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The key by which the frames of discovery are signed; to be random, and known to none else.
    pub key: [u8; 32],
    /// The seed of choices among equally good paths.
    pub seed: u64,
    /// Rates of links known beforehand, bit/s, by either of their ports, and of hosts' links, by
    /// the switch's port. Of others the port's own speed counts.
    pub link_rates_bps: BTreeMap<PortRef, u64>,
    /// Sizes of transfers known beforehand.
    pub sizes: Vec<TransferSize>,
    /// Whether the sizes of other transfers are learned: the median of the last ones of a server
    /// and port.
    pub learn_sizes: bool,
    /// Whether a connection of MPTCP whose size was told may be one of TCP instead, where its policy says
    /// so: its SYN goes on without MP_CAPABLE.
    pub tcp_fallback: bool,
    /// Whether each switch is asked to take the controller as its master, which no other
    /// controller is then (section 6.3.6).
    pub is_master: bool,
    /// Time between two frames of discovery on a port, and, but at most a second, between two echo
    /// requests, ns. A link of which three frames are missed is gone.
    pub discovery_interval_ns: u64,
    /// Time after which a switch without a connection is forgotten, ns.
    pub switch_age_ns: u64,
    /// Time after the first frame of discovery from which a port without a link is one of hosts, ns.
    pub settle_ns: u64,
    /// Time between two readings of the ports' counters, ns.
    pub load_interval_ns: u64,
    /// Least time between two readings of the counters of a connection of unknown size whose join
    /// waits until it has carried enough, ns.
    pub count_interval_ns: u64,
    /// Time that a host has to defend its address against another port's claim, ns.
    pub probe_ns: u64,
    /// Time that a packet waits for its receiver to be found, and rules to be confirmed, ns.
    pub wait_ns: u64,
    /// Time without a packet after which rules are removed, s.
    pub rule_idle_s: u16,
    /// Time after the removal of its rules for which a connection is remembered, ns.
    pub connection_idle_ns: u64,
    /// Bounds.
    pub limits: Limits,
}

impl Default for Config {
    /// Discovery each second, switches that are remembered for 15 s, rules that live 10 s; a key of zeros,
    /// which every host knows: for tests alone.
    fn default() -> Self {
        Self {
            key: [0; 32],
            seed: 0,
            link_rates_bps: BTreeMap::new(),
            sizes: Vec::new(),
            learn_sizes: false,
            tcp_fallback: false,
            is_master: false,
            discovery_interval_ns: SECOND,
            switch_age_ns: 15 * SECOND,
            settle_ns: 200 * MILLISECOND,
            load_interval_ns: SECOND,
            count_interval_ns: 50 * MILLISECOND,
            probe_ns: 500 * MILLISECOND,
            wait_ns: SECOND,
            rule_idle_s: 10,
            connection_idle_ns: 60 * SECOND,
            limits: Limits::default(),
        }
    }
}
