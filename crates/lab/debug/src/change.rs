//! Changes that are made in a world that stands still.

use mptcplab_engine_sim::World;
use mptcplab_plan::Action;
use serde::Deserialize;

use crate::error::DebugError;
use crate::names::link_named;

/// A change.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// An action, as an event of the plan has it: a link, an interface, a subflow.
    Action(Action),
    /// The next packets that a link is given in a direction are lost before they reach it.
    Drop {
        /// The link.
        link: String,
        /// 0 from its first end to its second, 1 back.
        direction: usize,
        /// How many.
        packets: u32,
    },
}

impl Change {
    /// Makes it.
    ///
    /// # Errors
    /// The reason of the link model or of the host; a name that means nothing.
    pub(crate) fn make(&self, world: &mut World) -> Result<(), DebugError> {
        match self {
            Self::Action(action) => world.act(action).map_err(DebugError::Change),
            Self::Drop {
                link,
                direction,
                packets,
            } => {
                let link = link_named(world.plan(), link)?;
                if *direction > 1 {
                    let problem = format!("a link has the directions 0 and 1, not {direction}");
                    return Err(DebugError::Name(problem));
                }
                world.drop_next(link, *direction, *packets);
                Ok(())
            }
        }
    }
}
