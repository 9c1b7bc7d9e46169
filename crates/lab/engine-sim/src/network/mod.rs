//! The network of a run and the transport layers of its hosts: everything but the applications.

mod backlog;
mod captures;
mod connections;
mod forward;
mod observed;
mod opened;
mod segments;
mod switching;

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use foldhash::fast::FixedState;
use mptcplab_plan::Plan;
use mptcplab_random::{Purpose, Random};
use mptcplab_segment::{Sent, Switching, discovered};
use mptcplab_stack::{ConnectionId, HostStack};
use mptcplab_traffic::verdict::Mib;
use mptcplab_wire::Packet;

use self::backlog::Backlog;
use self::captures::Captures;
use self::opened::OpenedConnections;
use crate::Nanos;
use crate::error::SimError;
use crate::link::{Arrived, Link};
use crate::node::host;
use crate::node::{AddressChange, Node};
use crate::record::Recorder;
use crate::schedule::{Schedule, earlier};
use crate::supplies::Supplies;

pub use self::observed::{Content, Seen, SeenPacket};

/// The flow, its conversation and the side of it that a connection belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) flow: u32,
    pub(crate) conversation: u32,
    pub(crate) side: u8,
}

/// The actors of the [`Schedule`] in their order at equal times: the events of the plan, the time
/// limit, links, nodes, the switches with their controller, flows, the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The events of the plan.
    Timeline,
    /// The limit of time.
    Limit,
    /// A link, by number.
    Link(usize),
    /// A node, by number.
    Node(usize),
    /// The switches with their controller.
    Controller,
    /// A flow, by number.
    Flow(usize),
    /// The sampling.
    Sampler,
}

/// The network and its hosts.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) now: Nanos,
    pub(crate) nodes: Vec<Node>,
    /// The transport layer of each host; routers have none.
    pub(crate) stacks: Vec<Option<HostStack>>,
    pub(crate) links: Vec<Link>,
    /// The nodes that are switches, and their controller.
    switching: Switching,
    /// Frames that switches send; empty between two calls.
    sent: Vec<Sent>,
    pub(crate) recorder: Recorder,
    pub(crate) schedule: Schedule,
    flows: usize,
    /// Congestion controls and the like of each host's sockets.
    settings: Vec<host::Settings>,
    owners: HashMap<(usize, ConnectionId), Owner, FixedState>,
    opened: OpenedConnections,
    /// Nodes whose stack may have events or packets, each once.
    dirty: VecDeque<usize>,
    /// Whether a node is among them, or is being served and has not transmitted yet.
    is_dirty: Vec<bool>,
    /// Packets for applications: those that have reached a node and are neither TCP's nor echo
    /// requests.
    inbox: VecDeque<(usize, Packet)>,
    /// For nodes outside: the packets that have reached their interfaces.
    outside: Vec<Option<VecDeque<(usize, Packet)>>>,
    /// Packets that nodes have not handled yet.
    backlogs: Vec<Backlog>,
    captures: Captures,
    /// Packets that have come out of a link; empty between two steps.
    arrived: Vec<Arrived>,
    /// Buffers of packets that have been received, for the next ones.
    packet_pool: VecDeque<Box<Packet>>,
    /// Packets that links have carried.
    pub(crate) carried: u64,
    /// Segments that host stacks have sent.
    pub(crate) segments: u64,
}

