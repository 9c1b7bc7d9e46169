//! The documents of the API, and all that its page shows: text and numbers, ready to be written.

mod connections;
mod history;
mod topology;

use std::sync::Arc;

pub(crate) use connections::{Connection, Connections, Rule, Rules, Subflow};
pub(crate) use history::History;
use serde::{Serialize, Serializer};
#[cfg(test)]
pub(crate) use topology::{Host, Port};
pub(crate) use topology::{Link, Switch, Topology};

use crate::history::Sample;
use crate::row::Row;
use crate::snapshot::Snapshot;

/// All documents, of one time.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) topology: Topology,
    pub(crate) connections: Connections,
    pub(crate) rules: Rules,
    pub(crate) events: Events,
    /// The last minutes, for the document that is made of them when it is asked for.
    pub(crate) samples: Vec<Arc<Sample>>,
}

/// The last events.
#[derive(Debug, Serialize)]
pub(crate) struct Events {
    pub(crate) t_ns: u64,
    /// The oldest first.
    pub(crate) events: Vec<Numbered>,
}

/// An event, and its number since the controller began.
#[derive(Debug, Serialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    #[serde(flatten, serialize_with = "shared")]
    pub(crate) row: Arc<Row>,
}

fn shared<S: Serializer>(row: &Arc<Row>, serializer: S) -> Result<S::Ok, S::Error> {
    row.serialize(serializer)
}

impl Documents {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let events = snapshot.events.iter().map(|(number, row)| Numbered {
            number: *number,
            row: Arc::clone(row),
        });
        Self {
            topology: Topology::of(snapshot),
            connections: Connections::of(snapshot),
            rules: Rules::of(snapshot),
            events: Events {
                t_ns: snapshot.t_ns,
                events: events.collect(),
            },
            samples: snapshot.samples.clone(),
        }
    }

    /// Returns the last minutes.
    pub(crate) fn history(&self) -> History {
        History::of(self.topology.t_ns, &self.samples)
    }
}
