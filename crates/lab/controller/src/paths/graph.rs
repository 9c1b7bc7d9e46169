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

    /// A graph of pairs of switches; the port to the `n`-th pair has the number `n`.
    #[cfg(test)]
    pub(super) fn of_pairs(pairs: &[(u64, u64)]) -> Self {
        let links = pairs.iter().zip(1..).flat_map(|(&(a, b), port)| {
            let link = Link {
                from: PortRef::new(a, port),
                to: PortRef::new(b, port),
            };
            [link, link.reversed()]
        });
        Self::new(links)
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

    /// The way with the fewest links of those that may be used; by the numbers of ports where there
    /// are several.
    pub(crate) fn shortest(
        &self,
        from: u64,
        to: u64,
        is_usable: impl Fn(&Link) -> bool,
    ) -> Option<Vec<Link>> {
        let mut reached: BTreeMap<u64, Option<Link>> = BTreeMap::from([(from, None)]);
        let mut edge = vec![from];
        while !edge.is_empty() && !reached.contains_key(&to) {
            let mut next = Vec::new();
            for link in edge.iter().flat_map(|switch| self.links(*switch)) {
                if is_usable(&link) {
                    reached.entry(link.to.datapath).or_insert_with(|| {
                        next.push(link.to.datapath);
                        Some(link)
                    });
                }
            }
            edge = next;
        }
        back_from(to, |switch| *reached.get(&switch)?)
    }
}

/// The links that lead to a switch, by the last link to each.
pub(super) fn back_from(to: u64, last: impl Fn(u64) -> Option<Link>) -> Option<Vec<Link>> {
    let mut links: Vec<Link> =
        std::iter::successors(last(to), |link| last(link.from.datapath)).collect();
    links.reverse();
    (!links.is_empty()).then_some(links)
}
