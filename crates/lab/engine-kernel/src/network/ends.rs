//! The ends of links, as the emulator drives them.

use std::io;

use crate::emulator::LinkEnd;
use crate::frames::port::{Interface, Port};
use crate::plan::Plan;

/// Takes over the lab's side of the interfaces, which have these indices.
pub(super) fn open_ends(plan: &Plan, near: &[[Option<u32>; 2]]) -> io::Result<Vec<[LinkEnd; 2]>> {
    let links = plan.links.iter().zip(near);
    let ends = links.flat_map(|(link, near)| [0, 1].map(|end| (link, link.ends[end], near[end])));
    let interfaces = ends.filter_map(|(link, far, near)| {
        Some(Interface {
            index: near?,
            mtu: plan.nodes[far.node].interfaces[far.interface].mtu,
            offload: link.offload,
        })
    });
    let interfaces: Vec<Interface> = interfaces.collect();
    let mut opened = Port::open_all(&interfaces)?.into_iter();
    let mut end = |of, near: Option<u32>| match near.and_then(|_| opened.next()) {
        Some(port) => LinkEnd::Interface(port),
        None => LinkEnd::Switch(of),
    };
    let links = plan.links.iter().zip(near);
    Ok(links
        .map(|(link, near)| [0, 1].map(|number| end(link.ends[number], near[number])))
        .collect())
}
