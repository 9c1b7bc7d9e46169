//! Which interfaces are on a segment, and their hardware addresses.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use mptcplab_plan::{InterfaceRef, Link, Plan};

use crate::ethernet::MacAddress;

/// An interface of a host or a router on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The interface.
    pub of: InterfaceRef,
    /// Its hardware address.
    pub hardware: MacAddress,
}

impl Attached {
    /// Its addresses with its hardware address.
    pub fn addresses<'a>(
        &self,
        plan: &'a Plan,
    ) -> impl Iterator<Item = (IpAddr, MacAddress)> + use<'a> {
        let hardware = self.hardware;
        let interface = &plan.nodes[self.of.node].interfaces[self.of.interface];
        let prefixes = interface.addresses.iter();
        prefixes.map(move |prefix| (prefix.address, hardware))
    }
}

/// A locally administered hardware address that tells its place: end number `end` of link number
/// `link`.
pub fn hardware_address(link: usize, end: usize) -> MacAddress {
    let [high, low] = (link as u16).to_be_bytes();
    [0x02, 0, 0, high, low, end as u8]
}

/// Whether a switch is at a link.
pub fn is_switched(plan: &Plan, link: &Link) -> bool {
    link.ends.iter().any(|&of| is_port(plan, of))
}

/// The hosts' and routers' interfaces on each segment of a plan, in the order of the links.
pub fn segments(plan: &Plan) -> Vec<Vec<Attached>> {
    let links = plan.links.iter().enumerate();
    let link_at: HashMap<InterfaceRef, usize> = links
        .flat_map(|(number, link)| link.ends.map(|of| (of, number)))
        .collect();
    let mut found = BTreeSet::new();
    let mut segments = Vec::new();
    for (first, link) in plan.links.iter().enumerate() {
        if !is_switched(plan, link) || found.contains(&first) {
            continue;
        }
        let segment = links_of(plan, &link_at, first);
        let ends = segment.iter().flat_map(|&link| [(link, 0), (link, 1)]);
        let attached = ends.map(|(link, end)| Attached {
            of: plan.links[link].ends[end],
            hardware: hardware_address(link, end),
        });
        segments.push(attached.filter(|end| !is_port(plan, end.of)).collect());
        found.extend(segment);
    }
    segments
}

fn is_port(plan: &Plan, of: InterfaceRef) -> bool {
    plan.nodes[of.node].switch.is_some()
}

/// The links that switches join to this one and itself, in order.
fn links_of(plan: &Plan, link_at: &HashMap<InterfaceRef, usize>, first: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![first];
    while let Some(link) = waiting.pop() {
        if !found.insert(link) {
            continue;
        }
        for of in plan.links[link].ends {
            if is_port(plan, of) {
                let ports = 0..plan.nodes[of.node].interfaces.len();
                let ports = ports.map(|interface| InterfaceRef { interface, ..of });
                waiting.extend(ports.filter_map(|port| link_at.get(&port)));
            }
        }
    }
    found
}
