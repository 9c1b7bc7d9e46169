//! A whole run.

use std::ops::ControlFlow;

use mptcplab_plan::Plan;
use mptcplab_stack::scheduler::Supply;

use crate::error::SimError;
use crate::world::{Counts, World};

/// Rows are handed over when so many bytes of them wait.
const CHUNK_BYTES: usize = 64 * 1024;

/// Where the rows of a run go.
pub trait Sink {
    /// Takes some whole JSON lines; [`ControlFlow::Break`] ends the run.
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()>;
}

impl<F: FnMut(&[u8]) -> ControlFlow<()>> Sink for F {
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()> {
        self(lines)
    }
}

/// Runs a plan in virtual time, from the row `ready` to the row `done`, or until the sink breaks
/// off. One seed gives the same rows, byte for byte, on any machine.
///
/// # Errors
/// When the plan cannot be simulated, or a capture cannot be written; says which part, and why.
pub fn simulate(plan: &Plan, sink: &mut dyn Sink) -> Result<Counts, SimError> {
    simulate_with(plan, None, sink)
}

/// The same with a scheduler for the hosts whose scheduler is called `supplied`.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with(
    plan: &Plan,
    supply: Option<Supply>,
    sink: &mut dyn Sink,
) -> Result<Counts, SimError> {
    let mut world = World::with_scheduler(plan, supply)?;
    while !world.has_ended() && world.step() {
        if world.waiting_bytes() >= CHUNK_BYTES && sink.take(&world.take_rows()).is_break() {
            return Ok(world.counts());
        }
    }
    world.finish()?;
    // There is nothing left to break off.
    let _ = sink.take(&world.take_rows());
    Ok(world.counts())
}
