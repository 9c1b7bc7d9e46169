//! The switches of a run and their controller.

use bytes::Bytes;
use mptcplab_plan::{InterfaceRef, Plan};
use mptcplab_segment::{Decision, FlowEntries, Sent};

use super::{Actor, Network};
use crate::error::SimError;
use crate::link;

/// New models of a plan's links, by which its controller finds the network before the run; none
/// where there is no controller.
pub(super) fn models(plan: &Plan) -> Result<Vec<mptcplab_link::Link<Bytes>>, SimError> {
    let controlled = plan.links.iter().filter(|_| plan.controller.is_some());
    let model = |(index, planned): (usize, &mptcplab_plan::Link)| {
        link::model(planned, plan.seed, index)
            .map_err(|error| SimError::refused(format!("link {}", planned.name), error))
    };
    controlled.enumerate().map(model).collect()
}

impl Network {
    /// Passes a frame that has come by an interface to the switch there.
    pub(super) fn switch_frame(&mut self, node: usize, interface: usize, frame: Bytes) {
        let by = InterfaceRef { node, interface };
        self.switching
            .receive_frame(self.now, by, frame, &mut self.sent);
        self.send_switched();
    }

    /// Tells a switch that a port's carrier has come or gone, if the node is one.
    pub(crate) fn set_port(&mut self, node: usize, interface: usize, up: bool) {
        let of = InterfaceRef { node, interface };
        self.switching.set_link(self.now, of, up, &mut self.sent);
        self.send_switched();
    }

    /// Lets the switches and the controller do what is due, and writes what the controller has
    /// decided as events.
    pub(crate) fn act_controller(&mut self) {
        self.switching.advance(self.now, &mut self.sent);
        for decision in self.switching.take_decisions() {
            let Decision {
                t_ns,
                subject,
                label,
            } = decision;
            self.recorder.event(t_ns, Decision::KIND, &subject, &label);
        }
        self.send_switched();
        self.reschedule_controller();
    }

    /// Writes the flow entries that switches had, and gives how many more there were, if any.
    pub(crate) fn write_flow_entries(&mut self) -> Option<u64> {
        let FlowEntries { entries, left_out } = self.switching.flow_entries();
        for entry in entries {
            self.recorder.write(entry);
        }
        (left_out > 0).then_some(left_out)
    }

    /// Schedules the switches and the controller anew.
    pub(super) fn reschedule_controller(&mut self) {
        self.call(Actor::Controller, self.switching.next_deadline());
    }

    /// Passes the frames that switches send to the links.
    fn send_switched(&mut self) {
        let mut sent = std::mem::take(&mut self.sent);
        for Sent { by, frame } in sent.drain(..) {
            self.send_frame(by.node, by.interface, frame);
        }
        self.sent = sent;
        if let Some(deadline) = self.switching.next_deadline() {
            let actor = self.number(Actor::Controller);
            self.schedule.set_at_latest(actor, deadline);
        }
    }
}
