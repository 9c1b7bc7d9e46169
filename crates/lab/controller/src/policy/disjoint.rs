//! The document's "disjoint": each subflow on the next disjoint path, whatever its bandwidth.

use super::{PathView, Policy, Request};

/// Each subflow takes the first disjoint path that the connection does not use; where it uses all,
/// one that it uses least.
#[derive(Clone, Copy, Debug)]
pub struct Disjoint;

impl Policy for Disjoint {
    fn name(&self) -> &'static str {
        "disjoint"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        let uses = |path: &&PathView| {
            let subflows = request.subflows.iter();
            subflows.filter(|one| one.links == path.links).count()
        };
        request.disjoint.iter().min_by_key(uses)
    }
}
