//! The controller of the switches, and the channels to them: messages take the delay of the plan,
//! and their length over its rate. A channel that one end closes is opened again after a while.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use mptcplab_controller::{ConnectionId, Controller, Event, Flow, Link, Output, PortRef};
use mptcplab_openflow::Message;
use mptcplab_plan as plan;

use super::{Actor, Network};
use crate::Nanos;
use crate::schedule::earlier;

/// The connection of the only controller at each switch.
const CONTROLLER: mptcplab_switch::ControllerId = mptcplab_switch::ControllerId(0);

/// Time from the end of a channel to the next one.
const RECONNECT_NS: Nanos = 1_000_000_000;

/// The controller, and the messages between it and the switches.
pub(super) struct Control {
    pub(super) controller: Controller,
    delay_ns: Nanos,
    rate_bps: Option<u64>,
    /// Its clock and that of the switches show so much more than the run's: they have been at work
    /// before.
    pub(super) epoch_ns: Nanos,
    /// Messages on their way, by the time at which they arrive and the order in which they were
    /// sent.
    in_transit: BTreeMap<(Nanos, u64), (Recipient, Message)>,
    /// The times at which the channels of nodes are opened again.
    closed: BTreeMap<usize, Nanos>,
    names: Names,
    sent: u64,
    /// The number of the first event of the controller that is not recorded.
    written: u64,
    /// The time from which each end of a channel can send again.
    free_ns: BTreeMap<Recipient, Nanos>,
}

/// The end of the channel of a switch to which a message goes. A channel has the number of the
/// switch's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Recipient {
    Controller(usize),
    Switch(usize),
}

/// Names of what the controller knows by numbers.
pub(super) struct Names {
    /// The link at each port of a switch.
    pub(super) links: BTreeMap<PortRef, String>,
    /// The switch of each datapath.
    pub(super) switches: BTreeMap<u64, String>,
}

impl Control {
    pub(super) fn new(controller: Controller, planned: &plan::Controller, names: Names) -> Self {
        Self {
            controller,
            delay_ns: planned.channel_delay_ns,
            rate_bps: planned.channel_rate_bps,
            epoch_ns: 0,
            in_transit: BTreeMap::new(),
            closed: BTreeMap::new(),
            names,
            sent: 0,
            written: 0,
            free_ns: BTreeMap::new(),
        }
    }

    /// Whether no message is on its way.
    pub(super) fn is_quiet(&self) -> bool {
        self.in_transit.is_empty()
    }

    fn send(&mut self, now: Nanos, to: Recipient, message: Message) {
        let mut leaves = now;
        if let Some(rate_bps) = self.rate_bps {
            let free_ns = self.free_ns.entry(to).or_default();
            leaves = now
                .max(*free_ns)
                .saturating_add(sending_ns(&message, rate_bps));
            *free_ns = leaves;
        }
        let at = leaves.saturating_add(self.delay_ns);
        self.in_transit.insert((at, self.sent), (to, message));
        self.sent += 1;
    }

    /// Sends what the controller wants sent, and gives the nodes whose channels it closes.
    fn send_outputs(&mut self, now: Nanos, outputs: Vec<Output>) -> Vec<usize> {
        let mut closed = Vec::new();
        for output in outputs {
            match output {
                Output::Message {
                    connection,
                    message,
                } => {
                    self.send(now, Recipient::Switch(connection.0 as usize), message);
                }
                Output::Close(connection) => closed.push(connection.0 as usize),
            }
        }
        closed
    }

    /// Forgets the messages of a channel that has ended, and opens the next one after a while.
    fn close(&mut self, now: Nanos, node: usize) {
        let ends = [Recipient::Controller(node), Recipient::Switch(node)];
        self.in_transit.retain(|_, (to, _)| !ends.contains(to));
        for end in ends {
            self.free_ns.remove(&end);
        }
        self.closed.insert(node, now.saturating_add(RECONNECT_NS));
    }

