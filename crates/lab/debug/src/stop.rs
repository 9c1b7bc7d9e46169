//! Where a session stops, and what has happened there.

use mptcplab_engine_sim::{Actor, SeenPacket, World};
use mptcplab_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Test};
use crate::decisions::{CHOICE, KINDS};
use crate::error::DebugError;
use crate::names::{link_named, node_named};
use crate::packet;

/// Something at which a session stops.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopOn {
    /// A packet: sent by a node into a link, or come out of one.
    Packet {
        /// Only on this link.
        link: Option<String>,
        /// Only at this node.
        host: Option<String>,
    },
    /// A decision, one of [`KINDS`].
    Decision {
        /// Which.
        kind: String,
        /// Only of this connection.
        connection: Option<usize>,
        /// Only at this node.
        host: Option<String>,
    },
    /// A condition that comes to hold.
    Condition(Condition),
}

/// Something that has happened.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Happening {
    /// One of [`KINDS`], or `packet`.
    pub kind: &'static str,
    /// The node at which.
    pub host: String,
    /// The link, of a packet.
    pub link: Option<String>,
    /// The connection, by its number.
    pub connection: Option<usize>,
    /// The subflow, by its id.
    pub subflow: Option<u32>,
    /// In words.
    pub text: String,
}

/// A stop.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Stop {
    /// Why: `time`, `step`, `packet`, `decision`, `condition`, or `end` of all traffic.
    pub reason: &'static str,
    /// The time.
    pub now_ns: u64,
    /// Events of the simulator so far.
    pub step: u64,
    /// Place among the things to stop at.
    pub at: Option<usize>,
    /// The actor of the last event.
    pub actor: Option<String>,
    /// All that has happened at the last event.
    pub happenings: Vec<Happening>,
}

impl Happening {
    pub(crate) fn at_node(world: &World, kind: &'static str, node: usize, text: String) -> Self {
        Self {
            kind,
            host: world.plan().nodes[node].name.clone(),
            link: None,
            connection: None,
            subflow: None,
            text,
        }
    }

    pub(crate) fn packet(world: &World, seen: &SeenPacket) -> Self {
        let way = match (seen.is_sent, seen.is_dropped) {
            (true, true) => "sends, and the link drops, ",
            (true, false) => "sends ",
            (false, _) => "receives ",
        };
        Self {
            link: Some(world.plan().links[seen.link].name.clone()),
            ..Self::at_node(
                world,
                "packet",
                seen.node,
                format!("{way}{}", packet::line(&seen.content)),
            )
        }
    }
}

/// Something to stop at whose names have been looked up.
pub(crate) enum Check {
    Packet {
        link: Option<usize>,
        node: Option<usize>,
    },
    Decision {
        kind: &'static str,
        connection: Option<usize>,
        host: Option<String>,
    },
    /// With whether it held after the event before.
    Condition(Test, bool),
}

impl Check {
    /// # Errors
    /// A name that means nothing.
    pub(crate) fn new(stop: &StopOn, world: &World) -> Result<Self, DebugError> {
        let plan = world.plan();
        Ok(match stop {
            StopOn::Packet { link, host } => Self::Packet {
                link: link
                    .as_deref()
                    .map(|name| link_named(plan, name))
                    .transpose()?,
                node: host
                    .as_deref()
                    .map(|name| node_named(plan, name))
                    .transpose()?,
            },
            StopOn::Decision {
                kind,
                connection,
                host,
            } => {
                if let Some(host) = host {
                    node_named(plan, host)?;
                }
                let known = KINDS.iter().find(|known| *known == kind).ok_or_else(|| {
                    let names = KINDS.join(", ");
                    DebugError::Name(format!("there is no decision {kind:?}; there are {names}"))
                })?;
                Self::Decision {
                    kind: known,
                    connection: *connection,
                    host: host.clone(),
                }
            }
            StopOn::Condition(condition) => {
                let test = Test::new(condition, plan)?;
                let holds = test.holds(world);
                Self::Condition(test, holds)
            }
        })
    }

    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Packet { .. } => "packet",
            Self::Decision { .. } => "decision",
            Self::Condition(..) => "condition",
        }
    }

    /// Whether packets and events of the stacks have to be noted for it.
    pub(crate) fn watches(&self) -> bool {
        !matches!(self, Self::Condition(..))
    }

    /// Whether the choices of schedulers have to be noted for it.
    pub(crate) fn is_choice(&self) -> bool {
        matches!(self, Self::Decision { kind: CHOICE, .. })
    }

    pub(crate) fn is_decision(&self) -> bool {
        matches!(self, Self::Decision { .. })
    }

    /// Whether it is met after an event.
    pub(crate) fn is_met(
        &mut self,
        world: &World,
        packets: &[SeenPacket],
        decisions: &[Happening],
    ) -> bool {
        match self {
            Self::Packet { link, node } => packets.iter().any(|packet| {
                link.is_none_or(|link| packet.link == link)
                    && node.is_none_or(|node| packet.node == node)
            }),
            Self::Decision {
                kind,
                connection,
                host,
            } => decisions.iter().any(|decision| {
                decision.kind == *kind
                    && (connection.is_none() || decision.connection == *connection)
                    && host.as_ref().is_none_or(|host| decision.host == *host)
            }),
            Self::Condition(test, held) => {
                let holds = test.holds(world);
                !std::mem::replace(held, holds) && holds
            }
        }
    }
}

/// An actor in words.
pub(crate) fn actor_text(plan: &Plan, actor: Actor) -> String {
    match actor {
        Actor::Timeline => "event of the scenario".to_owned(),
        Actor::Limit => "limit of time".to_owned(),
        Actor::Link(link) => format!("link {}", plan.links[link].name),
        Actor::Node(node) => format!("host {}", plan.nodes[node].name),
        Actor::Controller => "controller".to_owned(),
        Actor::Flow(flow) => format!("traffic {}", plan.traffic[flow].name),
        Actor::Sampler => "sampling".to_owned(),
    }
}