impl Network {
    /// The network of a plan at time 0, in which every address is usable, and switches and their
    /// controller have found each other.
    pub(crate) fn new(plan: &Plan, supplies: &Supplies) -> Result<Self, SimError> {
        let node = |(index, node)| Node::new(node, plan.seed, index);
        let mut nodes: Vec<Node> = plan.nodes.iter().enumerate().map(node).collect();
        let link = |(index, planned): (usize, &mptcplab_plan::Link)| {
            Link::new(planned, plan.seed, index)
                .map_err(|error| SimError::refused(format!("link {}", planned.name), error))
        };
        let links = plan.links.iter().enumerate().map(link);
        let links = links.collect::<Result<Vec<_>, _>>()?;
        for (index, link) in links.iter().enumerate() {
            for (end, of) in link.ends.iter().enumerate() {
                nodes[of.node].interfaces[of.interface].link = Some((index, end));
            }
        }
        segments::assign(plan, &mut nodes);
        let (switching, warning) = discovered(plan, switching::models(plan)?, supplies.policy)
            .map_err(|error| SimError::refused("the controller", error))?;
        let settings = plan
            .nodes
            .iter()
            .map(|node| host::Settings::new(node, supplies));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let stack = |(index, settings): (usize, &host::Settings)| {
            let seed = Random::new(plan.seed, Purpose::Stack, index).bits();
            plan.nodes[index]
                .is_host()
                .then(|| HostStack::new(settings.host_config(), seed))
        };
        let stacks = settings.iter().enumerate().map(stack).collect();
        let actors = 2 + links.len() + nodes.len() + 1 + plan.traffic.len() + 1;
        let mut network = Self {
            now: 0,
            stacks,
            recorder: Recorder::default(),
            schedule: Schedule::new(actors),
            flows: plan.traffic.len(),
            settings,
            owners: HashMap::default(),
            opened: OpenedConnections::default(),
            dirty: VecDeque::new(),
            is_dirty: vec![false; nodes.len()],
            inbox: VecDeque::new(),
            outside: vec![None; nodes.len()],
            backlogs: (0..nodes.len())
                .map(|node| Backlog::new(plan, node))
                .collect(),
            captures: Captures::default(),
            arrived: Vec::new(),
            packet_pool: VecDeque::new(),
            carried: 0,
            segments: 0,
            switching,
            sent: Vec::new(),
            nodes,
            links,
        };
        for node in 0..network.nodes.len() {
            for interface in 0..network.nodes[node].interfaces.len() {
                network.record_addresses(
                    node,
                    AddressChange {
                        interface,
                        usable: true,
                    },
                );
            }
            network.set_addresses(node);
        }
        if let Some(text) = warning {
            network.recorder.warn(text);
        }
        network.reschedule_controller();
        network.open_captures(plan)?;
        Ok(network)
    }

    // Actors.

    fn number(&self, actor: Actor) -> usize {
        let links = 2;
        let nodes = links + self.links.len();
        let controller = nodes + self.nodes.len();
        let flows = controller + 1;
        match actor {
            Actor::Timeline => 0,
            Actor::Limit => 1,
            Actor::Link(index) => links + index,
            Actor::Node(index) => nodes + index,
            Actor::Controller => controller,
            Actor::Flow(index) => flows + index,
            Actor::Sampler => flows + self.flows,
        }
    }

    /// The next actor and its time.
    pub(crate) fn next_actor(&self) -> Option<(Nanos, Actor)> {
        let (time, number) = self.schedule.next()?;
        let actor = match number {
            0 => Actor::Timeline,
            1 => Actor::Limit,
            number => {
                let index = number - 2;
                let links = self.links.len();
                let nodes = links + self.nodes.len();
                match index {
                    link if link < links => Actor::Link(link),
                    node if node < nodes => Actor::Node(node - links),
                    controller if controller == nodes => Actor::Controller,
                    flow if flow <= nodes + self.flows => Actor::Flow(flow - nodes - 1),
                    _ => Actor::Sampler,
                }
            }
        };
        Some((time, actor))
    }

    /// Schedules an actor.
    pub(crate) fn call(&mut self, actor: Actor, time: Option<Nanos>) {
        let number = self.number(actor);
        self.schedule.set(number, time);
    }

    // Nodes.

    /// Packets that have reached a host and that it has not handled yet.
    pub(crate) fn waiting_packets(&self, node: usize) -> usize {
        self.backlogs[node].len()
    }

