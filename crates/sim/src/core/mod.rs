//! The network of a run and the transport layers of its hosts: everything but the applications.

mod captures;
mod carry;
mod connections;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::net::IpAddr;

use foldhash::fast::FixedState;
use mptcplab_plan::Plan;
use mptcplab_stack::endpoint::{ConnectionId, Endpoint};
use mptcplab_stack::scheduler::Supply;
use mptcplab_traffic::verdict::Mib;
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::capture::Capture;
use crate::error::SimError;
use crate::host;
use crate::line::{Arrived, Line};
use crate::node::{AddressChange, Node};
use crate::random::{Purpose, Random};
use crate::record::Recorder;
use crate::schedule::{Schedule, earlier};

/// Which end of which conversation of which item of traffic a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) item: u32,
    pub(crate) conversation: u32,
    pub(crate) side: u8,
}

/// The numbers of the actors in the [`Schedule`], which are their order at equal times: the events
/// of the plan, the limit of time, links, nodes, items of traffic, the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    Timeline,
    Limit,
    Line(usize),
    Node(usize),
    Item(usize),
    Sampler,
}

/// The network and its hosts.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) now: Nanos,
    pub(crate) nodes: Vec<Node>,
    /// The transport layer of each host; routers have none.
    pub(crate) endpoints: Vec<Option<Endpoint>>,
    pub(crate) lines: Vec<Line>,
    pub(crate) recorder: Recorder,
    pub(crate) schedule: Schedule,
    items: usize,
    /// Congestion controls and the like of each host's sockets.
    settings: Vec<host::Settings>,
    owners: HashMap<(usize, ConnectionId), Owner, FixedState>,
    /// Nodes whose endpoint may have something to say, each once.
    touched: VecDeque<usize>,
    /// Whether a node is among them, or its turn has come and it is still to transmit.
    is_touched: Vec<bool>,
    /// Packets that have reached a node and are neither TCP's nor echo requests.
    inbox: VecDeque<(usize, Packet)>,
    /// For nodes that live outside: what has reached their interfaces.
    outside: Vec<Option<VecDeque<(usize, Packet)>>>,
    captures: BTreeMap<(usize, usize), Capture>,
    capture_error: Option<io::Error>,
    /// Packets that have come out of a link; empty between two steps.
    arrived: Vec<Arrived>,
    /// Boxes of packets that have come to their ends, for those that leave.
    gone: VecDeque<Box<Packet>>,
    /// Packets that links have carried.
    pub(crate) carried: u64,
    /// Segments that endpoints have sent.
    pub(crate) segments: u64,
}

impl Core {
    pub(crate) fn new(plan: &Plan, supply: Option<Supply>) -> Result<Self, SimError> {
        let node = |(index, node)| Node::new(node, plan.seed, index);
        let mut nodes: Vec<Node> = plan.nodes.iter().enumerate().map(node).collect();
        let line = |(index, link): (usize, &mptcplab_plan::Link)| {
            Line::new(link, plan.seed, index)
                .map_err(|error| SimError::refused(format!("link {}", link.name), error))
        };
        let lines = plan.links.iter().enumerate().map(line);
        let lines = lines.collect::<Result<Vec<_>, _>>()?;
        for (index, line) in lines.iter().enumerate() {
            for (end, of) in line.ends.iter().enumerate() {
                nodes[of.node].interfaces[of.interface].line = Some((index, end));
            }
        }
        let settings = plan
            .nodes
            .iter()
            .map(|node| host::Settings::new(node, supply));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let endpoint = |(index, settings): (usize, &host::Settings)| {
            let seed = Random::new(plan.seed, Purpose::Endpoint, index).bits();
            (!nodes[index].is_router).then(|| Endpoint::new(settings.endpoint(), seed))
        };
        let endpoints = settings.iter().enumerate().map(endpoint).collect();
        let actors = 2 + lines.len() + nodes.len() + plan.traffic.len() + 1;
        let mut core = Self {
            now: 0,
            endpoints,
            recorder: Recorder::default(),
            schedule: Schedule::new(actors),
            items: plan.traffic.len(),
            settings,
            owners: HashMap::default(),
            touched: VecDeque::new(),
            is_touched: vec![false; nodes.len()],
            inbox: VecDeque::new(),
            outside: vec![None; nodes.len()],
            captures: BTreeMap::new(),
            capture_error: None,
            arrived: Vec::new(),
            gone: VecDeque::new(),
            carried: 0,
            segments: 0,
            nodes,
            lines,
        };
        core.open_captures(plan)?;
        for node in 0..core.nodes.len() {
            for interface in 0..core.nodes[node].interfaces.len() {
                core.tell_addresses(
                    node,
                    AddressChange {
                        interface,
                        usable: true,
                    },
                );
            }
            core.set_addresses(node);
        }
        Ok(core)
    }

