//! The path of those with the fewest links that has the fewest subflows.

use super::{PathView, Policy, Request};
use crate::place::Link;

/// Each subflow takes the path that shares fewest links with the others of its connection, and of such
/// paths the one with the fewest subflows of all on its busiest link. There must be several paths with
/// the fewest links, as in the network of a data centre.
#[derive(Clone, Copy, Debug)]
pub struct LeastUsed;

impl Policy for LeastUsed {
    fn name(&self) -> &'static str {
        "least-used"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        let own: Vec<_> = request.subflows.iter().flat_map(|one| &one.links).collect();
        let shared = |path: &PathView| {
            let times = |link: &Link| own.iter().filter(|other| **other == link).count();
            path.links.iter().map(times).sum::<usize>()
        };
        let paths = request.equal_cost.iter();
        paths.min_by_key(|path| (shared(path), path.subflows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PortRef;
    use crate::policy::SubflowView;
    use crate::policy::samples::{path, request, subflow};

    /// Two paths over each of two switches, with so many subflows on them.
    fn views(subflows: [usize; 4]) -> Vec<PathView> {
        let view = |(index, subflows): (usize, usize)| {
            let (upper, core) = (10 + index as u64 / 2, 20 + index as u64);
            let link = |from, to| Link {
                from: PortRef::new(from, 1),
                to: PortRef::new(to, 2),
            };
            PathView {
                links: vec![link(1, upper), link(upper, core), link(core, 2)],
                subflows,
                ..path(1, 100_000_000, 1_000)
            }
        };
        subflows.into_iter().enumerate().map(view).collect()
    }

    #[test]
    fn subflows_take_paths_apart_from_their_own_and_then_those_of_the_fewest_others() {
        let paths = views([3, 1, 9, 8]);
        let mut subflows: Vec<SubflowView> = Vec::new();
        let mut taken = Vec::new();
        for _ in 0..5 {
            let request = Request {
                subflows: &subflows,
                ..request(&paths)
            };
            let path = LeastUsed.choose(&request).expect("a path");
            taken.push(path.links[1].to.datapath - 20);
            subflows.push(subflow(path));
        }
        assert_eq!(taken, [1, 3, 0, 2, 1]);
    }
}
