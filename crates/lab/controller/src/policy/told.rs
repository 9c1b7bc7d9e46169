//! Requests and answers of policies in Python, as plain values. `python/mptcplab/policy/function.py`
//! reads and gives the same.

use super::{PathView, Request};
use crate::place::Link;
use crate::subflows::Flow;

/// Addresses of source and destination, the protocol above IP, both ports.
pub type ToldFlow = (String, String, u8, u16, u16);
/// Datapath and port that send, datapath and port that receive.
pub type ToldLink = (u64, u32, u64, u32);
/// Links, bandwidth, delay, queueing, load, subflows, new subflows, as [`PathView`] has them.
pub type ToldPath = (
    Vec<ToldLink>,
    Option<u64>,
    Option<u64>,
    u64,
    u64,
    usize,
    usize,
);
/// Its first subflow, whether it is of MPTCP, bytes of its transfer, bytes carried, its other
/// subflows with their paths, the seed of the policy.
pub type ToldConnection = (
    ToldFlow,
    bool,
    Option<u64>,
    u64,
    Vec<(ToldFlow, Vec<ToldLink>)>,
    u64,
);
/// The connection, the subflow that asks and whether it is moved, the disjoint paths, those of equal
/// cost.
pub type Told = (
    ToldConnection,
    (ToldFlow, bool),
    Vec<ToldPath>,
    Vec<ToldPath>,
);

/// The answer of a policy in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The path of the subflow.
    Path(&'a PathView),
    /// The subflow is refused.
    Refused,
    /// The subflow waits.
    Waits,
}

impl<'a> Answer<'a> {
    const REFUSED: i64 = -1;
    const WAITS: i64 = -2;

    /// The answer of a number: the place of a path in the disjoint ones and then those of equal cost,
    /// or one of the numbers below 0 that the constants are.
    ///
    /// # Errors
    /// When it is none; the text says so.
    pub fn read(number: i64, request: &Request<'a>) -> Result<Self, String> {
        match number {
            Self::REFUSED => return Ok(Self::Refused),
            Self::WAITS => return Ok(Self::Waits),
            _ => {}
        }
        let mut offered = request.disjoint.iter().chain(request.equal_cost);
        let count = offered.clone().count();
        let place = usize::try_from(number).unwrap_or(count);
        let path = offered.nth(place).map(Self::Path);
        path.ok_or_else(|| format!("{number} is none of {count} paths"))
    }
}

/// A request with the seed of the policy.
pub fn told(request: &Request<'_>, seed: u64) -> Told {
    let others = request.subflows.iter();
    let paths = |of: &[PathView]| of.iter().map(path).collect();
    let connection = (
        flow(&request.connection),
        request.is_multipath,
        request.bytes,
        request.carried_bytes,
        others
            .map(|one| (flow(&one.flow), links(&one.links)))
            .collect(),
        seed,
    );
    let subflow = (flow(&request.flow), request.is_moved);
    let (disjoint, equal_cost) = (paths(request.disjoint), paths(request.equal_cost));
    (connection, subflow, disjoint, equal_cost)
}

fn flow(flow: &Flow) -> ToldFlow {
    (
        flow.source.to_string(),
        flow.destination.to_string(),
        flow.protocol,
        flow.source_port,
        flow.destination_port,
    )
}

fn links(links: &[Link]) -> Vec<ToldLink> {
    let tuple = |link: &Link| {
        let (from, to) = (link.from, link.to);
        (from.datapath, from.port, to.datapath, to.port)
    };
    links.iter().map(tuple).collect()
}

fn path(view: &PathView) -> ToldPath {
    (
        links(&view.links),
        view.bandwidth_bps,
        view.delay_ns,
        view.queueing_ns,
        view.load_bps,
        view.subflows,
        view.new_subflows,
    )
}
