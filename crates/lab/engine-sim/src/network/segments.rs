//! Segments: links that switches join. Hosts and routers on them send frames.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::Network;
use crate::ethernet::{HEADER_BYTES, frame_of, hardware_address, neighbour, packet_for};
use crate::in_flight::{InFlight, PacketInFlight};
use crate::link::Link;
use crate::node::{Ethernet, Neighbours, Node};

/// Gives the interfaces of hosts and routers on segments their hardware addresses, and those of
/// their neighbours.
pub(super) fn assign(nodes: &mut [Node], links: &[Link]) {
    let mut seen = BTreeSet::<usize>::new();
    for first in 0..links.len() {
        if !has_switch(nodes, &links[first]) || seen.contains(&first) {
            continue;
        }
        let segment = segment(nodes, links, first);
        seen.extend(segment.iter().copied());
        let ends = segment.iter().flat_map(|&link| [(link, 0), (link, 1)]);
        let ends: Vec<_> = ends
            .filter(|&(link, end)| !nodes[links[link].ends[end].node].is_switch)
            .collect();
        let mut neighbours = Neighbours::default();
        for &(link, end) in &ends {
            let of = links[link].ends[end];
            for prefix in &nodes[of.node].interfaces[of.interface].planned.addresses {
                neighbours.insert(prefix.address, hardware_address(link, end));
            }
        }
        let neighbours = Arc::new(neighbours);
        for (link, end) in ends {
            let of = links[link].ends[end];
            nodes[of.node].interfaces[of.interface].ethernet = Some(Ethernet {
                address: hardware_address(link, end),
                neighbours: Arc::clone(&neighbours),
            });
        }
    }
}

fn has_switch(nodes: &[Node], link: &Link) -> bool {
    link.ends.iter().any(|of| nodes[of.node].is_switch)
}

/// The links that switches join to this one and itself, in order.
fn segment(nodes: &[Node], links: &[Link], first: usize) -> Vec<usize> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![first];
    while let Some(link) = waiting.pop() {
        if !found.insert(link) {
            continue;
        }
        for of in links[link]
            .ends
            .iter()
            .filter(|of| nodes[of.node].is_switch)
        {
            let ports = nodes[of.node].interfaces.iter();
            waiting.extend(ports.filter_map(|port| port.link).map(|(link, _)| link));
        }
    }
    found.into_iter().collect()
}

impl Node {
    /// The frame of a packet that leaves by an interface on a segment; `None` where it has no
    /// neighbour of that address.
    pub(super) fn framed(&self, interface: usize, mut packet: PacketInFlight) -> Option<InFlight> {
        let ethernet = self.interfaces[interface].ethernet.as_ref()?;
        let next_hop = self.next_hop(interface, packet.destination())?;
        let destination = *ethernet.neighbours.get(&next_hop)?;
        let frame = frame_of(packet.packet(), ethernet.address, destination);
        Some(InFlight::Frame(Box::new(frame)))
    }
}

impl Network {
    /// Takes a frame that has come to a node; the packet in it, where it is for the node itself.
    pub(super) fn receive_frame(
        &mut self,
        node: usize,
        interface: usize,
        frame: Bytes,
    ) -> Option<PacketInFlight> {
        if self.switches[node].is_some() {
            self.switch_frame(node, interface, frame);
            return None;
        }
        let this = &self.nodes[node];
        let own = this.interfaces[interface].ethernet.as_ref()?.address;
        let has = |address| this.interface_of(address) == Some(interface);
        if let Some(answer) = neighbour::answer(&frame, own, has) {
            self.send_frame(node, interface, answer.into());
            return None;
        }
        let packet = packet_for(own, &frame)?;
        Some(PacketInFlight::new(Box::new(packet)))
    }

    /// Makes the addresses of an interface known on its segment, if it is on one.
    pub(super) fn announce(&mut self, node: usize, interface: usize) {
        let this = &self.nodes[node].interfaces[interface];
        let Some(ethernet) = &this.ethernet else {
            return;
        };
        let addresses = this.planned.addresses.iter();
        let frames: Vec<_> = addresses
            .map(|prefix| neighbour::announcement(ethernet.address, prefix.address))
            .collect();
        for frame in frames {
            self.send_frame(node, interface, frame.into());
        }
    }

    /// Passes a frame to the link at an interface.
    pub(super) fn send_frame(&mut self, node: usize, interface: usize, frame: Bytes) {
        let ip_bytes = frame.len().saturating_sub(HEADER_BYTES) as u32;
        let in_flight = InFlight::Frame(Box::new(frame));
        self.transmit_by(node, interface, ip_bytes, in_flight);
    }
}
