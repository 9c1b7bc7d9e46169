//! Packets between links and nodes.

use std::mem;

use mptcplab_record::PacketDirection;
use mptcplab_wire::{EchoKind, Packet};

use super::{Actor, Network};
use crate::in_flight::{InFlight, PacketInFlight};
use crate::link::Arrived;
use crate::node::Forwarding;

impl Network {
    /// Forwards the packets that have come to the end of a link.
    pub(crate) fn poll_link(&mut self, link: usize) {
        let mut arrived = std::mem::take(&mut self.arrived);
        self.links[link].poll(self.now, &mut arrived);
        for packet in arrived.drain(..) {
            self.arrive(link, packet);
        }
        self.arrived = arrived;
        self.reschedule_link(link);
    }

    /// Schedules a link anew.
    pub(crate) fn reschedule_link(&mut self, link: usize) {
        self.call(Actor::Link(link), self.links[link].deadline());
    }

    /// Takes a packet that has come to the end of a link.
    fn arrive(&mut self, link: usize, arrived: Arrived) {
        let Arrived {
            direction,
            ip_bytes,
            mut in_flight,
        } = arrived;
        self.carried += 1;
        let of = self.links[link].ends[1 - direction];
        let node = &mut self.nodes[of.node];
        if !node.interfaces[of.interface].receives(ip_bytes) {
            return;
        }
        self.capture(
            (of.node, of.interface),
            PacketDirection::Inbound,
            &mut in_flight,
        );
        let received = match in_flight {
            InFlight::Packet(packet) => Some(packet),
            InFlight::Frame(frame) => self.receive_frame(of.node, of.interface, *frame),
        };
        let Some(mut in_flight) = received else {
            return;
        };
        if let Some(queue) = &mut self.outside[of.node] {
            queue.push_back((of.interface, *in_flight.into_packet()));
            return;
        }
        match self.nodes[of.node].forwarding(&in_flight) {
            Forwarding::Deliver => self.deliver(of.node, in_flight.into_packet()),
            Forwarding::Forward(interface) => {
                if in_flight.count_hop() {
                    self.emit(of.node, interface, ip_bytes, in_flight);
                }
            }
            Forwarding::Unreachable => self.refuse(of.node, in_flight),
            Forwarding::Drop => {}
        }
    }

    /// Tells the sender of a packet that a router has no route to its destination.
    fn refuse(&mut self, router: usize, mut in_flight: PacketInFlight) {
        let lost = in_flight.packet();
        if let Some(error) = self.nodes[router].unreachable(self.now, lost) {
            self.send(router, Box::new(error));
        }
    }

    /// Takes a packet that has reached its destination: a host handles it once it has woken up.
    fn deliver(&mut self, node: usize, packet: Box<Packet>) {
        if self.stacks[node].is_none() {
            return self.handle(node, packet);
        }
        self.backlogs[node].push(self.now, packet);
        if let Some(deadline) = self.backlogs[node].deadline() {
            self.keep_busy(node, deadline);
            let actor = self.number(Actor::Node(node));
            self.schedule.set_at_latest(actor, deadline);
        }
    }

    /// Handles a packet that has reached its destination.
    pub(super) fn handle(&mut self, node: usize, mut packet: Box<Packet>) {
        const TCP: u8 = 6;
        if packet.protocol() == TCP {
            if let Some(stack) = &mut self.stacks[node] {
                stack.receive(self.now, &mut *packet);
                self.packet_pool.push_back(packet);
                self.mark_dirty(node);
            }
            return;
        }
        if let Some(lost) = packet.as_unreachable() {
            if let Some(stack) = &mut self.stacks[node] {
                stack.on_unreachable(self.now, &lost);
                self.mark_dirty(node);
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

    /// Sends a packet of a node itself; one without a route is lost.
    pub(crate) fn send(&mut self, node: usize, packet: Box<Packet>) {
        if let Some(interface) = self.nodes[node].output_interface(&packet) {
            self.send_by(node, interface, packet);
        }
    }

    /// Sends a packet by an interface.
    pub(crate) fn send_by(&mut self, node: usize, interface: usize, packet: Box<Packet>) {
        let ip_bytes = packet.ip_bytes() as u32;
        self.emit(node, interface, ip_bytes, PacketInFlight::new(packet));
    }

    /// Passes a packet to the link at an interface.
    fn emit(&mut self, node: usize, interface: usize, ip_bytes: u32, packet: PacketInFlight) {
        let in_flight = match self.nodes[node].interfaces[interface].ethernet {
            None => Some(InFlight::Packet(packet)),
            Some(_) => self.nodes[node].framed(interface, packet),
        };
        if let Some(in_flight) = in_flight {
            self.transmit_by(node, interface, ip_bytes, in_flight);
        }
    }

    /// Passes a packet or a frame to the link at an interface.
    pub(super) fn transmit_by(
        &mut self,
        node: usize,
        interface: usize,
        ip_bytes: u32,
        mut in_flight: InFlight,
    ) {
        let out = &mut self.nodes[node].interfaces[interface];
        let Some((link, end)) = out.link else {
            return;
        };
        if !out.sends(ip_bytes) {
            return;
        }
        self.capture((node, interface), PacketDirection::Outbound, &mut in_flight);
        let offered = self.links[link].offer(self.now, end, ip_bytes, in_flight);
        if offered.is_err() && !self.captures.are_idle() {
            self.note_drop();
        }
        if offered == Ok(true) {
            self.reschedule_link(link);
        }
    }

    /// Puts a node outside: packets that reach its interfaces are queued for
    /// [`take_outside`](Self::take_outside).
    pub(crate) fn put_outside(&mut self, node: usize) {
        self.outside[node].get_or_insert_default();
    }

    /// Takes a packet that has reached a node outside, with the interface.
    pub(crate) fn take_outside(&mut self, node: usize) -> Option<(usize, Packet)> {
        self.outside[node].as_mut()?.pop_front()
    }

    /// Takes a packet for the applications, with its node.
    pub(crate) fn take_inbox(&mut self) -> Option<(usize, Packet)> {
        self.inbox.pop_front()
    }
}
