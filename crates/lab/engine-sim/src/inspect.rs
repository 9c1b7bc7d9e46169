//! A look into a world that stands still.

use std::net::IpAddr;

use mptcplab_link::{Counters, Place};
use mptcplab_plan::{Plan, Prefix, Way};
use mptcplab_stack::{ConnectionId, NotedChoice};

use crate::Nanos;
use crate::interference::Fate;
use crate::network::{Actor, Content, Seen};
use crate::node::host;
use crate::world::World;

/// Memory of a subflow, with its part in the connection.
const SUBFLOW_BYTES: u64 = 12_000;
/// Memory of a segment that was sent and not acknowledged, payload apart, which copies share.
const SEGMENT_BYTES: u64 = 250;
/// Memory of a link.
const LINK_BYTES: u64 = 4_000;
/// Memory of a packet in a link.
const PACKET_BYTES: u64 = 250;
/// Memory of a host or a router.
const NODE_BYTES: u64 = 10_000;

/// A connection that a flow has opened, with its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedConnection {
    /// Number of the flow.
    pub flow: usize,
    /// When it was opened.
    pub at: Nanos,
    /// The way of its data.
    pub way: Way,
    /// Node and connection of the client and of the server, which may not have accepted it yet.
    pub ends: [(usize, Option<ConnectionId>); 2],
}

/// A packet in a link.
#[derive(Clone, Debug)]
pub struct LinkPacket {
    /// Where it is.
    pub place: Place,
    /// Size of the IP packet.
    pub ip_bytes: u32,
    /// The packet.
    pub content: Content,
}

/// An entry of a routing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteEntry {
    /// The interface whose addresses the table is for; none for the main table.
    pub table: Option<usize>,
    /// The network.
    pub to: Prefix,
    /// The equally good interfaces that lead there.
    pub interfaces: Vec<usize>,
}

impl World {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The next actor that [`step`](Self::step) calls, and its time.
    pub fn next_actor(&self) -> Option<(Nanos, Actor)> {
        self.network.next_actor()
    }

    /// Lets time pass to `time`, or to the next actor's if that is earlier.
    pub fn wait_until(&mut self, time: Nanos) {
        let until = self.next_deadline().map_or(time, |next| next.min(time));
        self.network.now = self.network.now.max(until);
    }

    /// Begins to note packets and events, or no longer does. The rows of the run stay the same.
    pub fn observe(&mut self, on: bool) {
        self.network.observe(on);
    }

    /// The choices of all schedulers since the last call, with node and connection. The first call
    /// of a connection begins to note them, which changes nothing else.
    pub fn take_choices(&mut self) -> Vec<((usize, ConnectionId), NotedChoice)> {
        let stacks = self.network.stacks.iter_mut().enumerate();
        let hosts = stacks.filter_map(|(node, stack)| Some((node, stack.as_mut()?)));
        let mut all = Vec::new();
        for (node, stack) in hosts {
            let ids: Vec<_> = stack.connections().collect();
            for id in ids {
                let choices = stack.take_choices(id).into_iter();
                all.extend(choices.map(|choice| ((node, id), choice)));
            }
        }
        all
    }

    /// Takes the packets and events that were noted since the last call.
    pub fn take_seen(&mut self) -> Seen {
        self.network.take_seen()
    }

    /// How many connections flows have opened so far.
    pub fn opened_connections(&self) -> usize {
        self.network.opened().len()
    }

    /// The connection that was opened after so many others.
    pub fn opened_connection(&self, number: usize) -> Option<OpenedConnection> {
        let opened = self.network.opened().get(number)?;
        let flow = opened.owner.flow as usize;
        let traffic = &self.plan.traffic[flow];
        Some(OpenedConnection {
            flow,
            at: opened.at,
            way: opened.way,
            ends: [
                (traffic.client, Some(opened.client)),
                (traffic.server, opened.server),
            ],
        })
    }

    /// The packets in a direction of a link now, first those that arrive first.
    pub fn link_packets(&self, link: usize, direction: usize) -> Vec<LinkPacket> {
        let model = self.network.links[link].model.at(self.now());
        let carried = model.carried(direction).into_iter();
        carried
            .map(|mut one| LinkPacket {
                place: one.place,
                ip_bytes: one.ip_bytes,
                content: Content::of(&mut one.packet),
            })
            .collect()
    }

    /// Gives the next packets that are sent into a link in a direction a fate.
    pub fn interfere(&mut self, link: usize, direction: usize, fate: &Fate, packets: u32) {
        self.network.links[link].interfere(direction, fate, packets);
    }

    /// Lets a host use another scheduler from now on, on connections that are there and to come.
    ///
    /// # Errors
    /// There is none of this name, or the node is no host.
    pub fn use_scheduler(&mut self, node: usize, name: &str) -> Result<(), String> {
        let kind = host::scheduler(&self.plan.nodes[node].mptcp, Some(name), None)?;
        self.with_stack(node, |stack, _| stack.use_scheduler(kind))
            .ok_or_else(|| format!("{} is no host", self.plan.nodes[node].name))
    }

    /// The memory that a copy of the world takes, roughly: with most packets in links, and
    /// connections that are busy, to a factor of two.
    pub fn approximate_bytes(&self) -> u64 {
        let stacks = self.network.stacks.iter().flatten();
        let connections = stacks.flat_map(|stack| {
            let subflows = stack.connections().flat_map(|id| stack.subflows(id));
            subflows.map(|one| SUBFLOW_BYTES + SEGMENT_BYTES * one.tcp.unacked_segments)
        });
        let links = self.network.links.iter().flat_map(|link| {
            [0, 1].map(|direction| {
                let backlog = link.model.backlog(direction);
                let packets = backlog.queued_packets + backlog.in_flight_packets;
                LINK_BYTES / 2 + PACKET_BYTES * packets
            })
        });
        let nodes = NODE_BYTES * self.network.nodes.len() as u64;
        connections.chain(links).sum::<u64>() + nodes
    }

    /// The counters of a direction of a link now.
    pub fn link_counters(&self, link: usize, direction: usize) -> Counters {
        let model = self.network.links[link].model.at(self.now());
        model.counters(direction)
    }

    /// The rate of a direction of a link, where it is fixed.
    pub fn link_rate_bps(&self, link: usize, direction: usize) -> Option<u64> {
        self.network.links[link].model.rate_bps(direction)
    }

    /// The routing tables of a node: first that of each interface, then the main one.
    pub fn routes(&self, node: usize) -> Vec<RouteEntry> {
        self.network.nodes[node].tables()
    }

    /// The usable addresses of a node.
    pub fn addresses(&self, node: usize) -> Vec<IpAddr> {
        let addresses = self.network.nodes[node].addresses();
        addresses.map(|(address, ..)| address).collect()
    }

    /// Packets that have reached a host and that it has not handled yet.
    pub fn waiting_packets(&self, node: usize) -> usize {
        self.network.waiting_packets(node)
    }
}
