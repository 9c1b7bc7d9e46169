//! The controller of the switches.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The controller of all switches, and the channels to them. It is this project's, with a policy, or
/// another one, by its program or its address; the kernel engine alone has the latter two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// The name of its policy: which path each subflow takes; `None` of another controller.
    pub policy: Option<String>,
    /// The text of its file, of a policy in Python, whose name is `FILE.py:FUNCTION`.
    #[serde(default)]
    pub policy_source: Option<String>,
    /// Program and arguments of another controller, which is started and ended with the run and
    /// listens on TCP port 6653.
    #[serde(default)]
    pub argv: Option<Vec<String>>,
    /// The place where another controller listens, reached from outside of the lab.
    #[serde(default)]
    pub address: Option<Address>,
    /// Time that another controller has to find the network before the run begins, once all
    /// switches are connected.
    #[serde(default)]
    pub discovery_ns: u64,
    /// Time between two frames by which a controller of ours finds links and misses them.
    #[serde(default = "second")]
    pub link_probe_ns: u64,
    /// One way of the channel between a switch and the controller.
    pub channel_delay_ns: u64,
    /// The rate of each channel, each way; `None`: without limit.
    pub channel_rate_bps: Option<u64>,
    /// Its knowledge of the sizes of transfers.
    pub sizes: Sizes,
    /// Whether its policy may have a connection of MPTCP be one of TCP.
    #[serde(default)]
    pub tcp_fallback: bool,
}

fn second() -> u64 {
    1_000_000_000
}

/// An address of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// The host.
    pub host: IpAddr,
    /// The port.
    pub port: u16,
}

/// The knowledge of a controller of the sizes of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// Those of the plan's traffic, from the start.
    Told,
    /// Those of transfers that have ended.
    Learned,
    /// None.
    Unknown,
}
