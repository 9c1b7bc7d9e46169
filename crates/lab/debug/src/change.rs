//! Changes that are made in a world that stands still.

use std::sync::Arc;

use mptcplab_engine_sim::{Fate, World};
use mptcplab_plan::Action;
use serde::Deserialize;

use crate::error::DebugError;
use crate::names::{link_named, node_named};
use crate::rewrite::{Edit, Edits};

/// A change.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// An action, as an event of the plan has it: a link, an interface, a subflow.
    Action(Action),
    /// A host uses another scheduler from now on.
    Scheduler {
        /// The host.
        host: String,
        /// Its scheduler, by the name that scenarios have.
        name: String,
    },
    /// The next packets that are sent into a link in a direction have a fate.
    Packets {
        /// The link.
        link: String,
        /// 0 from its first end to its second, 1 back.
        direction: usize,
        /// How many.
        packets: u32,
        /// Their fate.
        fate: PacketFate,
    },
}

/// The fate of a packet.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketFate {
    /// It is lost, uncounted.
    Lost,
    /// It comes so much later.
    DelayedNs(u64),
    /// It comes behind so many others that are sent after it.
    Behind(u32),
    /// It comes twice.
    Duplicated,
    /// It is changed, once it is of TCP and has all that the changes name.
    Rewritten(Vec<Edit>),
}

impl PacketFate {
    /// # Errors
    /// A change that cannot be made of any packet.
    fn fate(&self) -> Result<Fate, DebugError> {
        Ok(match self {
            Self::Lost => Fate::Lost,
            Self::DelayedNs(by) => Fate::Delayed(*by),
            Self::Behind(0) => {
                let problem = "behind 0 others: give 1 or more";
                return Err(DebugError::Change(problem.to_owned()));
            }
            Self::Behind(others) => Fate::Behind(*others),
            Self::Duplicated => Fate::Duplicated,
            Self::Rewritten(edits) => Fate::Rewritten(Arc::new(Edits::new(edits)?)),
        })
    }
}

impl Change {
    /// Makes it.
    ///
    /// # Errors
    /// The reason of the link model or of the host; a name that means nothing.
    pub(crate) fn make(&self, world: &mut World) -> Result<(), DebugError> {
        match self {
            Self::Action(action) => world.act(action).map_err(DebugError::Change),
            Self::Scheduler { host, name } => {
                let node = node_named(world.plan(), host)?;
                world.use_scheduler(node, name).map_err(DebugError::Change)
            }
            Self::Packets {
                link,
                direction,
                packets,
                fate,
            } => {
                let link = link_named(world.plan(), link)?;
                if *direction > 1 {
                    let problem = format!("a link has the directions 0 and 1, not {direction}");
                    return Err(DebugError::Name(problem));
                }
                world.interfere(link, *direction, &fate.fate()?, *packets);
                Ok(())
            }
        }
    }
}
