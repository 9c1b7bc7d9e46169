//! Switches and links as a graph.

use std::collections::BTreeMap;

use crate::place::{Link, PortRef};

/// A link from a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The port that sends.
    pub(crate) port: u32,
    /// The port that receives.
    pub(crate) to: PortRef,
}

/// Links from each switch, by the numbers of its ports. Each link is there in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    edges: BTreeMap<u64, Vec<Edge>>,
}

impl Graph {
    pub(crate) fn new(links: impl IntoIterator<Item = Link>) -> Self {
        let mut edges: BTreeMap<u64, Vec<Edge>> = BTreeMap::new();
        for Link { from, to } in links {
            let port = from.port;
            edges
                .entry(from.datapath)
                .or_default()
                .push(Edge { port, to });
        }
        edges
            .values_mut()
            .for_each(|edges| edges.sort_by_key(|edge| edge.port));
        Self { edges }
    }

    /// The switches that have links.
    pub(crate) fn switches(&self) -> impl Iterator<Item = u64> {
        self.edges.keys().copied()
    }

    /// The links from a switch.
    pub(crate) fn links(&self, switch: u64) -> impl Iterator<Item = Link> {
        let edges = self.edges.get(&switch).into_iter().flatten();
        edges.map(move |edge| Link {
            from: PortRef::new(switch, edge.port),
            to: edge.to,
        })
    }
}
