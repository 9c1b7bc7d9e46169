//! A whole run.

use std::ops::ControlFlow;

use mptcplab_plan::Plan;

use crate::error::SimError;
use crate::supplies::Supplies;
use crate::world::{Counts, World};

/// Rows are passed to the sink when so many bytes of them are ready,
const CHUNK_BYTES: usize = 64 * 1024;
/// or after so many steps, so that the sink can interrupt the run.
const MAX_STEPS_BETWEEN_CALLS: u64 = 1 << 18;
/// The error of transfers that the sink interrupts.
const INTERRUPTED: &str = "interrupted";

/// The receiver of the rows of a run.
pub trait Sink {
    /// Takes some whole JSON lines, or none; [`ControlFlow::Break`] interrupts the run, and its last
    /// rows follow in one more call.
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()>;
}

impl<F: FnMut(&[u8]) -> ControlFlow<()>> Sink for F {
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()> {
        self(lines)
    }
}

/// Runs a plan in virtual time, from the row `ready` to the row `done`. Where the sink interrupts
/// it, the traffic ends there. One seed gives the same rows, byte for byte, on any machine.
///
/// # Errors
/// When the plan cannot be simulated, or a capture cannot be written; says which part, and why.
/// The sink has received the rows until then.
pub fn simulate(plan: &Plan, sink: &mut dyn Sink) -> Result<Counts, SimError> {
    simulate_with(plan, &Supplies::default(), sink)
}

/// Runs a plan as [`simulate`], with algorithms of the caller beside those of the stack.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with(
    plan: &Plan,
    supplies: &Supplies,
    sink: &mut dyn Sink,
) -> Result<Counts, SimError> {
    let mut world = World::with(plan, supplies)?;
    run(&mut world, sink);
    let finished = world.finish();
    // The run is over: an interruption has no effect.
    let _ = sink.take(&world.take_rows());
    finished?;
    Ok(world.counts())
}

/// Steps a world to its end, or until the sink interrupts it.
fn run(world: &mut World, sink: &mut dyn Sink) {
    let mut steps = 0;
    while !world.has_ended() && world.step() {
        steps += 1;
        if world.waiting_bytes() >= CHUNK_BYTES || steps >= MAX_STEPS_BETWEEN_CALLS {
            steps = 0;
            if sink.take(&world.take_rows()).is_break() {
                world.interrupt(INTERRUPTED);
            }
        }
    }
}
