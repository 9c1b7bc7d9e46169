//! Transfers that are prepared before they begin.

use std::net::SocketAddr;

use crate::controller::Controller;
use crate::frame::TCP;
use crate::policy::{PathView, Request};
use crate::subflows::Flow;

/// Pairs of a client and a server that are looked at.
const PAIRS: usize = 1024;

impl Controller {
    /// Lets the policy prepare its choices for transfers from servers whose sizes were told, to each host
    /// that is known. It may take some hundredths of a second for each that is new, and is best called
    /// while nothing waits.
    pub fn prepare(&mut self) {
        let servers = self.sizes.told().filter_map(|(server, bytes)| {
            let host = self.hosts.get(server.ip())?;
            Some((server, host.at, bytes))
        });
        let pairs = servers.flat_map(|(server, at, bytes)| {
            let others = self.hosts.all();
            let others = others.filter(move |(_, other)| other.at.datapath != at.datapath);
            others.map(move |(client, other)| (client, [other.at, at], server, bytes))
        });
        let pairs: Vec<_> = pairs.take(PAIRS).collect();
        for (client, ends, server, bytes) in pairs {
            let paths = self.paths.between(ends[0].datapath, ends[1].datapath);
            let view = |path| self.path_view(path, ends);
            let disjoint: Vec<PathView> = paths.disjoint.iter().map(view).collect();
            let equal_cost: Vec<PathView> = paths.equal_cost.iter().map(view).collect();
            let flow = flow(SocketAddr::new(client, 0), server);
            self.policy.prepare(&Request {
                connection: flow,
                flow,
                is_multipath: true,
                is_moved: false,
                bytes: Some(bytes),
                carried_bytes: 0,
                subflows: &[],
                disjoint: &disjoint,
                equal_cost: &equal_cost,
            });
        }
    }
}

/// A connection that a client may open.
fn flow(client: SocketAddr, server: SocketAddr) -> Flow {
    Flow {
        source: client.ip(),
        destination: server.ip(),
        protocol: TCP,
        source_port: client.port(),
        destination_port: server.port(),
    }
}
