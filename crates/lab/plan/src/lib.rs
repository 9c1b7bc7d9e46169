//! The plan of a run: its network, traffic and events, with every name resolved and every unit in the
//! field's name.
//!
//! A plan is made from a scenario and one of its variants (`mptcplab.engine`) and reaches an engine
//! as one line of JSON. Both engines read the same plan; what only one of them can do is refused
//! for the other before a plan is made.

mod capture;
mod controller;
mod event;
mod link;
mod node;
mod prefix;
mod traffic;

use serde::{Deserialize, Serialize};

pub use capture::Capture;
pub use controller::{Address, Controller, Sizes};
pub use event::{Action, Event};
pub use link::{InterfaceRef, Link, Middlebox, SegmentKind};
pub use node::{EndpointFlags, Interface, Mptcp, Node, Route, SchedulerOptions, Switch};
pub use prefix::Prefix;
pub use traffic::{OwnSubflow, Protocol, Requests, Traffic, Way, Workload};

/// Everything that one run needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of every random stream of the run (loss, jitter, file contents).
    pub seed: u64,
    /// Hosts and routers, then switches.
    pub nodes: Vec<Node>,
    /// Links between interfaces of the nodes.
    pub links: Vec<Link>,
    /// Traffic in the order of the scenario.
    pub traffic: Vec<Traffic>,
    /// Changes while the run lasts, ordered by time.
    pub events: Vec<Event>,
    /// Interval of the telemetry.
    pub sample_interval_ns: u64,
    /// Interfaces whose packets are written to pcapng files.
    pub capture: Option<Capture>,
    /// The run ends here at the latest, whatever the traffic does.
    pub time_limit_ns: u64,
    /// The controller of the switches.
    #[serde(default)]
    pub controller: Option<Controller>,
}

impl Plan {
    /// `node.interface`, the name of an interface in recordings.
    pub fn subject(&self, of: InterfaceRef) -> String {
        let node = &self.nodes[of.node];
        format!("{}.{}", node.name, node.interfaces[of.interface].name)
    }
}
