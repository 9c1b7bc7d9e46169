//! Packets and events of a run, for whoever watches it step by step.

use bytes::Bytes;
use mptcplab_record::PacketDirection;
use mptcplab_stack::Event;
use mptcplab_wire::Packet;

use super::Network;
use crate::Nanos;
use crate::in_flight::InFlight;

/// A packet at an interface.
#[derive(Clone, Debug)]
pub struct SeenPacket {
    /// The time.
    pub t_ns: Nanos,
    /// Number of the node.
    pub node: usize,
    /// Number of its interface.
    pub interface: usize,
    /// Number of the interface's link.
    pub link: usize,
    /// The node sends it, and it has not met the link yet; or it has come out of the link.
    pub is_sent: bool,
    /// The link has not taken it: its queue was full, or it was down.
    pub is_dropped: bool,
    /// The packet.
    pub content: Content,
}

/// The bytes of a packet, as a link carries them.
#[derive(Clone, Debug)]
pub enum Content {
    /// On a link between hosts and routers.
    Packet(Box<Packet>),
    /// On a link at a switch.
    Frame(Bytes),
}

impl Content {
    pub(crate) fn of(in_flight: &mut InFlight) -> Self {
        match in_flight {
            InFlight::Packet(packet) => Self::Packet(Box::new(packet.packet().clone())),
            InFlight::Frame(frame) => Self::Frame(Bytes::clone(frame)),
        }
    }
}

/// The packets and events of a run since they were last taken.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Packets, each when a node sends it and when it has come out of a link.
    pub packets: Vec<SeenPacket>,
    /// Events of connections, with the numbers of their nodes.
    pub events: Vec<(usize, Event)>,
}

impl Network {
    /// Notes a packet at an interface.
    pub(super) fn note_packet(
        &mut self,
        (node, interface): (usize, usize),
        direction: PacketDirection,
        in_flight: &mut InFlight,
    ) {
        let link = self.nodes[node].interfaces[interface].link;
        if let (Some(seen), Some((link, _))) = (&mut self.captures.seen, link) {
            seen.packets.push(SeenPacket {
                t_ns: self.now,
                node,
                interface,
                link,
                is_sent: matches!(direction, PacketDirection::Outbound),
                is_dropped: false,
                content: Content::of(in_flight),
            });
        }
    }

    /// Notes that the link has dropped the packet that was noted last.
    pub(super) fn note_drop(&mut self) {
        if let Some(packet) = (self.captures.seen.as_mut()).and_then(|seen| seen.packets.last_mut())
        {
            packet.is_dropped = true;
        }
    }

    /// Notes an event of a connection.
    pub(crate) fn note_event(&mut self, node: usize, event: &Event) {
        if let Some(seen) = &mut self.captures.seen {
            seen.events.push((node, event.clone()));
        }
    }

    /// Begins to note packets and events, or no longer does.
    pub(crate) fn observe(&mut self, on: bool) {
        self.captures.seen = on.then(Seen::default);
    }

    /// Takes what was noted.
    pub(crate) fn take_seen(&mut self) -> Seen {
        self.captures
            .seen
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }
}
