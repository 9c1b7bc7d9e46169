//! Links at switches, the switches, and their controller.
//!
//! A packet that leaves such a link at a switch is a frame that the switch takes, and the frames that
//! the switch sends are offered to the links at its ports. All of this happens at the times at which
//! it is due, in their order, until the present: a late wake-up delays no frame on its way through
//! the network, but only where it reaches a host.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use mptcplab_link::{Delivery, Nanos};
use mptcplab_plan::InterfaceRef;
use mptcplab_segment::{FlowEntries, Sent};

use super::clock::LinkTime;
use super::driven_link::{DrivenLink, Packet};
use super::{Connections, LinkEnd, Switches};
use crate::frames::segments::{ETHERNET_BYTES, Frame, OffloadHeader, with_checksum};
use crate::lateness::Lateness;

/// Steps before other links and commands have their turn: frames that go round in circles over
/// links of no delay would never end.
const STEPS_A_TURN: usize = 4096;

/// The switches and the links at them.
pub(super) struct Switched {
    switches: Switches,
    /// The numbers of the links.
    links: Vec<usize>,
    /// The link at a port of a switch, and which end of it.
    end_of: HashMap<InterfaceRef, (usize, usize)>,
    /// The next times of links, while a turn lasts. A link that has another time by then does
    /// nothing at the old one.
    due: BTreeSet<(Nanos, usize)>,
    /// The large frame whose packets have come to an interface of a switch last.
    last: HashMap<InterfaceRef, Rc<Frame>>,
    /// Packets that have come to switches; empty between two calls.
    arrived: Vec<(Delivery<Packet>, InterfaceRef)>,
    /// Frames that switches send; empty between two calls.
    sent: Vec<Sent>,
}

