//! A flow's part of the plan.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use mptcplab_plan::{Plan, Traffic};

/// The part of a flow in the plan, which a run has once for all of its flows.
#[derive(Clone)]
pub(super) struct Planned {
    plan: Arc<Plan>,
    number: usize,
}

impl Planned {
    /// The part of flow number `number`, from 0.
    pub(super) fn new(plan: &Arc<Plan>, number: usize) -> Self {
        Self {
            plan: Arc::clone(plan),
            number,
        }
    }
}

impl Deref for Planned {
    type Target = Traffic;

    fn deref(&self) -> &Traffic {
        &self.plan.traffic[self.number]
    }
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