    /// Goes on with another clock, which shows zero at this time of the one before.
    fn shift(&mut self, zero_ns: Nanos) {
        let in_transit = std::mem::take(&mut self.in_transit).into_iter();
        let shifted =
            in_transit.map(|((at, number), sent)| ((at.saturating_sub(zero_ns), number), sent));
        self.in_transit = shifted.collect();
        let times = self.free_ns.values_mut().chain(self.closed.values_mut());
        times.for_each(|at| *at = at.saturating_sub(zero_ns));
        self.epoch_ns += zero_ns;
    }

    fn deadline(&self) -> Option<Nanos> {
        let arriving = self.in_transit.first_key_value().map(|((at, _), _)| *at);
        let own = self.controller.next_deadline();
        let own = own.map(|at| at.saturating_sub(self.epoch_ns));
        earlier(earlier(arriving, own), self.closed.values().min().copied())
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("policy", &self.controller.policy_name())
            .finish_non_exhaustive()
    }
}

impl Names {
    /// The subject and the label of an event that a reader of a recording looks for.
    fn told(&self, event: &Event) -> Option<(String, String)> {
        let of_flow = |flow: &Flow, label: String| Some((flow_name(flow), label));
        let of_switch = |datapath: &u64, label: &str| {
            let name = self.switches.get(datapath).cloned().unwrap_or_default();
            Some((name, label.to_owned()))
        };
        match event {
            Event::Placed { flow, path, .. } => of_flow(flow, format!("over {}", self.path(path))),
            Event::Moved { flow, path, .. } => {
                of_flow(flow, format!("moved, over {}", self.path(path)))
            }
            Event::Refused { flow, .. } => of_flow(flow, "refused".to_owned()),
            Event::NotInstalled { flow, .. } => of_flow(flow, "not installed".to_owned()),
            Event::SwitchUp(datapath) => of_switch(datapath, "connected"),
            Event::SwitchDown(datapath) => of_switch(datapath, "disconnected"),
            _ => None,
        }
    }

    /// The links of a path.
    fn path(&self, path: &[Link]) -> String {
        let known = path.iter().filter_map(|link| self.links.get(&link.from));
        let links: Vec<&str> = known.map(String::as_str).collect();
        match links.is_empty() {
            true => "the switch of both".to_owned(),
            false => links.join(", "),
        }
    }
}

/// Addresses and ports of a subflow, as in the table of subflows; addresses alone of other
/// protocols, whose ports the controller does not look at.
fn flow_name(flow: &Flow) -> String {
    match flow.source_port {
        0 => format!("{}-{}", flow.source, flow.destination),
        port => format!("{}-{}", SocketAddr::new(flow.source, port), flow.server()),
    }
}

/// The time that a message takes at a rate.
fn sending_ns(message: &Message, rate_bps: u64) -> Nanos {
    let mut bytes = Vec::new();
    // A message too long for its length field is not sent at all.
    message.encode(&mut bytes).ok();
    let bits = 8 * bytes.len() as u128;
    (bits * 1_000_000_000 / u128::from(rate_bps.max(1))) as Nanos
}

impl Network {
    /// The time of the switches and their controller at the run's zero.
    pub(super) fn epoch_ns(&self) -> Nanos {
        self.control.as_ref().map_or(0, |control| control.epoch_ns)
    }

    /// Connects every switch to a controller.
    pub(super) fn connect_controller(&mut self, control: Control) {
        self.control = Some(control);
        for node in 0..self.switches.len() {
            self.open_channel(node);
        }
    }

    /// Connects the switch of a node to the controller, if it has one.
    fn open_channel(&mut self, node: usize) {
        if self.switches[node].is_some() {
            self.with_switch(node, |switch, _, out| switch.connect(CONTROLLER, out));
            self.with_controller(|controller, now_ns, out| {
                controller.connect(now_ns, ConnectionId(node as u32), out);
            });
        }
    }

