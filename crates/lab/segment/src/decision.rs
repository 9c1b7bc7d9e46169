//! Decisions of the controller about subflows, as events of a recording.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use mptcplab_controller::{Event, Flow, Link, PortRef};
use mptcplab_link::Nanos;

/// A decision of the controller about a subflow: a row of kind [`KIND`](Self::KIND).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its time.
    pub t_ns: Nanos,
    /// Addresses and ports of the subflow, as in the table of subflows.
    pub subflow: String,
    /// The decision.
    pub label: String,
}

impl Decision {
    /// The kind of its row in the table of events.
    pub const KIND: &'static str = "controller";

    /// The decision that an event of the controller tells, if it tells one. `names` has the link at each
    /// port of a switch.
    pub(crate) fn of(
        t_ns: Nanos,
        event: &Event,
        names: &BTreeMap<PortRef, String>,
    ) -> Option<Self> {
        let (flow, label) = match event {
            Event::Placed { flow, path, .. } => (flow, format!("over {}", path_name(names, path))),
            Event::Moved { flow, path, .. } => {
                (flow, format!("moved, over {}", path_name(names, path)))
            }
            Event::Refused { flow, .. } => (flow, "refused".to_owned()),
            Event::NotInstalled { flow, .. } => (flow, "not installed".to_owned()),
            _ => return None,
        };
        let subflow = subflow_name(flow);
        Some(Self {
            t_ns,
            subflow,
            label,
        })
    }
}

fn subflow_name(flow: &Flow) -> String {
    let source = SocketAddr::new(flow.source, flow.source_port);
    format!("{source}-{}", flow.server())
}

/// The links of a path by their names.
fn path_name(names: &BTreeMap<PortRef, String>, path: &[Link]) -> String {
    let known = path.iter().filter_map(|link| names.get(&link.from));
    let links: Vec<&str> = known.map(String::as_str).collect();
    match links.is_empty() {
        true => "the switch of both".to_owned(),
        false => links.join(", "),
    }
}
