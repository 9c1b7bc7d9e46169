//! Whether MPTCP traffic was multipath, from the counters of both hosts.

use mptcplab_traffic::verdict::{Evidence, Mib, Side, Tally};

use crate::network::Network;

/// The counters of both nodes at one time.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    client: Mib,
    server: Mib,
}

impl Counters {
    /// Reads them now.
    pub(super) fn read(network: &Network, client: usize, server: usize) -> Self {
        Self {
            client: network.mib(client),
            server: network.mib(server),
        }
    }
}

/// The warning about a flow that has ended, if there is one; `before` are the counters from
/// before it began.
pub(super) fn warning(
    network: &Network,
    [client, server]: [usize; 2],
    before: &Counters,
    tally: Tally,
    expected: u32,
) -> Option<String> {
    let side = |node: usize, before: &Mib| {
        let enabled = Some(network.speaks_mptcp(node));
        let endpoints = network.nodes[node].subflow_endpoints();
        Side::new(before, &network.mib(node), enabled, endpoints)
    };
    tally
        .finding(expected, "they never stood")
        .warning(|| Evidence {
            client: side(client, &before.client),
            server: side(server, &before.server),
            fallbacks: tally.fallbacks(),
        })
}
