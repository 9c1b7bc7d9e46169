//! A whole run.

use std::ops::ControlFlow;

use mptcplab_plan::Plan;
use mptcplab_stack::scheduler::Supply;

use crate::error::SimError;
use crate::world::{Counts, World};

/// Rows are handed over when so many bytes of them wait,
const CHUNK_BYTES: usize = 64 * 1024;
/// or after so many steps, that the sink may break the run off.
const STEPS_UNASKED: u64 = 1 << 18;
/// So many packets do not arrive in one instant, unless time stands still: some gigabytes.
const MOST_PACKETS_AT_ONCE: u64 = 3_000_000;
/// Why traffic ends where the sink breaks off.
const INTERRUPTED: &str = "interrupted";

/// Where the rows of a run go.
pub trait Sink {
    /// Takes some whole JSON lines, or none; [`ControlFlow::Break`] interrupts the run, whose last
    /// rows are still to be taken then.
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()>;
}

impl<F: FnMut(&[u8]) -> ControlFlow<()>> Sink for F {
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()> {
        self(lines)
    }
}

/// Runs a plan in virtual time, from the row `ready` to the row `done`. Where the sink breaks off
/// the traffic ends there. One seed gives the same rows, byte for byte, on any machine.
///
/// # Errors
/// When the plan cannot be simulated, or a capture cannot be written; says which part, and why.
/// What was measured until then has been handed to the sink.
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
    let ended = run(&mut world, sink);
    if ended.is_err() {
        world.interrupt(INTERRUPTED);
    }
    let finished = world.finish();
    // There is nothing left to break off.
    let _ = sink.take(&world.take_rows());
    ended.and(finished)?;
    Ok(world.counts())
}

/// Steps a world to its end, or to where the sink breaks off.
fn run(world: &mut World, sink: &mut dyn Sink) -> Result<(), SimError> {
    let (mut unasked, mut instant, mut before) = (0, 0, 0);
    while !world.has_ended() && world.step() {
        unasked += 1;
        if world.now() != instant {
            (instant, before) = (world.now(), world.counts().packets);
        }
        if world.counts().packets - before > MOST_PACKETS_AT_ONCE {
            return Err(SimError::Standstill { at_ns: instant });
        }
        if world.waiting_bytes() >= CHUNK_BYTES || unasked >= STEPS_UNASKED {
            unasked = 0;
            if sink.take(&world.take_rows()).is_break() {
                world.interrupt(INTERRUPTED);
            }
        }
    }
    Ok(())
}
