//! Segments: links that switches join. Hosts and routers on them send frames.

use std::sync::Arc;

use bytes::Bytes;
use mptcplab_plan::Plan;
use mptcplab_segment::ethernet::{HEADER_BYTES, frame_of, neighbour, packet_for};
use mptcplab_segment::segments;

use super::Network;
use crate::in_flight::{InFlight, PacketInFlight};
use crate::node::{Ethernet, Neighbours, Node};

/// Gives the interfaces of hosts and routers on segments their hardware addresses, and those of
/// their neighbours.
pub(super) fn assign(plan: &Plan, nodes: &mut [Node]) {
    for segment in segments(plan) {
        let addresses = segment.iter().flat_map(|end| end.addresses(plan));
        let neighbours: Arc<Neighbours> = Arc::new(addresses.collect());
        for end in segment {
            nodes[end.of.node].interfaces[end.of.interface].ethernet = Some(Ethernet {
                address: end.hardware,
                neighbours: Arc::clone(&neighbours),
            });
        }
    }
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
        if self.switching.has(node) {
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
