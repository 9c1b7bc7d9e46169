//! The controller of the switches, and the channels to them: messages take
//! the delay of the plan, and their length over its rate.

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
    /// The link at each port of a switch.
    link_names: BTreeMap<PortRef, String>,
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

impl Control {
    pub(super) fn new(
        controller: Controller,
        planned: &plan::Controller,
        link_names: BTreeMap<PortRef, String>,
    ) -> Self {
        Self {
            controller,
            delay_ns: planned.channel_delay_ns,
            rate_bps: planned.channel_rate_bps,
            epoch_ns: 0,
            in_transit: BTreeMap::new(),
            link_names,
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

    /// Sends what the controller wants sent.
    fn send_outputs(&mut self, now: Nanos, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Message {
                    connection,
                    message,
                } => {
                    self.send(now, Recipient::Switch(connection.0 as usize), message);
                }
                Output::Close(connection) => {
                    let mut outputs = Vec::new();
                    let now_ns = now.saturating_add(self.epoch_ns);
                    self.controller.disconnect(now_ns, connection, &mut outputs);
                    self.send_outputs(now, outputs);
                }
            }
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        let arriving = self.in_transit.first_key_value().map(|((at, _), _)| *at);
        let own = self.controller.next_deadline();
        earlier(arriving, own.map(|at| at.saturating_sub(self.epoch_ns)))
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("policy", &self.controller.policy_name())
            .finish_non_exhaustive()
    }
}

/// Addresses and ports of a subflow, as in the table of subflows.
fn subflow_name(flow: &Flow) -> String {
    let source = SocketAddr::new(flow.source, flow.source_port);
    format!("{source}-{}", flow.server())
}

/// The links of a path by their names.
fn path_name(names: &BTreeMap<PortRef, String>, path: &[Link]) -> String {
    let known = path.iter().filter_map(|link| names.get(&link.from));
    let links: Vec<&str> = known.map(String::as_str).collect();
    match links.is_empty() {
        true => "the switch of both".to_owned(),
        false => links.join(", "),
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
            if self.switches[node].is_some() {
                self.with_switch(node, |switch, _, out| switch.connect(CONTROLLER, out));
                self.with_controller(|controller, now_ns, out| {
                    controller.connect(now_ns, ConnectionId(node as u32), out);
                });
            }
        }
    }

    /// Goes on with switches and a controller that have been at work for so long.
    pub(super) fn begin_control(&mut self, epoch_ns: Nanos) {
        if let Some(control) = &mut self.control {
            control.epoch_ns = epoch_ns;
            control.free_ns.clear();
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

    /// Closes the channel of a switch, which wants it closed.
    pub(super) fn close_channel(&mut self, node: usize) {
        self.with_controller(|controller, now_ns, out| {
            controller.disconnect(now_ns, ConnectionId(node as u32), out);
        });
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
            let names = |path: &[Link]| path_name(&control.link_names, path);
            let (flow, label) = match event {
                Event::Placed { flow, path, .. } => (flow, format!("over {}", names(path))),
                Event::Moved { flow, path, .. } => (flow, format!("moved, over {}", names(path))),
                Event::Refused { flow, .. } => (flow, "refused".to_owned()),
                Event::NotInstalled { flow, .. } => (flow, "not installed".to_owned()),
                _ => continue,
            };
            let now = at_ns.saturating_sub(control.epoch_ns);
            self.recorder
                .event(now, "controller", &subflow_name(flow), &label);
        }
    }

    /// Calls `act` with the controller and the time, and sends what the controller wants sent.
    fn with_controller(&mut self, act: impl FnOnce(&mut Controller, u64, &mut Vec<Output>)) {
        let now = self.now;
        if let Some(control) = &mut self.control {
            let mut outputs = Vec::new();
            act(
                &mut control.controller,
                now.saturating_add(control.epoch_ns),
                &mut outputs,
            );
            control.send_outputs(now, outputs);
        }
        self.reschedule_controller();
    }

    /// Schedules the controller anew.
    pub(super) fn reschedule_controller(&mut self) {
        let deadline = self.control.as_ref().and_then(Control::deadline);
        self.call(Actor::Controller, deadline);
    }
}
