//! Links and nodes by their names.

use mptcplab_plan::Plan;

use crate::error::DebugError;

/// The number of the link of a name.
pub(crate) fn link_named(plan: &Plan, name: &str) -> Result<usize, DebugError> {
    let found = plan.links.iter().position(|link| link.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = plan.links.iter().map(|link| link.name.as_str()).collect();
        DebugError::Name(format!(
            "there is no link {name:?}; there are {}",
            names.join(", ")
        ))
    })
}

/// The number of the node of a name.
pub(crate) fn node_named(plan: &Plan, name: &str) -> Result<usize, DebugError> {
    let found = plan.nodes.iter().position(|node| node.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
        DebugError::Name(format!(
            "there is no host {name:?}; there are {}",
            names.join(", ")
        ))
    })
}
