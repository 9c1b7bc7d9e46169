//! Paths, subflows and requests for the tests of policies.

use super::{PathView, Request, SubflowView};
use crate::place::{Link, PortRef};
use crate::subflows::Flow;

/// Addresses and ports of a subflow.
pub(super) fn flow() -> Flow {
    Flow {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        protocol: 6,
        source_port: 1000,
        destination_port: 80,
    }
}

/// A path of one link between the switches 1 and 2, at ports of this number, that nothing uses.
pub(super) fn path(port: u32, bandwidth_bps: u64, delay_ns: u64) -> PathView {
    PathView {
        links: vec![Link {
            from: PortRef::new(1, port),
            to: PortRef::new(2, port),
        }],
        bandwidth_bps: Some(bandwidth_bps),
        delay_ns: Some(delay_ns),
        queueing_ns: 0,
        load_bps: 0,
        subflows: 0,
        new_subflows: 0,
        is_busy: false,
    }
}

/// A subflow over a path.
pub(super) fn subflow(path: &PathView) -> SubflowView {
    SubflowView {
        flow: flow(),
        opener_at: PortRef::new(1, 100),
        links: path.links.clone(),
    }
}

/// The request of the first subflow of a connection of MPTCP, of unknown size.
pub(super) fn request(paths: &[PathView]) -> Request<'_> {
    Request {
        connection: flow(),
        flow: flow(),
        is_multipath: true,
        is_moved: false,
        bytes: None,
        carried_bytes: 0,
        subflows: &[],
        disjoint: paths,
        equal_cost: paths,
    }
}
