//! A plan in execution, stepped through virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;

use mptcplab_plan::{Action, InterfaceRef, Plan};
use mptcplab_stack::{Event, HostStack};
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::check::check;
use crate::error::SimError;
use crate::network::{Actor, Network};
use crate::node::host;
use crate::supplies::Supplies;
use crate::telemetry;
use crate::timeline;
use crate::traffic::Flow;

/// The error of transfers that the time limit ends.
const LIMIT_REACHED: &str = "the time limit of the run was reached";
/// How long captures go on after the last flow has ended, for connections to close: FIN and its
/// acknowledgement, sent again a few times where they are lost.
const CLOSE_NS: Nanos = 5_000_000_000;
/// Far more than connections take to close, unless virtual time stands still.
const MAX_CLOSE_STEPS: u64 = 1_000_000;

/// A plan and the state of its run. A clone goes on exactly as the original would, but writes no captures.
///
/// Events depend on the plan alone, not on how the world is stepped: [`step`](Self::step)
/// lets one thing happen, [`run_until`](Self::run_until) everything up to a time. Of things at the
/// same time, events of the plan come first, then the limit of time, links, nodes, the controller
/// of the switches, flows, each in the order of the plan, and the sampling last; what one of them
/// causes at the same time happens in the next round of this order.
///
/// A node can be put [outside](Self::put_outside): then what reaches its interfaces is
/// [fetched](Self::fetch), and what it sends is [injected](Self::inject). So a world runs against
/// real hosts, stepped by a real clock.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) plan: Arc<Plan>,
    pub(crate) network: Network,
    flows: Vec<Flow>,
    /// The flow whose server listens on a port of a node.
    listening: BTreeMap<(usize, u16), usize>,
    /// For each node the flows that take packets other than TCP there.
    packet_handlers: Vec<Vec<usize>>,
    /// All flows before this one have ended.
    first_running: usize,
    /// The next event of the plan.
    next_event: usize,
    /// Events of connections by node, in a plan without traffic.
    unclaimed: Vec<Vec<Event>>,
    is_interrupted: bool,
    counts: Counts,
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Actors called: ends of a link, deadlines of hosts, and so on.
    pub steps: u64,
    /// Packets that came out of links.
    pub packets: u64,
    /// Segments that the stacks sent.
    pub segments: u64,
}

impl World {
    /// Creates the world of a plan at time 0: the network is up, nothing has been sent.
    ///
    /// # Errors
    /// When the plan cannot be simulated; says which part of it, and why.
    pub fn new(plan: &Plan) -> Result<Self, SimError> {
        Self::with(plan, &Supplies::default())
    }

    /// Creates a world with algorithms of the caller beside those of the stack.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with(plan: &Plan, supplies: &Supplies) -> Result<Self, SimError> {
        check(plan)?;
        let mut network = Network::new(plan, supplies)?;
        let plan = Arc::new(plan.clone());
        let flows: Vec<Flow> = (0..plan.traffic.len())
            .map(|number| Flow::new(&plan, number))
            .collect();
        let mut listening = BTreeMap::new();
        let mut packet_handlers = vec![Vec::new(); network.nodes.len()];
        for (number, flow) in flows.iter().enumerate() {
            let traffic = flow.traffic();
            for port in flow.listening_ports() {
                network.listen(traffic, port)?;
                listening.entry((traffic.server, port)).or_insert(number);
            }
            for node in flow.packet_nodes() {
                packet_handlers[node].push(number);
            }
        }
        telemetry::write_ready(&mut network);
        for (number, flow) in flows.iter().enumerate() {
            network.call(Actor::Flow(number), flow.deadline());
        }
        network.call(
            Actor::Timeline,
            plan.events.first().map(|event| event.at_ns),
        );
        network.call(Actor::Limit, Some(plan.time_limit_ns));
        network.call(Actor::Sampler, Some(0));
        let mut world = Self {
            plan,
            unclaimed: vec![Vec::new(); network.nodes.len()],
            network,
            flows,
            listening,
            packet_handlers,
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
        self.network.now
    }

