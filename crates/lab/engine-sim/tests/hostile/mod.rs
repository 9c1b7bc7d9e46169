//! A plan from anybody: refused, or simulated for a while.

use mptcplab_engine_sim::World;
use mptcplab_plan::Plan;

/// Steps of a run at most: more than a small sound plan needs.
const STEPS: u32 = 20_000;

/// Simulates a plan that is not refused, without its captures, to its end or for so many steps;
/// says whether it came to its end.
pub(crate) fn play(mut plan: Plan) -> bool {
    plan.capture = None;
    let Ok(mut world) = World::new(&plan) else {
        return false;
    };
    for _ in 0..STEPS {
        if world.has_ended() || !world.step() {
            break;
        }
        world.take_rows();
    }
    world.has_ended()
}
