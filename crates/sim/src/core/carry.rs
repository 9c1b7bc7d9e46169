//! Packets on their way from node to node.

use std::mem;

use mptcplab_wire::{EchoKind, Packet};

use super::{Actor, Core};
use crate::capture::Seen;
use crate::line::Arrived;
use crate::node::Onward;
use crate::parcel::Parcel;

impl Core {
    /// Carries out of a link what has come to its end.
    pub(crate) fn poll_line(&mut self, line: usize) {
        let mut arrived = std::mem::take(&mut self.arrived);
        self.lines[line].poll(self.now, &mut arrived);
        for packet in arrived.drain(..) {
            self.arrive(line, packet);
        }
        self.arrived = arrived;
        self.refresh_line(line);
    }

    /// Sets anew when a link is called.
    pub(crate) fn refresh_line(&mut self, line: usize) {
        self.call(Actor::Line(line), self.lines[line].deadline());
    }

    /// A packet has come to the end of a link.
    fn arrive(&mut self, line: usize, arrived: Arrived) {
        let Arrived {
            direction,
            ip_bytes,
            mut parcel,
        } = arrived;
        self.carried += 1;
        let of = self.lines[line].ends[1 - direction];
        let node = &mut self.nodes[of.node];
        if !node.interfaces[of.interface].receives(ip_bytes) {
            return;
        }
        self.capture((of.node, of.interface), Seen::Inbound, &mut parcel);
        if let Some(queue) = &mut self.outside[of.node] {
            queue.push_back((of.interface, *parcel.into_packet()));
            return;
        }
        match self.nodes[of.node].onward(&parcel) {
            Onward::Here => self.take(of.node, parcel.into_packet()),
            Onward::By(interface) => {
                if parcel.count_hop() {
                    self.emit(of.node, interface, ip_bytes, parcel);
                }
            }
            Onward::Nowhere => {}
        }
    }

    /// A packet has reached its node.
    fn take(&mut self, node: usize, mut packet: Box<Packet>) {
        const TCP: u8 = 6;
        if packet.protocol() == TCP {
            if let Some(endpoint) = &mut self.endpoints[node] {
                endpoint.receive(self.now, &mut *packet);
                self.gone.push_back(packet);
                self.touch(node);
            }
            return;
        }
        match packet.as_echo() {
            Some(echo) if echo.kind == EchoKind::Request => {
                let (to, from) = (packet.source(), packet.destination());
                let (id, sequence) = (echo.id, echo.sequence);
                let payload = mem::take(&mut packet.payload);
                let reply = Packet::echo(from, to, EchoKind::Reply, id, sequence, payload);
                self.send(node, Box::new(reply));
            }
            _ => self.inbox.push_back((node, *packet)),
        }
    }

    /// Sends a packet of a node itself; one without a way is lost.
    pub(crate) fn send(&mut self, node: usize, packet: Box<Packet>) {
        if let Some(interface) = self.nodes[node].way_of_own(&packet) {
            self.send_by(node, interface, packet);
        }
    }

    /// Sends a packet by an interface.
    pub(crate) fn send_by(&mut self, node: usize, interface: usize, packet: Box<Packet>) {
        let ip_bytes = packet.ip_bytes() as u32;
        self.emit(node, interface, ip_bytes, Parcel::new(packet));
    }

    /// Hands a packet to the link at an interface.
    fn emit(&mut self, node: usize, interface: usize, ip_bytes: u32, mut parcel: Parcel) {
        let out = &mut self.nodes[node].interfaces[interface];
        let Some((line, end)) = out.line else {
            return;
        };
        if !out.sends(ip_bytes) {
            return;
        }
        self.capture((node, interface), Seen::Outbound, &mut parcel);
        if self.lines[line].offer(self.now, end, ip_bytes, parcel) {
            self.refresh_line(line);
        }
    }

    /// Lets a node live outside: what reaches its interfaces is kept for whoever fetches it.
    pub(crate) fn put_outside(&mut self, node: usize) {
        self.outside[node].get_or_insert_default();
    }

    /// Takes what has reached a node outside, with the interface.
    pub(crate) fn take_outside(&mut self, node: usize) -> Option<(usize, Packet)> {
        self.outside[node].as_mut()?.pop_front()
    }

    /// A packet for the applications.
    pub(crate) fn take_inbox(&mut self) -> Option<(usize, Packet)> {
        self.inbox.pop_front()
    }
}