    /// The time of the next actor.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.network.next_actor().map(|(time, _)| time)
    }

    /// Calls the next actor; false where none is left.
    pub fn step(&mut self) -> bool {
        let Some((time, actor)) = self.network.next_actor() else {
            return false;
        };
        // An actor may ask for a time that has passed.
        self.network.now = self.network.now.max(time);
        self.counts.steps += 1;
        match actor {
            Actor::Timeline => self.apply_events(),
            Actor::Limit => self.reach_limit(),
            Actor::Link(line) => self.network.poll_link(line),
            Actor::Node(node) => self.network.act_node(node),
            Actor::Controller => self.network.act_controller(),
            Actor::Flow(number) => {
                self.flows[number].act(&mut self.network);
                self.reschedule_flow(number);
            }
            Actor::Sampler => self.sample(),
        }
        self.settle();
        true
    }

    /// Calls every actor up to a time, which then is the present.
    pub fn run_until(&mut self, time: Nanos) {
        while self.next_deadline().is_some_and(|next| next <= time) {
            self.step();
        }
        self.network.now = self.network.now.max(time);
    }

    /// Whether all traffic has ended.
    pub fn has_ended(&self) -> bool {
        self.flows[self.first_running..].iter().all(Flow::has_ended)
    }

    /// Ends all traffic now: each transfer is recorded with what it got so far, and this reason as
    /// its error.
    pub fn interrupt(&mut self, reason: &'static str) {
        self.is_interrupted = true;
        self.stop(reason);
    }

    fn stop(&mut self, reason: &'static str) {
        for number in 0..self.flows.len() {
            self.flows[number].stop(&mut self.network, reason);
            self.reschedule_flow(number);
        }
    }

    /// Writes the last rows and completes the captures, which have the end of the connections, too.
    ///
    /// # Errors
    /// When a capture could not be written.
    pub fn finish(&mut self) -> Result<(), SimError> {
        telemetry::sample(&mut self.network, &self.plan);
        telemetry::write_counters(&mut self.network);
        let left_out = self.network.write_flow_entries();
        if self.network.has_captures() && !self.is_interrupted {
            self.close_connections();
        }
        self.network.finish_captures()?;
        telemetry::write_done(&mut self.network, self.is_interrupted, left_out);
        Ok(())
    }

    /// Lets the connections of flows that have ended close. The rows tell nothing of it.
    fn close_connections(&mut self) {
        for actor in [Actor::Timeline, Actor::Limit, Actor::Sampler] {
            self.network.call(actor, None);
        }
        let until = self.now().saturating_add(CLOSE_NS);
        let mut steps = 0;
        while steps < MAX_CLOSE_STEPS && self.next_deadline().is_some_and(|next| next <= until) {
            self.step();
            steps += 1;
        }
    }

    /// Takes the rows that were written since the last call: JSON lines.
    pub fn take_rows(&mut self) -> Vec<u8> {
        self.network.recorder.take()
    }

    /// Bytes of the rows that [`take_rows`](Self::take_rows) would return.
    pub fn waiting_bytes(&self) -> usize {
        self.network.recorder.waiting_bytes()
    }

    /// The cost of the run so far.
    pub fn counts(&self) -> Counts {
        Counts {
            packets: self.network.carried,
            segments: self.network.segments,
            ..self.counts
        }
    }

    /// The transport layer of a host; `None` for routers and numbers that no node has.
    pub fn stack(&self, node: usize) -> Option<&HostStack> {
        self.network.stacks.get(node)?.as_ref()
    }

    /// Calls `act` with the transport layer of a host and the present time; `None` for routers and
    /// numbers that no node has.
    pub fn with_stack<T>(
        &mut self,
        node: usize,
        act: impl FnOnce(&mut HostStack, Nanos) -> T,
    ) -> Option<T> {
        let now = self.network.now;
        let stack = self.network.stacks.get_mut(node)?.as_mut()?;
        let result = act(stack, now);
        self.network.mark_dirty(node);
        self.settle();
        Some(result)
    }

    /// Takes the events of the connections of a host, in a world without traffic of its own.
    pub fn take_events(&mut self, node: usize) -> Vec<Event> {
        std::mem::take(&mut self.unclaimed[node])
    }

    /// Carries out an action now, as an event of the plan would at its time.
    ///
    /// # Errors
    /// The reason of the link model or of the host.
    pub fn act(&mut self, action: &Action) -> Result<(), String> {
        timeline::act(&mut self.network, &self.flows, action)?;
        self.settle();
        Ok(())
    }

    /// Puts a node outside of the world.
    pub fn put_outside(&mut self, node: usize) {
        self.network.put_outside(node);
    }

    /// Takes a packet that has reached an interface of a node outside, with the interface.
    pub fn fetch(&mut self, node: usize) -> Option<(usize, Packet)> {
        self.network.take_outside(node)
    }

    /// Sends a packet from an interface of a node outside, at the present time.
    pub fn inject(&mut self, from: InterfaceRef, packet: Packet) {
        self.network
            .send_by(from.node, from.interface, Box::new(packet));
        self.settle();
    }

    /// Completes what the present step has caused: events of the stacks reach the applications,
    /// packets leave.
    fn settle(&mut self) {
        loop {
            if let Some((node, packet)) = self.network.take_inbox() {
                self.deliver_packet(node, &packet);
            } else if let Some(node) = self.network.take_dirty() {
                self.serve(node);
            } else {
                return;
            }
        }
    }

    /// Passes a packet to the flow that takes it, if any.
    fn deliver_packet(&mut self, node: usize, packet: &Packet) {
        for place in 0..self.packet_handlers[node].len() {
            let number = self.packet_handlers[node][place];
            if self.flows[number].take_packet(&mut self.network, node, packet) {
                return self.reschedule_flow(number);
            }
        }
    }

    /// Sends the packets of a node's stack, dispatches its events, and sends what they bring.
    fn serve(&mut self, node: usize) {
        // As a kernel does, the stack acknowledges what has come before the application wakes up.
        self.network.transmit(node);
        while let Some(event) = self.next_event_of(node) {
            self.dispatch(node, event);
        }
        self.network.transmit(node);
    }

    fn next_event_of(&mut self, node: usize) -> Option<Event> {
        self.network.stacks[node].as_mut()?.poll_event()
    }

    /// Passes an event to the flow that its connection belongs to.
    fn dispatch(&mut self, node: usize, event: Event) {
        self.network.note_event(node, &event);
        if let Event::Accepted { port, id } = event
            && let Some(&number) = self.listening.get(&(node, port))
        {
            self.flows[number].accept(&mut self.network, port, id);
            return self.reschedule_flow(number);
        }
        match self.network.owner(node, host::connection_of(&event)) {
            Some(owner) => {
                let number = owner.flow as usize;
                self.flows[number].on_event(&mut self.network, owner, &event);
                self.reschedule_flow(number);
            }
            None if self.flows.is_empty() => self.unclaimed[node].push(event),
            // The flow has released the connection.
            None => {}
        }
    }

    /// Schedules a flow anew.
    fn reschedule_flow(&mut self, number: usize) {
        let deadline = self.flows[number].deadline();
        self.network.call(Actor::Flow(number), deadline);
        let running = self.flows[self.first_running..].iter();
        self.first_running += running.take_while(|flow| flow.has_ended()).count();
    }

    fn apply_events(&mut self) {
        while let Some(event) = self.plan.events.get(self.next_event)
            && event.at_ns <= self.network.now
        {
            self.next_event += 1;
            let (kind, subject) = (event.action.kind(), event.action.subject(&self.plan));
            let now = self.network.now;
            self.network
                .recorder
                .event(now, kind, &subject, &event.label);
            if let Err(error) = timeline::act(&mut self.network, &self.flows, &event.action) {
                let text = format!("event '{}' failed: {error}", event.label);
                self.network.recorder.warn(&text);
            }
        }
        let next = self.plan.events.get(self.next_event);
        self.network
            .call(Actor::Timeline, next.map(|event| event.at_ns));
    }

    fn reach_limit(&mut self) {
        self.network.call(Actor::Limit, None);
        if self.has_ended() {
            return;
        }
        self.stop(LIMIT_REACHED);
        self.network
            .recorder
            .warn("the run was ended by its time limit before all traffic was done");
    }

    fn sample(&mut self) {
        telemetry::sample(&mut self.network, &self.plan);
        let interval = self.plan.sample_interval_ns.max(1);
        let next = self.network.now.checked_add(interval);
        self.network.call(Actor::Sampler, next);
    }
}