    /// Closes the channel of a switch, which one of its ends wants closed.
    pub(super) fn close_channel(&mut self, node: usize) {
        let now = self.now;
        if let Some(control) = &mut self.control {
            control.close(now, node);
        }
        self.with_switch(node, |switch, _, _| switch.disconnect(CONTROLLER));
        self.with_controller(|controller, now_ns, out| {
            controller.disconnect(now_ns, ConnectionId(node as u32), out);
        });
    }

    /// Goes on with switches and a controller that have been at work for so long.
    pub(super) fn begin_control(&mut self, epoch_ns: Nanos) {
        if let Some(control) = &mut self.control {
            control.shift(epoch_ns);
            let known = control.controller.events_since(0);
            control.written = known.last().map_or(0, |(number, ..)| number + 1);
        }
        for node in 0..self.switches.len() {
            if self.switches[node].is_some() {
                self.mark_dirty(node);
            }
        }
        self.reschedule_controller();
    }

    /// Sends a message of a switch to the controller.
    pub(super) fn send_to_controller(&mut self, node: usize, message: Message) {
        let now = self.now;
        if let Some(control) = &mut self.control {
            control.send(now, Recipient::Controller(node), message);
        }
        self.reschedule_controller();
    }

    /// Delivers the messages that have arrived, and lets the controller do what is due.
    pub(crate) fn act_controller(&mut self) {
        let now = self.now;
        while let Some(control) = &mut self.control
            && let Some(first) = control.in_transit.first_entry()
            && first.key().0 <= now
        {
            let (to, message) = first.remove();
            match to {
                Recipient::Controller(node) => {
                    let connection = ConnectionId(node as u32);
                    self.with_controller(|controller, now_ns, out| {
                        controller.receive_message(now_ns, connection, &message, out);
                    });
                }
                Recipient::Switch(node) => {
                    self.with_switch(node, |switch, now_ns, out| {
                        switch.receive_message(now_ns, CONTROLLER, &message, out);
                    });
                    // It may have an entry with a timeout now.
                    self.mark_dirty(node);
                }
            }
        }
        for node in self.take_closed() {
            self.open_channel(node);
        }
        self.with_controller(Controller::advance);
        self.record_control();
    }

    /// Writes what the controller has decided about subflows as events.
    fn record_control(&mut self) {
        let Some(control) = &mut self.control else {
            return;
        };
        for (number, at_ns, event) in control.controller.events_since(control.written) {
            control.written = number + 1;
            if let Some((subject, label)) = control.names.told(event) {
                let at = at_ns.saturating_sub(control.epoch_ns);
                self.recorder.event(at, "controller", &subject, &label);
            }
        }
    }

    /// Takes the nodes whose channels are to be opened again.
    fn take_closed(&mut self) -> Vec<usize> {
        let now = self.now;
        let Some(control) = &mut self.control else {
            return Vec::new();
        };
        let due = control.closed.iter().filter(|(_, at)| **at <= now);
        let due: Vec<usize> = due.map(|(node, _)| *node).collect();
        for node in &due {
            control.closed.remove(node);
        }
        due
    }

    /// Calls `act` with the controller and the time, and sends what the controller wants sent.
    fn with_controller(&mut self, act: impl FnOnce(&mut Controller, u64, &mut Vec<Output>)) {
        let now = self.now;
        let mut closed = Vec::new();
        if let Some(control) = &mut self.control {
            let mut outputs = Vec::new();
            let now_ns = now.saturating_add(control.epoch_ns);
            act(&mut control.controller, now_ns, &mut outputs);
            closed = control.send_outputs(now, outputs);
        }
        for node in closed {
            self.close_channel(node);
        }
        self.reschedule_controller();
    }

    /// Schedules the controller anew.
    pub(super) fn reschedule_controller(&mut self) {
        let deadline = self.control.as_ref().and_then(Control::deadline);
        self.call(Actor::Controller, deadline);
    }
}
