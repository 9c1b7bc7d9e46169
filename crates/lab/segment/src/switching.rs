//! The switches of a plan and their controller at work.

mod frames;

use std::{fmt, mem};

use bytes::Bytes;
use mptcplab_controller::{ConnectionId, Controller, Policy};
use mptcplab_link::Nanos;
use mptcplab_plan::{InterfaceRef, Plan};
use mptcplab_switch::{Output, Switch};

use crate::channels::{Carried, Channels, Recipient};
use crate::decision::{Decision, Names};
use crate::setup::{self, UnknownPolicy};

/// The connection of the only controller at each switch.
const CONTROLLER: mptcplab_switch::ControllerId = mptcplab_switch::ControllerId(0);

/// A frame that a switch sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The switch's interface.
    pub by: InterfaceRef,
    /// The frame, without its check sequence.
    pub frame: Bytes,
}

/// Something for the end of a channel that is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// A message.
    Message(Recipient, Carried),
    /// The channel of a node is to be closed.
    Close(usize),
}

/// The switches of a plan, their controller, and the channels between them. Calls come in order of
/// time, which is the run's; what switches send is appended to `sent`.
///
/// The controller may be outside, and so may switches. Then the caller [connects](Self::connect) the
/// ends of their channels, passes on [what leaves](Self::take_leaving), and passes in what comes.
#[derive(Clone)]
pub struct Switching {
    /// By the numbers of nodes.
    pub(crate) switches: Vec<Option<Switch>>,
    pub(crate) control: Option<Control>,
    /// For the ends of channels that are outside.
    leaving: Vec<Leaving>,
    /// Begins and ends of channels to a controller outside.
    noted: Vec<Decision>,
    /// Switches outside.
    outside: usize,
    /// Links between switches, and addresses of hosts and routers at them.
    to_be_known: (usize, usize),
    /// The clocks of switches and controller, at work before, show so much more than the run's.
    pub(crate) epoch_ns: Nanos,
    /// No switch has something to do before this time of theirs, if any has.
    timer: Option<u64>,
    /// Outputs of a switch; empty between two calls.
    outputs: Vec<Output>,
}

/// The controller, and the channels to it.
#[derive(Clone)]
pub(crate) struct Control {
    /// `None` where it is outside.
    controller: Option<Controller>,
    channels: Channels,
    pub(crate) names: Names,
    /// The number of the first event of the controller that is not taken.
    taken: u64,
}

impl Switching {
    /// The switches of a plan, connected to its controller at time 0, if it has one.
    pub(crate) fn new(
        plan: &Plan,
        supply: Option<impl FnOnce(u64) -> Box<dyn Policy>>,
    ) -> Result<Self, UnknownPolicy> {
        let mut switching = Self {
            switches: setup::switches(plan),
            control: None,
            leaving: Vec::new(),
            noted: Vec::new(),
            outside: plan.nodes.iter().filter(|node| node.is_bridge()).count(),
            to_be_known: setup::to_be_known(plan),
            epoch_ns: 0,
            timer: None,
            outputs: Vec::new(),
        };
        if let Some(planned) = &plan.controller {
            switching.control = Some(Control {
                controller: setup::controller(plan, planned, supply)?,
                channels: Channels::new(planned),
                names: setup::names(plan),
                taken: 0,
            });
        }
        if switching.has_controller() {
            // A switch has nothing to send before its controller has told it.
            let mut sent = Vec::new();
            for node in 0..switching.switches.len() {
                if switching.has(node) {
                    switching.connect(0, node, &mut sent);
                }
            }
        }
        Ok(switching)
    }

    /// Connects the switch of a node to its controller.
    pub fn connect(&mut self, now: Nanos, node: usize, sent: &mut Vec<Sent>) {
        self.note_channel(now, node, true);
        let connect = |switch: &mut Switch, _, out: &mut _| switch.connect(CONTROLLER, out);
        self.with_switch(now, node, sent, connect);
        self.with_controller(now, |controller, now_ns, out| {
            controller.connect(now_ns, connection(node), out);
        });
    }

    /// Closes the channel of a node, whose end outside has gone.
    pub fn disconnect(&mut self, now: Nanos, node: usize) {
        self.note_channel(now, node, false);
        if let Some(control) = &mut self.control {
            control.channels.close(node);
        }
        if let Some(switch) = &mut self.switches[node] {
            switch.disconnect(CONTROLLER);
        }
        self.with_controller(now, |controller, now_ns, out| {
            controller.disconnect(now_ns, connection(node), out);
        });
    }

