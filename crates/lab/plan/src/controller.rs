//! The controller of the switches.

use serde::{Deserialize, Serialize};

/// The controller of all switches, and the channels to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// The name of its policy: which path each subflow takes.
    pub policy: String,
    /// One way of the channel between a switch and the controller.
    pub channel_delay_ns: u64,
    /// The rate of each channel, each way; `None`: without limit.
    pub channel_rate_bps: Option<u64>,
    /// Its knowledge of the sizes of transfers.
    pub sizes: Sizes,
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
