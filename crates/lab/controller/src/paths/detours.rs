//! Ways round each link of a path from the switch at its begin: what packets take when the link
//! fails, before the controller knows.
//!
//! Rules know a packet by the port that it comes by, so that a way is a step for each such port:
//! where packets go on from there. All ways of a path share their steps. A way may lead back by the
//! link that packets came by, and it ends at the last switch or where packets come by a link of the
//! path that is nearer to the end than the one that failed. Steps have no way round themselves. So
//! packets come nearer to the end with each link that fails, and none goes round in a loop whatever
//! links fail.

use std::collections::BTreeMap;

use super::Graph;
use crate::place::{Link, PortRef};

/// Ways round the links of a path, in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detours {
    /// For each link of the path the one that packets take instead, if there is a way.
    pub(crate) instead: Vec<Option<Link>>,
    /// The steps after that: for the port that packets come by the link that they go on by; none at
    /// the last switch.
    pub(crate) steps: BTreeMap<PortRef, Option<Link>>,
}

/// The shortest ways round the links of a path, where there are some.
pub(super) fn detours(graph: &Graph, path: &[Link]) -> Detours {
    let mut detours = Detours {
        instead: vec![None; path.len()],
        steps: BTreeMap::new(),
    };
    let Some(last) = path.last() else {
        return detours;
    };
    for (place, failed) in path.iter().enumerate().rev() {
        let is_usable = |link: &Link| !is_same(link, failed);
        let way = graph.shortest(failed.from.datapath, last.to.datapath, is_usable);
        if let Some(way) = way
            && let Some(added) = detours.steps_of(path, place, &way)
        {
            detours.instead[place] = way.first().copied();
            detours.steps.extend(added);
        }
    }
    detours
}

impl Detours {
    /// The steps that a way round the link at a place of the path adds; `None` where packets would
    /// not come to the end: from a port that both come by, another way goes on elsewhere.
    fn steps_of(
        &self,
        path: &[Link],
        place: usize,
        way: &[Link],
    ) -> Option<Vec<(PortRef, Option<Link>)>> {
        let (first, mut rest) = way.split_first()?;
        let mut added = Vec::new();
        let mut at = first.to;
        loop {
            if let Some(reached) = path.iter().position(|link| link.to == at) {
                return (reached > place).then_some(added);
            }
            let known = self.steps.get(&at).copied();
            let next = known.unwrap_or_else(|| {
                let own = rest.split_off_first().copied();
                added.push((at, own));
                own
            });
            match next {
                None => return Some(added),
                Some(link) if is_same(&link, &path[place]) => return None,
                Some(link) => at = link.to,
            }
        }
    }
}

/// Whether two links are the same, in whichever direction.
fn is_same(one: &Link, other: &Link) -> bool {
    one == other || *one == other.reversed()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The switches that a packet passes from the begin of a path while some links are down, and
    /// whether it came to the end.
    fn passed(path: &[Link], detours: &Detours, down: &BTreeSet<u32>) -> (Vec<u64>, bool) {
        let is_up = |link: &Link| !down.contains(&link.from.port);
        let ahead = |place: usize| match path[place] {
            link if is_up(&link) => Some(link),
            _ => detours.instead[place].filter(is_up),
        };
        let mut seen = BTreeSet::new();
        let mut switches = Vec::new();
        let mut next = ahead(0);
        while let Some(link) = next {
            assert!(seen.insert(link), "a loop: {switches:?}");
            switches.push(link.to.datapath);
            let place = path.iter().position(|own| own.to == link.to);
            next = match place {
                Some(last) if last + 1 == path.len() => return (switches, true),
                Some(place) => ahead(place + 1),
                None => match detours.steps[&link.to] {
                    None => return (switches, true),
                    Some(link) => Some(link).filter(is_up),
                },
            };
        }
        (switches, false)
    }

    #[test]
    fn packets_go_back_where_there_is_no_other_way() {
        let pairs = [(1, 3), (3, 4), (4, 2), (1, 5), (5, 6), (6, 2)];
        let graph = Graph::of_pairs(&pairs);
        let path = graph.shortest(1, 2, |_| true).expect("a path");
        let detours = detours(&graph, &path);
        let failed = |port| passed(&path, &detours, &BTreeSet::from([port]));
        assert_eq!(failed(9), (vec![3, 4, 2], true));
        assert_eq!(failed(1), (vec![5, 6, 2], true));
        assert_eq!(failed(2), (vec![3, 1, 5, 6, 2], true));
        assert_eq!(failed(3), (vec![3, 4, 3, 1, 5, 6, 2], true));
        // Each switch but the last has one step for each port that packets may come by.
        assert_eq!(detours.steps.len(), 5);
    }

    #[test]
    fn a_link_without_which_the_end_is_out_of_reach_has_no_way_round() {
        let graph = Graph::of_pairs(&[(1, 3), (3, 2), (1, 3)]);
        let path = graph.shortest(1, 2, |_| true).expect("a path");
        let detours = detours(&graph, &path);
        assert_eq!(detours.instead.iter().flatten().count(), 1);
        let failed = |port| passed(&path, &detours, &BTreeSet::from([port]));
        assert_eq!(failed(1), (vec![3, 2], true));
        assert_eq!(failed(2), (vec![3], false));
        assert_eq!(super::detours(&graph, &[]), Detours::default());
    }

    proptest! {
        /// Whatever links fail, no packet passes a link twice in the same direction; and where one
        /// that has a way round fails alone, all come to the end.
        #[test]
        fn no_packet_goes_round_in_a_loop(
            pairs in prop::collection::vec((0..7_u64, 0..7_u64), 0..16),
            down in prop::collection::btree_set(1..16_u32, 0..4),
            place in 0..4_usize,
        ) {
            let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
            let graph = Graph::of_pairs(&pairs);
            let ways = super::super::disjoint::paths(&graph, 0, 1);
            for path in ways {
                let detours = detours(&graph, &path);
                passed(&path, &detours, &down);
                let place = place.min(path.len() - 1);
                let failed = BTreeSet::from([path[place].from.port]);
                let (_, comes) = passed(&path, &detours, &failed);
                prop_assert_eq!(comes, detours.instead[place].is_some());
            }
        }
    }
}