    /// Closes the channel of a node, which one of its ends wants closed.
    fn close_channel(&mut self, now: Nanos, node: usize) {
        self.disconnect(now, node);
        match &mut self.control {
            Some(control) if control.controller.is_some() && self.switches[node].is_some() => {
                control.channels.reopen_later(now, node);
            }
            _ => self.leaving.push(Leaving::Close(node)),
        }
    }

    /// Notes that the channel of a switch to a controller outside begins or ends.
    fn note_channel(&mut self, now: Nanos, node: usize, is_up: bool) {
        if let Some(control) = &self.control
            && control.controller.is_none()
            && let Some(name) = control.names.nodes.get(&node)
        {
            self.noted.push(Decision::of_channel(now, name, is_up));
        }
    }

    /// Passes a message from an end outside to its channel.
    pub fn receive_message(&mut self, now: Nanos, to: Recipient, message: Carried) {
        if let Some(control) = &mut self.control {
            control.channels.send(now, to, message);
        }
    }

    /// Bytes that wait until the channel to an end has sent those before them.
    pub fn queued_bytes(&self, now: Nanos, to: Recipient) -> u64 {
        let control = self.control.as_ref();
        control.map_or(0, |control| control.channels.queued_bytes(now, to))
    }

    /// Takes what has come to the ends of channels that are outside.
    pub fn take_leaving(&mut self) -> Vec<Leaving> {
        mem::take(&mut self.leaving)
    }

    /// Whether a node is a switch that is here.
    pub fn has(&self, node: usize) -> bool {
        self.switches[node].is_some()
    }

    /// Whether the controller and every switch are here.
    pub fn is_whole(&self) -> bool {
        self.outside == 0 && self.has_controller()
    }

