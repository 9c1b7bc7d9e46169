//! One path for all: the first with the fewest links.

use super::{PathView, Policy, Request};

/// All traffic between two hosts takes one path, as in a network that knows no subflows; those of
/// MPTCP share it.
#[derive(Clone, Copy, Debug)]
pub struct Shortest;

impl Policy for Shortest {
    fn name(&self) -> &'static str {
        "shortest"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        request.equal_cost.first()
    }
}
