//! A plan as a world that is stepped through virtual time.

use std::collections::BTreeMap;

use mptcplab_plan::{Action, InterfaceRef, Plan};
use mptcplab_stack::endpoint::{Endpoint, Event};
use mptcplab_stack::scheduler::Supply;
use mptcplab_wire::Packet;
use serde::Serialize;

use crate::Nanos;
use crate::application::Item;
use crate::check::check;
use crate::core::{Actor, Core};
use crate::error::SimError;
use crate::host;
use crate::probe;
use crate::timeline;

/// Why the limit of time ends traffic.
const LIMIT_REACHED: &str = "the time limit of the run was reached";

/// A plan, and how far its run has come.
///
/// What happens depends on the plan alone, not on how the world is stepped: [`step`](Self::step)
/// lets one thing happen, [`run_until`](Self::run_until) everything up to a time. Of things at the
/// same time, events of the plan come first, then the limit of time, links, nodes, items of
/// traffic, each in the order of the plan, and the sampling last; what one of them causes at the
/// same time happens in the next round of this order.
///
/// A node can be put [outside](Self::put_outside): then what reaches its interfaces is
/// [fetched](Self::fetch), and what it sends is [injected](Self::inject). So a world runs against
/// real hosts, stepped by a real clock.
#[derive(Debug)]
pub struct World {
    plan: Plan,
    core: Core,
    items: Vec<Item>,
    /// The item whose server listens on a port of a node.
    listening: BTreeMap<(usize, u16), usize>,
    /// For each node the items that take packets there which are not of TCP.
    takers: Vec<Vec<usize>>,
    /// All items before this one have ended.
    first_running: usize,
    /// The next event of the plan.
    next_event: usize,
    /// Events of connections by node, where no traffic of the plan has them.
    unclaimed: Vec<Vec<Event>>,
    is_interrupted: bool,
    counts: Counts,
}

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Actors called: ends of a link, deadlines of hosts, and so on.
    pub steps: u64,
    /// Packets that came out of links.
    pub packets: u64,
    /// Segments that endpoints sent.
    pub segments: u64,
}

impl World {
    /// The world of a plan at time 0: the network stands, nothing has been sent.
    ///
    /// # Errors
    /// When the plan cannot be simulated; says which part of it, and why.
    pub fn new(plan: &Plan) -> Result<Self, SimError> {
        Self::with_scheduler(plan, None)
    }

