//! The ends of links, as the emulator drives them.

use std::borrow::Cow;
use std::io;

use super::near_name;
use super::segments::host;
use crate::emulator::LinkEnd;
use crate::frames::port::{Interface, Port};
use crate::netns::NetNs;
use crate::node::Node;
use crate::plan::{InterfaceRef, Plan};

/// The place of the interface at an end of a link.
pub(super) struct Place<'a> {
    pub(super) netns: &'a NetNs,
    /// Its name there.
    pub(super) name: Cow<'a, str>,
    pub(super) mtu: u32,
    pub(super) offload: bool,
}

/// The place of the interface at an end of a link: of a host or a router, or of a bridge; `None`
/// where a switch of the emulator is there.
pub(super) fn place<'a>(
    plan: &'a Plan,
    nodes: &'a [Node],
    bridges: Option<&'a NetNs>,
    (number, end): (usize, usize),
) -> io::Result<Option<Place<'a>>> {
    let far = plan.links[number].ends[end];
    let planned = &plan.nodes[far.node];
    let (mtu, offload) = size(plan, number, far);
    let named = match (host(plan, nodes, far)?, bridges) {
        (Some(node), _) => (
            &node.netns,
            planned.interfaces[far.interface].name.as_str().into(),
        ),
        // The bridges share a namespace, in which names are those of one node no more.
        (None, Some(netns)) if planned.is_bridge() => (netns, near_name(number, end).into()),
        (None, _) => return Ok(None),
    };
    let (netns, name) = named;
    Ok(Some(Place {
        netns,
        name,
        mtu,
        offload,
    }))
}

/// The largest packet at an end of a link, and whether there may be larger frames. A port of a switch
/// takes any packet: one of a bridge takes what the hosts and routers of the plan can send.
fn size(plan: &Plan, number: usize, far: InterfaceRef) -> (u32, bool) {
    let planned = &plan.nodes[far.node];
    if planned.is_bridge() {
        let nodes = plan.nodes.iter().filter(|node| node.switch.is_none());
        let all = nodes.flat_map(|node| &node.interfaces).map(|one| one.mtu);
        return (
            all.max().unwrap_or(planned.interfaces[far.interface].mtu),
            false,
        );
    }
    (
        planned.interfaces[far.interface].mtu,
        plan.links[number].offload,
    )
}

/// Takes over the lab's side of the interfaces, which have these indices.
pub(super) fn open_ends(plan: &Plan, near: &[[Option<u32>; 2]]) -> io::Result<Vec<[LinkEnd; 2]>> {
    let links = plan.links.iter().zip(near).enumerate();
    let ends = links
        .flat_map(|(number, (link, near))| [0, 1].map(|end| (number, link.ends[end], near[end])));
    let interfaces = ends.filter_map(|(number, far, near)| {
        let (mtu, offload) = size(plan, number, far);
        Some(Interface {
            index: near?,
            mtu,
            offload,
        })
    });
    let interfaces: Vec<Interface> = interfaces.collect();
    let mut opened = Port::open_all(&interfaces)?.into_iter();
    let mut end = |of: InterfaceRef, near: Option<u32>| match near.and_then(|_| opened.next()) {
        Some(port) if plan.nodes[of.node].is_bridge() => LinkEnd::Bridge(port),
        Some(port) => LinkEnd::Interface(port),
        None => LinkEnd::Switch(of),
    };
    let links = plan.links.iter().zip(near);
    Ok(links
        .map(|(link, near)| [0, 1].map(|number| end(link.ends[number], near[number])))
        .collect())
}
