//! Algorithms of the caller.

use mptcplab_segment::PolicySupply;
use mptcplab_stack::congestion::{CongestionAlgorithm, Supplied};
use mptcplab_stack::scheduler::Supply;

/// Algorithms beside those of the stack and of the controller, which a plan asks for by name.
#[derive(Clone, Debug, Default)]
pub struct Supplies {
    /// Makes the scheduler called `supplied`.
    pub scheduler: Option<Supply>,
    /// Congestion controls; they come before those of the stack.
    pub congestion_controls: Vec<Supplied>,
    /// Makes the policy of the controller of the switches, whatever name the plan gives it.
    pub policy: Option<PolicySupply>,
}

impl Supplies {
    /// The congestion control of this name.
    pub(crate) fn congestion_control(&self, name: &str) -> Option<CongestionAlgorithm> {
        let supplied = self.congestion_controls.iter().find(|one| one.name == name);
        supplied
            .copied()
            .map(CongestionAlgorithm::Supplied)
            .or_else(|| CongestionAlgorithm::from_name(name))
    }
}
