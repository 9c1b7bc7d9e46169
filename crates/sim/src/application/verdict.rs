//! Whether what was called multipath was, by the counters of both endpoints.

use mptcplab_traffic::verdict::{Evidence, Mib, Side, Tally};

use crate::core::Core;

/// The counters of both nodes at one time.
#[derive(Debug)]
pub(super) struct Counters {
    client: Mib,
    server: Mib,
}

impl Counters {
    /// Reads them now.
    pub(super) fn read(core: &Core, client: usize, server: usize) -> Self {
        Self {
            client: core.mib(client),
            server: core.mib(server),
        }
    }
}

/// What to warn of after an item that has ended, if anything; `before` are the counters from
/// before it began.
pub(super) fn judge(
    core: &Core,
    [client, server]: [usize; 2],
    before: &Counters,
    tally: Tally,
    expected: u32,
) -> Option<String> {
    let side = |node: usize, before: &Mib| {
        let enabled = Some(core.speaks_mptcp(node));
        let endpoints = core.nodes[node].subflow_endpoints();
        Side::new(before, &core.mib(node), enabled, endpoints)
    };
    tally
        .finding(expected, "they never stood")
        .warning(|| Evidence {
            client: side(client, &before.client),
            server: side(server, &before.server),
            fallbacks: tally.fallbacks(),
        })
}
