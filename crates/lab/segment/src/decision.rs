//! Decisions of the controller, as events of a recording.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use mptcplab_controller::{Event, Flow, Link, PortRef};
use mptcplab_link::Nanos;

/// Names of what the controller knows by numbers.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The link at each port of a switch.
    pub(crate) links: BTreeMap<PortRef, String>,
    /// The switch of each datapath.
    pub(crate) switches: BTreeMap<u64, String>,
    /// The switch at each node that is one.
    pub(crate) nodes: BTreeMap<usize, String>,
}

const CONNECTED: &str = "connected";
const DISCONNECTED: &str = "disconnected";

/// A decision of the controller about a subflow, or the begin or end of the channel of a switch: a
/// row of kind [`KIND`](Self::KIND).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its time.
    pub t_ns: Nanos,
    /// Addresses and ports of the subflow, as in the table of subflows, or the switch.
    pub subject: String,
    /// The decision.
    pub label: String,
}

impl Decision {
    /// The kind of its row in the table of events.
    pub const KIND: &'static str = "controller";

    /// The decision that an event of the controller tells, if it tells one.
    pub(crate) fn of(t_ns: Nanos, event: &Event, names: &Names) -> Option<Self> {
        let of_switch = |datapath| names.switches.get(datapath).cloned().unwrap_or_default();
        let (subject, label) = match event {
            Event::FallsBack { flow, .. } => (flow_name(flow), "falls back to TCP".to_owned()),
            Event::Placed { flow, path, .. } => {
                (flow_name(flow), format!("over {}", names.path(path)))
            }
            Event::Moved { flow, path, .. } => {
                (flow_name(flow), format!("moved, over {}", names.path(path)))
            }
            Event::Refused { flow, .. } => (flow_name(flow), "refused".to_owned()),
            Event::Waits { flow, .. } => (flow_name(flow), "waits".to_owned()),
            Event::NotInstalled { flow, .. } => (flow_name(flow), "not installed".to_owned()),
            Event::SwitchUp(datapath) => (of_switch(datapath), CONNECTED.to_owned()),
            Event::SwitchDown(datapath) => (of_switch(datapath), DISCONNECTED.to_owned()),
            _ => return None,
        };
        Some(Self {
            t_ns,
            subject,
            label,
        })
    }
}

impl Decision {
    /// The begin or the end of the channel between a switch and a controller outside.
    pub(crate) fn of_channel(t_ns: Nanos, switch: &str, is_up: bool) -> Self {
        Self {
            t_ns,
            subject: switch.to_owned(),
            label: if is_up { CONNECTED } else { DISCONNECTED }.to_owned(),
        }
    }
}

impl Names {
    /// The links of a path.
    fn path(&self, path: &[Link]) -> String {
        let known = path.iter().filter_map(|link| self.links.get(&link.from));
        let links: Vec<&str> = known.map(String::as_str).collect();
        match links.is_empty() {
            true => "the switch of both".to_owned(),
            false => links.join(", "),
        }
    }
}

/// Addresses and ports of a subflow; addresses alone of other protocols, whose ports the controller
/// does not look at.
fn flow_name(flow: &Flow) -> String {
    match flow.source_port {
        0 => format!("{}-{}", flow.source, flow.destination),
        port => format!("{}-{}", SocketAddr::new(flow.source, port), flow.server()),
    }
}
