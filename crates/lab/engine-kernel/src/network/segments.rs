//! Segments of the network: the places of interfaces on them, and the switches.

use std::collections::HashMap;
use std::io;

use mptcplab_controller::Policy;
use mptcplab_link::Link;
use mptcplab_segment::{Switching, discovered, segments};

use super::{link_seed, within};
use crate::node::{Node, Segment};
use crate::plan::{InterfaceRef, Plan};

/// The host or router that an interface is of; `None` where it is a switch's port.
pub(super) fn host<'a>(
    plan: &Plan,
    nodes: &'a [Node],
    of: InterfaceRef,
) -> io::Result<Option<&'a Node>> {
    let planned = &plan.nodes[of.node];
    match (nodes.get(of.node), planned.switch) {
        (None, None) => {
            let text = "the plan has a switch before it: switches come after hosts and routers";
            Err(within(&planned.name, io::Error::other(text)))
        }
        (node, _) => Ok(node),
    }
}

/// The interfaces on segments, with their neighbours there.
pub(super) fn attached(plan: &Plan) -> HashMap<InterfaceRef, Segment> {
    let mut found = HashMap::new();
    for segment in segments(plan) {
        for own in &segment {
            let others = segment.iter().filter(|other| other.of != own.of);
            let neighbours = others.flat_map(|other| other.addresses(plan)).collect();
            let hardware = own.hardware;
            found.insert(
                own.of,
                Segment {
                    hardware,
                    neighbours,
                },
            );
        }
    }
    found
}

/// The switches of a plan that has some, and their controller, which knows the network; `supply` makes
/// its policy, where that is none of its own.
pub(super) fn switching(
    plan: &Plan,
    supply: Option<impl FnOnce(u64) -> Box<dyn Policy>>,
) -> io::Result<Option<(Switching, Option<&'static str>)>> {
    if plan.nodes.iter().all(|node| node.switch.is_none()) {
        return Ok(None);
    }
    let links = plan.links.iter().enumerate();
    let models = links.map(|(number, link)| {
        Link::new(&link.config, link_seed(plan.seed, number))
            .map_err(|error| within(&format!("link {}", link.name), io::Error::other(error)))
    });
    let models = models.collect::<io::Result<_>>()?;
    let discovered = discovered(plan, models, supply);
    discovered
        .map(Some)
        .map_err(|error| within("the controller", io::Error::other(error)))
}