    // Actors.

    fn number(&self, actor: Actor) -> usize {
        let lines = 2;
        let nodes = lines + self.lines.len();
        let items = nodes + self.nodes.len();
        match actor {
            Actor::Timeline => 0,
            Actor::Limit => 1,
            Actor::Line(index) => lines + index,
            Actor::Node(index) => nodes + index,
            Actor::Item(index) => items + index,
            Actor::Sampler => items + self.items,
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
                let lines = self.lines.len();
                let nodes = lines + self.nodes.len();
                match index {
                    line if line < lines => Actor::Line(line),
                    node if node < nodes => Actor::Node(node - lines),
                    item if item < nodes + self.items => Actor::Item(item - nodes),
                    _ => Actor::Sampler,
                }
            }
        };
        Some((time, actor))
    }

    /// Sets when an actor wants to be called.
    pub(crate) fn call(&mut self, actor: Actor, time: Option<Nanos>) {
        let number = self.number(actor);
        self.schedule.set(number, time);
    }

    // Nodes.

    /// Notes that a node's endpoint may have something to say.
    pub(crate) fn touch(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_touched[node], true) {
            self.touched.push_back(node);
        }
    }

    /// A node whose endpoint may have something to say; it is to [transmit](Self::transmit).
    pub(crate) fn take_touched(&mut self) -> Option<usize> {
        self.touched.pop_front()
    }

    /// When something is due at a node.
    fn deadline_of_node(&self, node: usize) -> Option<Nanos> {
        let endpoint = self.endpoints[node].as_ref();
        let deadline = endpoint.and_then(Endpoint::next_deadline);
        earlier(deadline, self.nodes[node].due())
    }

    /// Does what is due at a node, if anything is: its deadline may have moved on since the call
    /// was set.
    pub(crate) fn act_node(&mut self, node: usize) {
        let deadline = self.deadline_of_node(node);
        if deadline.is_none_or(|deadline| deadline > self.now) {
            return self.call(Actor::Node(node), deadline);
        }
        let changes = self.nodes[node].act(self.now);
        for &change in &changes {
            self.tell_addresses(node, change);
        }
        if !changes.is_empty() {
            self.set_addresses(node);
        }
        if let Some(endpoint) = &mut self.endpoints[node] {
            endpoint.on_deadline(self.now);
        }
        self.touch(node);
    }

    /// Sends what a node's endpoint has to send, and sets when it is called again.
    pub(crate) fn transmit(&mut self, node: usize) {
        self.is_touched[node] = false;
        while let Some(endpoint) = &mut self.endpoints[node]
            && let Some(packet) = endpoint.transmit_in(self.now, &mut self.gone)
        {
            self.segments += 1;
            self.send(node, packet);
        }
        let actor = self.number(Actor::Node(node));
        match self.deadline_of_node(node) {
            Some(deadline) => self.schedule.set_at_latest(actor, deadline),
            None => self.schedule.set(actor, None),
        }
    }

    /// Follows a change of a node's addresses.
    pub(crate) fn follow(&mut self, node: usize, change: Option<AddressChange>) {
        if let Some(change) = change {
            self.tell_addresses(node, change);
            self.set_addresses(node);
        }
        self.touch(node);
    }

    fn tell_addresses(&mut self, node: usize, change: AddressChange) {
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

    /// Tells a node's endpoint which addresses it has.
    pub(crate) fn set_addresses(&mut self, node: usize) {
        if let Some(endpoint) = &mut self.endpoints[node] {
            let addresses = host::local_addresses(&self.nodes[node]);
            endpoint.set_routes(&host::routes(&self.nodes[node]));
            endpoint.set_addresses(self.now, &addresses);
        }
        self.touch(node);
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
        self.endpoints[node]
            .as_ref()
            .map_or_else(Mib::new, host::mib)
    }

    // Rows.

    /// Writes an event of an item of traffic.
    pub(crate) fn traffic_event(&mut self, name: &str, label: &str) {
        self.recorder.event(self.now, "traffic", name, label);
    }

    /// Writes what a reader of the results must know about an item of traffic.
    pub(crate) fn warn(&mut self, name: &str, text: &str) {
        self.recorder.warn(&format!("{name}: {text}"));
    }
}