    /// Whether there is a controller here.
    fn has_controller(&self) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| control.controller.is_some())
    }

    /// The next time at which a message arrives, or a switch or the controller has something to do.
    pub fn next_deadline(&self) -> Option<Nanos> {
        let control = self.control.as_ref();
        let own = [
            self.timer,
            control.and_then(|control| control.controller.as_ref()?.next_deadline()),
        ];
        let own = own.into_iter().flatten();
        own.map(|at| at.saturating_sub(self.epoch_ns))
            .chain(control.and_then(|control| control.channels.next_deadline()))
            .min()
    }

    /// Delivers the messages that have arrived, and lets switches and controller do what is due.
    pub fn advance(&mut self, now: Nanos, sent: &mut Vec<Sent>) {
        let now_ns = now.saturating_add(self.epoch_ns);
        if self.timer.is_some_and(|at_ns| at_ns <= now_ns) {
            self.timer = None;
            for node in 0..self.switches.len() {
                self.with_switch(now, node, sent, Switch::advance);
            }
        }
        while let Some(control) = &mut self.control
            && let Some((to, message)) = control.channels.receive(now)
        {
            self.deliver(now, to, message, sent);
        }
        while let Some(control) = &mut self.control
            && let Some(node) = control.channels.reopen(now)
        {
            self.connect(now, node, sent);
        }
        self.with_controller(now, Controller::advance);
    }

    /// Gives a message to the end of its channel.
    fn deliver(&mut self, now: Nanos, to: Recipient, message: Carried, sent: &mut Vec<Sent>) {
        match (to, message) {
            (Recipient::Controller(node), Carried::Message(message)) if self.has_controller() => {
                self.with_controller(now, |controller, now_ns, out| {
                    controller.receive_message(now_ns, connection(node), &message, out);
                });
            }
            (Recipient::Switch(node), Carried::Message(message)) if self.has(node) => {
                self.with_switch(now, node, sent, |switch, now_ns, out| {
                    switch.receive_message(now_ns, CONTROLLER, &message, out);
                });
            }
            (to, message) => self.leaving.push(Leaving::Message(to, message)),
        }
    }

    /// Takes what the controller has decided about subflows since the last call.
    pub fn take_decisions(&mut self) -> Vec<Decision> {
        let mut decisions = mem::take(&mut self.noted);
        let Some(control) = &mut self.control else {
            return decisions;
        };
        let taken = control.taken;
        let controller = control.controller.iter();
        let events = controller.flat_map(|controller| controller.events_since(taken));
        for (number, at_ns, event) in events {
            control.taken = number + 1;
            let t_ns = at_ns.saturating_sub(self.epoch_ns);
            decisions.extend(Decision::of(t_ns, event, &control.names));
        }
        decisions
    }

    /// Begins the run so long after the time at which the clock has begun: from now on times are
    /// those since then. Decisions before are none of the run's.
    pub fn begin(&mut self, by_ns: Nanos) {
        self.take_decisions();
        self.begin_entries();
        self.epoch_ns += by_ns;
        if let Some(control) = &mut self.control {
            control.channels.set_back(by_ns);
            control.controller.iter_mut().for_each(Controller::prepare);
        }
    }

    /// Whether no message is on its way.
    pub(crate) fn is_quiet(&self) -> bool {
        let control = self.control.as_ref();
        control.is_none_or(|control| control.channels.is_quiet())
    }

    /// Whether a controller that is here knows each link of switches and each address at them.
    pub fn knows_network(&self) -> bool {
        let control = self.control.as_ref();
        let controller = control.and_then(|control| control.controller.as_ref());
        controller.is_none_or(|controller| {
            let (links, addresses) = self.to_be_known;
            let known = controller.topology();
            // The controller has each link twice, once a direction.
            known.links.len() >= 2 * links && known.hosts.len() >= addresses
        })
    }

    /// Calls `act` with the switch of a node, if it is one, and its time, and does what the switch
    /// wants done.
    fn with_switch(
        &mut self,
        now: Nanos,
        node: usize,
        sent: &mut Vec<Sent>,
        act: impl FnOnce(&mut Switch, u64, &mut Vec<Output>),
    ) {
        let Some(switch) = &mut self.switches[node] else {
            return;
        };
        let mut outputs = mem::take(&mut self.outputs);
        act(switch, now.saturating_add(self.epoch_ns), &mut outputs);
        self.timer = [self.timer, switch.next_deadline()]
            .into_iter()
            .flatten()
            .min();
        for output in outputs.drain(..) {
            match output {
                Output::Packet { port, frame, .. } => {
                    let interface = port as usize - 1;
                    let by = InterfaceRef { node, interface };
                    sent.push(Sent { by, frame });
                }
                Output::Message { message, .. } => {
                    if let Some(control) = &mut self.control {
                        let to = Recipient::Controller(node);
                        control.channels.send(now, to, Carried::Message(message));
                    }
                }
                Output::Close(_) => self.close_channel(now, node),
            }
        }
        self.outputs = outputs;
    }

    /// Calls `act` with the controller, if there is one, and its time, and sends what the
    /// controller wants sent.
    fn with_controller(
        &mut self,
        now: Nanos,
        act: impl FnOnce(&mut Controller, u64, &mut Vec<mptcplab_controller::Output>),
    ) {
        if let Some(control) = &mut self.control
            && let Some(controller) = &mut control.controller
        {
            let now_ns = now.saturating_add(self.epoch_ns);
            let mut outputs = Vec::new();
            act(controller, now_ns, &mut outputs);
            for node in control.carry_out(now, outputs) {
                self.close_channel(now, node);
            }
        }
    }
}

impl Control {
    /// Sends what the controller wants sent, and gives the nodes whose channels it closes.
    fn carry_out(&mut self, now: Nanos, outputs: Vec<mptcplab_controller::Output>) -> Vec<usize> {
        use mptcplab_controller::Output;
        let mut closed = Vec::new();
        for output in outputs {
            match output {
                Output::Message {
                    connection,
                    message,
                } => {
                    let to = Recipient::Switch(connection.0 as usize);
                    self.channels.send(now, to, Carried::Message(message));
                }
                Output::Close(connection) => closed.push(connection.0 as usize),
            }
        }
        closed
    }
}

impl fmt::Debug for Switching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let controller = self
            .control
            .as_ref()
            .and_then(|one| one.controller.as_ref());
        f.debug_struct("Switching")
            .field("policy", &controller.map(Controller::policy_name))
            .finish_non_exhaustive()
    }
}

fn connection(node: usize) -> ConnectionId {
    ConnectionId(node as u32)
}