    /// The same with a scheduler for the hosts whose scheduler is called `supplied`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_scheduler(plan: &Plan, supply: Option<Supply>) -> Result<Self, SimError> {
        check(plan)?;
        let mut core = Core::new(plan, supply)?;
        let item = |(number, traffic)| Item::new(traffic, plan.seed, number);
        let items: Vec<Item> = plan.traffic.iter().enumerate().map(item).collect();
        let mut listening = BTreeMap::new();
        let mut takers = vec![Vec::new(); core.nodes.len()];
        for (number, item) in items.iter().enumerate() {
            let traffic = item.traffic();
            for port in item.listening_ports() {
                core.listen(traffic, port)?;
                listening.entry((traffic.server, port)).or_insert(number);
            }
            for node in item.packet_nodes() {
                takers[node].push(number);
            }
        }
        write_ready(&mut core);
        for (number, item) in items.iter().enumerate() {
            core.call(Actor::Item(number), item.deadline());
        }
        core.call(
            Actor::Timeline,
            plan.events.first().map(|event| event.at_ns),
        );
        core.call(Actor::Limit, Some(plan.time_limit_ns));
        core.call(Actor::Sampler, Some(0));
        let mut world = Self {
            plan: plan.clone(),
            unclaimed: vec![Vec::new(); core.nodes.len()],
            core,
            items,
            listening,
            takers,
            first_running: 0,
            next_event: 0,
            is_interrupted: false,
            counts: Counts::default(),
        };
        world.settle();
        Ok(world)
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.core.now
    }

    /// When something happens next.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.core.next_actor().map(|(time, _)| time)
    }

    /// Lets one thing happen; false where nothing will ever happen by itself.
    pub fn step(&mut self) -> bool {
        let Some((time, actor)) = self.core.next_actor() else {
            return false;
        };
        // An actor may want to be called for a time that has passed.
        self.core.now = self.core.now.max(time);
        self.counts.steps += 1;
        match actor {
            Actor::Timeline => self.act_events(),
            Actor::Limit => self.reach_limit(),
            Actor::Line(line) => self.core.poll_line(line),
            Actor::Node(node) => self.core.act_node(node),
            Actor::Item(number) => {
                self.items[number].act(&mut self.core);
                self.set_item(number);
            }
            Actor::Sampler => self.sample(),
        }
        self.settle();
        true
    }

    /// Lets everything happen up to a time, which then is now.
    pub fn run_until(&mut self, time: Nanos) {
        while self.next_deadline().is_some_and(|next| next <= time) {
            self.step();
        }
        self.core.now = self.core.now.max(time);
    }

    /// Whether all traffic has come to its end.
    pub fn has_ended(&self) -> bool {
        self.items[self.first_running..].iter().all(Item::has_ended)
    }

    /// Ends all traffic now: each transfer is recorded with what it got so far, and this reason as
    /// its error.
    pub fn interrupt(&mut self, reason: &'static str) {
        self.is_interrupted = true;
        self.stop(reason);
    }

    fn stop(&mut self, reason: &'static str) {
        for number in 0..self.items.len() {
            self.items[number].stop(&mut self.core, reason);
            self.set_item(number);
        }
    }

    /// Writes the last rows and completes the captures.
    ///
    /// # Errors
    /// When a capture could not be written.
    pub fn finish(&mut self) -> Result<(), SimError> {
        probe::sample(&mut self.core, &self.plan);
        probe::write_counters(&mut self.core);
        self.core.finish_captures()?;
        write_done(&mut self.core, self.is_interrupted);
        Ok(())
    }

    /// Takes the rows that nobody has taken yet: JSON lines.
    pub fn take_rows(&mut self) -> Vec<u8> {
        self.core.recorder.take()
    }

    /// Bytes of rows that nobody has taken yet.
    pub fn waiting_bytes(&self) -> usize {
        self.core.recorder.waiting_bytes()
    }

    /// What the run has cost so far.
    pub fn counts(&self) -> Counts {
        Counts {
            packets: self.core.carried,
            segments: self.core.segments,
            ..self.counts
        }
    }

    /// The transport layer of a host; `None` for routers and numbers that no node has.
    pub fn endpoint(&self, node: usize) -> Option<&Endpoint> {
        self.core.endpoints.get(node)?.as_ref()
    }

    /// Lets an application act on the transport layer of a host, at the present time; `None` for
    /// routers and numbers that no node has.
    pub fn with_endpoint<T>(
        &mut self,
        node: usize,
        act: impl FnOnce(&mut Endpoint, Nanos) -> T,
    ) -> Option<T> {
        let now = self.core.now;
        let endpoint = self.core.endpoints.get_mut(node)?.as_mut()?;
        let result = act(endpoint, now);
        self.core.touch(node);
        self.settle();
        Some(result)
    }

    /// Takes what happened to the connections of a host, in a world without traffic of its own.
    pub fn take_events(&mut self, node: usize) -> Vec<Event> {
        std::mem::take(&mut self.unclaimed[node])
    }

    /// Carries out an action now, as an event of the plan would at its time.
    ///
    /// # Errors
    /// Says what the link model or the host refuses.
    pub fn act(&mut self, action: &Action) -> Result<(), String> {
        timeline::act(&mut self.core, &self.items, action)?;
        self.settle();
        Ok(())
    }

    /// Lets a node live outside of the world.
    pub fn put_outside(&mut self, node: usize) {
        self.core.put_outside(node);
    }

    /// A packet that has reached an interface of a node outside, and which interface.
    pub fn fetch(&mut self, node: usize) -> Option<(usize, Packet)> {
        self.core.take_outside(node)
    }

    /// Sends a packet from an interface of a node outside, at the present time.
    pub fn inject(&mut self, from: InterfaceRef, packet: Packet) {
        self.core
            .send_by(from.node, from.interface, Box::new(packet));
        self.settle();
    }

    /// Lets follow, at the same time, what has been caused: events of the endpoints reach the
    /// applications, packets leave.
    fn settle(&mut self) {
        loop {
            if let Some((node, packet)) = self.core.take_inbox() {
                self.hand_over(node, &packet);
            } else if let Some(node) = self.core.take_touched() {
                self.attend(node);
            } else {
                return;
            }
        }
    }

    /// Hands a packet to the item of traffic that it is for, if any.
    fn hand_over(&mut self, node: usize, packet: &Packet) {
        for place in 0..self.takers[node].len() {
            let number = self.takers[node][place];
            if self.items[number].take_packet(&mut self.core, node, packet) {
                return self.set_item(number);
            }
        }
    }

    /// Passes on what a node's endpoint has to tell and to send.
    fn attend(&mut self, node: usize) {
        while let Some(event) = self.next_event_of(node) {
            self.tell(node, event);
        }
        self.core.transmit(node);
    }

    fn next_event_of(&mut self, node: usize) -> Option<Event> {
        self.core.endpoints[node].as_mut()?.poll_event()
    }

    /// Tells the item that a connection belongs to what happened to it.
    fn tell(&mut self, node: usize, event: Event) {
        if let Event::Accepted { port, id } = event
            && let Some(&number) = self.listening.get(&(node, port))
        {
            self.items[number].accept(&mut self.core, port, id);
            return self.set_item(number);
        }
        match self.core.owner(node, host::connection_of(&event)) {
            Some(owner) => {
                let number = owner.item as usize;
                self.items[number].take(&mut self.core, owner, &event);
                self.set_item(number);
            }
            // What happens to a connection after its item has let go of it is nobody's concern.
            None if self.items.is_empty() => self.unclaimed[node].push(event),
            None => {}
        }
    }

    /// Sets when an item is called again.
    fn set_item(&mut self, number: usize) {
        let deadline = self.items[number].deadline();
        self.core.call(Actor::Item(number), deadline);
        let running = self.items[self.first_running..].iter();
        self.first_running += running.take_while(|item| item.has_ended()).count();
    }

    fn act_events(&mut self) {
        while let Some(event) = self.plan.events.get(self.next_event)
            && event.at_ns <= self.core.now
        {
            self.next_event += 1;
            let (kind, subject) = timeline::describe(&self.plan, &event.action);
            let now = self.core.now;
            self.core.recorder.event(now, kind, &subject, &event.label);
            if let Err(error) = timeline::act(&mut self.core, &self.items, &event.action) {
                let text = format!("event '{}' failed: {error}", event.label);
                self.core.recorder.warn(&text);
            }
        }
        let next = self.plan.events.get(self.next_event);
        self.core
            .call(Actor::Timeline, next.map(|event| event.at_ns));
    }

    fn reach_limit(&mut self) {
        self.core.call(Actor::Limit, None);
        if self.has_ended() {
            return;
        }
        self.stop(LIMIT_REACHED);
        self.core
            .recorder
            .warn("the run was ended by its time limit before all traffic was done");
    }

    fn sample(&mut self) {
        probe::sample(&mut self.core, &self.plan);
        let interval = self.plan.sample_interval_ns.max(1);
        let next = self.core.now.checked_add(interval);
        self.core.call(Actor::Sampler, next);
    }
}

/// The row that says that the network stands. Virtual hosts have no threads to enter.
fn write_ready(core: &mut Core) {
    #[derive(Serialize)]
    struct Ready {
        setup_ns: Option<Nanos>,
        nodes: serde_json::Map<String, serde_json::Value>,
    }
    let null = |node: &crate::node::Node| (node.name.clone(), serde_json::Value::Null);
    let ready = Ready {
        setup_ns: None,
        nodes: core.nodes.iter().map(null).collect(),
    };
    core.recorder.write("ready", ready);
}

/// The last row. Virtual time is never late.
fn write_done(core: &mut Core, interrupted: bool) {
    #[derive(Serialize)]
    struct Done {
        interrupted: bool,
        teardown_ns: Option<Nanos>,
        realtime: Option<bool>,
        packets: u64,
        overruns: u64,
        lateness_p50_ns: Option<Nanos>,
        lateness_p99_ns: Option<Nanos>,
        lateness_max_ns: Option<Nanos>,
    }
    let done = Done {
        interrupted,
        teardown_ns: None,
        realtime: None,
        packets: core.carried,
        overruns: 0,
        lateness_p50_ns: None,
        lateness_p99_ns: None,
        lateness_max_ns: None,
    };
    core.recorder.write("done", done);
}