    /// Marks a node whose stack may have events or packets.
    pub(crate) fn mark_dirty(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_dirty[node], true) {
            self.dirty.push_back(node);
        }
    }

    /// Takes a node that is marked; its caller lets it [transmit](Self::transmit).
    pub(crate) fn take_dirty(&mut self) -> Option<usize> {
        self.dirty.pop_front()
    }

    /// The next deadline of a node.
    fn deadline_of_node(&self, node: usize) -> Option<Nanos> {
        let stack = self.stacks[node].as_ref();
        let deadline = stack.and_then(HostStack::next_deadline);
        let deadline = earlier(deadline, self.nodes[node].due());
        earlier(deadline, self.backlogs[node].deadline())
    }

    /// Does what is due at a node, if anything is: its deadline may have moved on since the call
    /// was set.
    pub(crate) fn act_node(&mut self, node: usize) {
        let deadline = self.deadline_of_node(node);
        if deadline.is_none_or(|deadline| deadline > self.now) {
            return self.call(Actor::Node(node), deadline);
        }
        if let Some(packet) = self.backlogs[node].take_due(self.now) {
            self.handle(node, packet);
            return self.mark_dirty(node);
        }
        let changes = self.nodes[node].act(self.now);
        for &change in &changes {
            self.record_addresses(node, change);
            self.announce(node, change.interface);
        }
        if !changes.is_empty() {
            self.set_addresses(node);
        }
        if let Some(stack) = &mut self.stacks[node] {
            stack.on_deadline(self.now);
        }
        self.mark_dirty(node);
    }

    /// Sends the packets of a node's stack, and schedules the node anew.
    pub(crate) fn transmit(&mut self, node: usize) {
        self.is_dirty[node] = false;
        self.send_segments(node);
        let actor = self.number(Actor::Node(node));
        match self.deadline_of_node(node) {
            Some(deadline) => self.schedule.set_at_latest(actor, deadline),
            None => self.schedule.set(actor, None),
        }
    }

    /// Sends the packets that the stack of a node has ready now.
    fn send_segments(&mut self, node: usize) {
        while let Some(stack) = &mut self.stacks[node]
            && let Some(packet) = stack.transmit_in(self.now, &mut self.packet_pool)
        {
            self.segments += 1;
            self.send(node, packet);
        }
    }

    /// Applies a change of a node's addresses.
    pub(crate) fn follow(&mut self, node: usize, change: Option<AddressChange>) {
        if let Some(change) = change {
            self.record_addresses(node, change);
            self.set_addresses(node);
        }
        self.mark_dirty(node);
    }

    fn record_addresses(&mut self, node: usize, change: AddressChange) {
        let interface = &self.nodes[node].interfaces[change.interface];
        let what = if change.usable {
            "is usable"
        } else {
            "has gone"
        };
        for prefix in &interface.planned.addresses {
            let label = format!("{} {what}", prefix.address);
            self.recorder
                .event(self.now, "address", &interface.subject, &label);
        }
    }

    /// Passes the addresses of a node to its stack.
    pub(crate) fn set_addresses(&mut self, node: usize) {
        if let Some(stack) = &mut self.stacks[node] {
            let addresses = host::local_addresses(&self.nodes[node]);
            stack.set_routes(&host::routes(&self.nodes[node]));
            stack.set_addresses(self.now, &addresses);
        }
        self.mark_dirty(node);
    }

    /// The address from which a program that names none reaches a destination.
    pub(crate) fn source_for(&mut self, node: usize, destination: IpAddr) -> Option<IpAddr> {
        self.nodes[node].source_for(destination)
    }

    /// Whether a node speaks MPTCP.
    pub(crate) fn speaks_mptcp(&self, node: usize) -> bool {
        self.settings[node].mptcp.enabled
    }

    /// The counters of a node's transport layer.
    pub(crate) fn mib(&self, node: usize) -> Mib {
        self.stacks[node].as_ref().map_or_else(Mib::new, host::mib)
    }

    // Rows.

    /// Writes an event of a flow.
    pub(crate) fn traffic_event(&mut self, name: &str, label: &str) {
        self.recorder.event(self.now, "traffic", name, label);
    }

    /// Writes a warning about a flow.
    pub(crate) fn warn(&mut self, name: &str, text: &str) {
        self.recorder.warn(&format!("{name}: {text}"));
    }
}
