//! The switches of a run. Port number *n* of a switch is interface *n* − 1 of its node.

use bytes::Bytes;
use mptcplab_link::Rate;
use mptcplab_plan::{InterfaceRef, Plan};
use mptcplab_switch::{Config, Output, PortSetup, Switch};

use super::Network;
use crate::Nanos;
use crate::ethernet::hardware_address;

/// The switch of each node that is one, without entries and without a controller.
pub(super) fn switches(plan: &Plan) -> Vec<Option<Switch>> {
    let nodes = plan.nodes.iter().enumerate();
    let switch = |(node, planned): (usize, &mptcplab_plan::Node)| {
        let datapath_id = planned.switch?.datapath_id;
        let ports = 0..planned.interfaces.len();
        Some(Switch::new(Config {
            datapath_id,
            ports: ports
                .map(|interface| port(plan, InterfaceRef { node, interface }))
                .collect(),
            description: planned.name.clone(),
            ..Config::default()
        }))
    };
    nodes.map(switch).collect()
}

fn port(plan: &Plan, of: InterfaceRef) -> PortSetup {
    let number = number(of.interface);
    let mut setup = PortSetup {
        name: plan.nodes[of.node].interfaces[of.interface].name.clone(),
        ..PortSetup::new(number)
    };
    for (index, link) in plan.links.iter().enumerate() {
        if let Some(end) = link.ends.iter().position(|end| *end == of) {
            setup.hw_addr = hardware_address(index, end);
            if let Rate::Fixed { bits_per_second } = link.config.directions[end].rate {
                setup.speed_kbps = u32::try_from(bits_per_second / 1000).unwrap_or(u32::MAX);
            }
        }
    }
    setup
}

/// The number of the port at an interface of a switch.
pub(super) fn number(interface: usize) -> u32 {
    interface as u32 + 1
}

impl Network {
    /// The next time at which a switch has something to do, if the node is one.
    pub(super) fn deadline_of_switch(&self, node: usize) -> Option<Nanos> {
        let deadline = self.switches[node].as_ref()?.next_deadline()?;
        Some(deadline.saturating_sub(self.epoch_ns()))
    }

    /// Lets a switch do what is due, if the node is one.
    pub(super) fn advance_switch(&mut self, node: usize) {
        self.with_switch(node, |switch, now_ns, out| switch.advance(now_ns, out));
    }

    /// Passes a frame that has come by an interface to the switch there.
    pub(super) fn switch_frame(&mut self, node: usize, interface: usize, frame: Bytes) {
        self.with_switch(node, |switch, now_ns, out| {
            switch.receive_packet(now_ns, number(interface), frame, out);
        });
    }

    /// Tells a switch that a port's carrier has come or gone, if the node is one.
    pub(crate) fn set_port(&mut self, node: usize, interface: usize, up: bool) {
        self.with_switch(node, |switch, _, out| {
            switch.set_link(number(interface), up, out);
        });
    }

    /// Calls `act` with the switch of a node and the time, and does what the switch wants done.
    pub(super) fn with_switch(
        &mut self,
        node: usize,
        act: impl FnOnce(&mut Switch, u64, &mut Vec<Output>),
    ) {
        let now_ns = self.now.saturating_add(self.epoch_ns());
        let Some(switch) = &mut self.switches[node] else {
            return;
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        act(switch, now_ns, &mut outputs);
        for output in outputs.drain(..) {
            match output {
                Output::Packet { port, frame, .. } => {
                    self.send_frame(node, port as usize - 1, frame);
                }
                Output::Message { message, .. } => self.send_to_controller(node, message),
                Output::Close(_) => self.close_channel(node),
            }
        }
        self.outputs = outputs;
    }
}
