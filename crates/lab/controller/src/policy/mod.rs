//! Policies: which path a subflow takes, if it may exist at all. Each is a file.

mod completion;
mod disjoint;
mod earliest_completion;
mod ecmp;
mod least_used;
mod mpsshetn;
#[cfg(test)]
mod samples;
mod shortest;
mod told;

pub use disjoint::Disjoint;
pub use earliest_completion::EarliestCompletion;
pub use ecmp::Ecmp;
pub use least_used::LeastUsed;
pub use mpsshetn::MpssHetN;
pub use shortest::Shortest;
pub use told::{Answer, Told, ToldConnection, ToldFlow, ToldLink, ToldPath, told};

use dyn_clone::DynClone;

use crate::place::{Link, PortRef};
use crate::subflows::Flow;

/// A path as a policy sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathView {
    /// Links from the switch of the subflow's opener to the switch of the other end.
    pub links: Vec<Link>,
    /// The least rate of its links and of the two hosts' own, bit/s; `None`: none is known.
    pub bandwidth_bps: Option<u64>,
    /// The sum of the links' delays without queues, ns; `None`: one is not yet known.
    pub delay_ns: Option<u64>,
    /// The sum of the links' times in queues when they were last measured, ns.
    pub queueing_ns: u64,
    /// The highest load of a link, bit/s in the direction that has more.
    pub load_bps: u64,
    /// Subflows of all connections on the link that has the most.
    pub subflows: usize,
    /// Subflows on the link that has the most which are too new to be part of the load.
    pub new_subflows: usize,
    /// Whether a link of it was busy all the time between the last two readings of the counters.
    pub is_busy: bool,
}

/// A subflow of the connection that there is already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubflowView {
    /// Its addresses and ports, from the end that opened it.
    pub flow: Flow,
    /// The port of the opener's host.
    pub opener_at: PortRef,
    /// Links of its path.
    pub links: Vec<Link>,
}

/// A subflow that asks for a path.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The addresses and ports of the connection's first subflow, from the end that opened it.
    pub connection: Flow,
    /// Its addresses and ports, from the end that opens it.
    pub flow: Flow,
    /// Whether it is of MPTCP, and not TCP or another protocol.
    pub is_multipath: bool,
    /// Whether it exists already. Where a path is chosen, its own has failed, and it needs another one if
    /// there is any; where a better one is looked for, it may stay.
    pub is_moved: bool,
    /// Bytes of the connection's transfer, where known.
    pub bytes: Option<u64>,
    /// Bytes that the connection has carried, as far as switches have told: in the direction that has
    /// more.
    pub carried_bytes: u64,
    /// The other subflows of the connection; the first one first. None: this is the first.
    pub subflows: &'a [SubflowView],
    /// All edge-disjoint paths: fewest links first, then by the ports' numbers. At least one.
    pub disjoint: &'a [PathView],
    /// Paths with the fewest links, by the ports' numbers. At least one.
    pub equal_cost: &'a [PathView],
}

impl<'a> Request<'a> {
    /// The edge-disjoint paths that no other subflow of the connection uses.
    pub fn unused(&self) -> impl Iterator<Item = &'a PathView> {
        let subflows = self.subflows;
        self.disjoint
            .iter()
            .filter(|path| subflows.iter().all(|subflow| subflow.links != path.links))
    }
}

/// A subflow that carries, and may have a better path: one of its links was busy all the time between
/// the last two readings of the counters, or it shares its path with another one of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Carrying<'a> {
    /// Its path.
    pub path: &'a PathView,
    /// The rate at which it carried between the last two readings, bit/s, frames included.
    pub rate_bps: u64,
    /// How long what is on its way waits in the queues of its path, ns.
    pub waits_ns: u64,
    /// The same rates of the other subflows, in the order of the request.
    pub others_bps: &'a [u64],
    /// Subflows of all connections that carried in that time on the link of its path that has the
    /// most of them, itself among them.
    pub sharing: usize,
}

/// A policy. A clone goes on as the original would; one that asks a program asks the same.
pub trait Policy: DynClone + Send + Sync {
    /// The name by which it is asked for.
    fn name(&self) -> &str;

    /// Prepares the choice for a connection of MPTCP that may be opened, the first subflow of which this
    /// is: there is time now.
    fn prepare(&mut self, _request: &Request<'_>) {}

    /// The path of a subflow, out of the request's; `None`: the subflow is refused. The first
    /// subflow of a connection, and what is not of MPTCP, must not be refused: it then takes the
    /// first path.
    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView>;

    /// The path of a connection whose first subflow asks and which had better be one of TCP; `None`: of
    /// MPTCP, and [`Self::choose`] is asked. It is for good: no other subflow can join it.
    fn as_tcp<'a>(&mut self, _request: &Request<'a>) -> Option<&'a PathView> {
        None
    }

    /// Whether the choice for a first subflow had better wait until it is known which of the transfers
    /// that use its paths are over, by the counters of their rules.
    fn waits_for_ends(&self, _request: &Request<'_>) -> bool {
        false
    }

    /// Whether a subflow that has no path now may get one when its connection has carried more: it
    /// is not refused then, but waits, and asks again.
    fn waits(&mut self, _request: &Request<'_>) -> bool {
        false
    }

    /// Whether subflows that carry may move to a better path: [`Self::better`] is asked for one then.
    fn reviews(&self) -> bool {
        false
    }

    /// The path that a subflow that carries moves to; `None`: it stays.
    fn better<'a>(
        &mut self,
        _request: &Request<'a>,
        _carrying: &Carrying<'_>,
    ) -> Option<&'a PathView> {
        None
    }
}

dyn_clone::clone_trait_object!(Policy);

/// The policy of a name; `seed` is for those that choose among equally good paths.
pub fn policy(name: &str, seed: u64) -> Option<Box<dyn Policy>> {
    Some(match name {
        "shortest" => Box::new(Shortest),
        "disjoint" => Box::new(Disjoint),
        "mpsshetn" => Box::new(MpssHetN),
        "earliest-completion" => Box::<EarliestCompletion>::default(),
        "ecmp" => Box::new(Ecmp::new(seed)),
        "least-used" => Box::new(LeastUsed),
        _ => return None,
    })
}