impl Switched {
    pub(super) fn new(switches: Switches, links: &[DrivenLink]) -> Self {
        let ends = links.iter().enumerate().flat_map(|(number, link)| {
            let ends = link.ends.iter().enumerate();
            ends.map(move |(end, at)| (at, (number, end)))
        });
        let end_of = ends.filter_map(|(at, place)| match at {
            LinkEnd::Switch(of) => Some((*of, place)),
            LinkEnd::Interface(_) | LinkEnd::Bridge(_) => None,
        });
        Self {
            switches,
            links: (0..links.len())
                .filter(|&link| links[link].is_switched)
                .collect(),
            end_of: end_of.collect(),
            due: BTreeSet::new(),
            last: HashMap::new(),
            arrived: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// The next time at which a switch, the controller or a connection has something to do.
    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        let connections = self.switches.connections.as_ref();
        let own = [
            self.switches.switching.next_deadline(),
            connections.and_then(Connections::next_deadline),
        ];
        own.into_iter().flatten().min()
    }

    /// Whether all channels to ends outside are at work, and a controller here knows the network.
    pub(super) fn is_ready(&self) -> bool {
        let connections = self.switches.connections.as_ref();
        connections.is_none_or(Connections::are_heard) && self.switches.switching.knows_network()
    }

    /// The flow entries that the switches had.
    pub(super) fn flow_entries(&self) -> FlowEntries {
        self.switches.switching.flow_entries()
    }

    /// Begins the run, so long after the time at which the clock has begun.
    pub(super) fn begin(&mut self, by_ns: Nanos) {
        self.switches.begins_later = false;
        self.switches.switching.begin(by_ns);
        if let Some(connections) = &mut self.switches.connections {
            connections.set_back(by_ns);
        }
    }

    /// Does what is due by the time until which the frames of all hosts are known, and sends what
    /// has come to hosts.
    pub(super) fn deliver(
        &mut self,
        links: &mut [DrivenLink],
        time: &LinkTime,
        lateness: &mut Lateness,
    ) -> io::Result<()> {
        let now = time.now();
        let horizons = self.links.iter().map(|&link| links[link].horizon);
        // Bridges outside may be all the switches that there are.
        let horizon = horizons.min().unwrap_or(now);
        self.due.clear();
        for index in 0..self.links.len() {
            self.expect(links, self.links[index]);
        }
        for _ in 0..STEPS_A_TURN {
            let of_links = self.due.first().map(|&(at, _)| at);
            let switching = self.switches.switching.next_deadline();
            let next = of_links.into_iter().chain(switching).min();
            let Some(next) = next.filter(|&next| next <= horizon) else {
                break;
            };
            self.step(links, next, |at| lateness.add(now.saturating_sub(at)));
        }
        self.talk(links, horizon)?;
        self.switches.failure.check()?;
        self.links
            .iter()
            .try_for_each(|&link| links[link].send_due())
    }

    /// Tells the switches at a link that its carrier has come or gone.
    pub(super) fn set_link(&mut self, now: Nanos, links: &mut [DrivenLink], link: usize, up: bool) {
        for end in 0..2 {
            if let LinkEnd::Switch(of) = links[link].ends[end] {
                let switching = &mut self.switches.switching;
                switching.set_link(now, of, up, &mut self.sent);
            }
        }
        self.offer_sent(links, now, None);
    }

    /// Does what is due at a time.
    fn step(&mut self, links: &mut [DrivenLink], at: Nanos, mut late: impl FnMut(Nanos)) {
        let mut arrived = std::mem::take(&mut self.arrived);
        let later = self.due.split_off(&(at + 1, 0));
        for (_, link) in std::mem::replace(&mut self.due, later) {
            if links[link].next_deadline().is_some_and(|next| next <= at) {
                let pass = |delivery, of| arrived.push((delivery, of));
                links[link].deliver_to_switches(at, &mut late, pass);
                self.expect(links, link);
            }
        }
        for (delivery, of) in arrived.drain(..) {
            self.pass(links, &delivery, of);
        }
        self.arrived = arrived;
        if self.next_message().is_some_and(|next| next <= at) {
            self.advance(links, at);
        }
    }

    /// The next time at which a switch or the controller has something to do.
    pub(super) fn next_message(&self) -> Option<Nanos> {
        self.switches.switching.next_deadline()
    }

    /// Lets the switches and the controller do what is due at a time.
    pub(super) fn advance(&mut self, links: &mut [DrivenLink], at: Nanos) {
        self.switches.switching.advance(at, &mut self.sent);
        self.tell_decisions();
        self.offer_sent(links, at, None);
    }

    /// Passes a packet that has come out of a link to the switch there.
    pub(super) fn receive(
        &mut self,
        links: &mut [DrivenLink],
        link: usize,
        (delivery, of): (&Delivery<Packet>, InterfaceRef),
    ) {
        links[link].note_received(delivery);
        self.pass(links, delivery, of);
    }

    /// Takes the next time of a link.
    fn expect(&mut self, links: &[DrivenLink], link: usize) {
        let next = links[link].next_deadline();
        self.due.extend(next.map(|at| (at, link)));
    }

    /// Exchanges messages with the ends of channels outside.
    pub(super) fn talk(&mut self, links: &mut [DrivenLink], at: Nanos) -> io::Result<()> {
        let switches = &mut self.switches;
        if let Some(connections) = &mut switches.connections {
            connections.advance(at, &mut switches.switching, &mut self.sent)?;
            self.tell_decisions();
            self.offer_sent(links, at, None);
        }
        Ok(())
    }

    fn tell_decisions(&mut self) {
        let decisions = self.switches.switching.take_decisions();
        if !self.switches.begins_later {
            decisions.into_iter().for_each(&mut self.switches.decided);
        }
    }

    /// Passes a packet to the switch at the end of its link, and what the switch sends to links. All
    /// packets of a large frame have the fields that a switch knows them by.
    fn pass(&mut self, links: &mut [DrivenLink], delivery: &Delivery<Packet>, of: InterfaceRef) {
        let Packet { frame, index } = &delivery.packet;
        let is_of_last = |last: &Rc<Frame>| Rc::ptr_eq(last, frame);
        if self.last.get(&of).is_some_and(is_of_last) {
            let bytes = u64::from(frame.ip_bytes(*index)) + ETHERNET_BYTES as u64;
            let switching = &mut self.switches.switching;
            if let Some(by) = switching.repeat_frame(delivery.at, of, bytes) {
                return self.offer(links, delivery.at, by, delivery.packet.clone());
            }
        } else if frame.packets() > 1 {
            self.last.insert(of, Rc::clone(frame));
        } else {
            self.last.remove(&of);
        }
        let (offload, bytes) = frame.carve(*index..*index + 1);
        let bytes = Bytes::from(with_checksum(&offload, bytes));
        let switching = &mut self.switches.switching;
        switching.receive_frame(delivery.at, of, bytes.clone(), &mut self.sent);
        self.offer_sent(links, delivery.at, Some((&bytes, &delivery.packet)));
    }

    /// Offers what switches send to the links at their ports. What a switch sends as it came, out of
    /// `came`, stays the packet of its frame: those that reach a host together make one large frame
    /// again.
    fn offer_sent(&mut self, links: &mut [DrivenLink], at: Nanos, came: Option<(&Bytes, &Packet)>) {
        let mut sent = std::mem::take(&mut self.sent);
        for Sent { by, frame } in sent.drain(..) {
            let packet = match came {
                Some((bytes, packet)) if is_same(bytes, &frame) => packet.clone(),
                _ => Packet {
                    frame: Rc::new(Frame::new(OffloadHeader::default(), frame.into())),
                    index: 0,
                },
            };
            self.offer(links, at, by, packet);
        }
        self.sent = sent;
    }

    /// Offers a packet to the link at a port.
    fn offer(&mut self, links: &mut [DrivenLink], at: Nanos, by: InterfaceRef, packet: Packet) {
        if let Some(&(link, end)) = self.end_of.get(&by) {
            links[link].offer_packet(at, end, packet);
            self.expect(links, link);
        }
    }
}

/// Whether two frames are the same memory: a switch that changes a frame makes a new one.
fn is_same(one: &Bytes, other: &Bytes) -> bool {
    one.as_ptr() == other.as_ptr() && one.len() == other.len()
}
