//! Whether MPTCP traffic was multipath, from the kernel's own counters.

use std::fs;
use std::io;

use mptcplab_traffic::verdict::{Evidence, Finding, Mib, Side, Tally};

use super::flow::Flow;
use crate::plan::Workload;
use crate::telemetry::NodeContext;
use crate::telemetry::mib;
use mptcplab_linux::path_manager::PathManager;

/// The reason for which the joins of a connection may be unknown.
const WHY_UNKNOWN: &str = "they never stood, or the kernel's events were lost";

/// The finding about a command. A program's connections cannot be counted one by one; the counters of
/// the hosts stand in for them. `joins` are those that either end has counted.
fn finding_of_command(joins: Option<i64>, expected: u32) -> Finding {
    match joins {
        None => Finding::Unknown("this kernel does not count joins".to_owned()),
        Some(joins) if joins >= expected.into() => Finding::AsExpected,
        Some(joins) => Finding::Short {
            partly: joins > 0,
            what: format!("{joins} subflows joined where {expected} were expected"),
        },
    }
}

/// The counters of both nodes at one time.
pub(super) struct Counters {
    client: Mib,
    server: Mib,
}

impl Counters {
    /// Reads them now.
    pub(super) fn read(client: &NodeContext, server: &NodeContext) -> io::Result<Self> {
        let read = |node: &NodeContext| node.netns.run(mib::read)?;
        Ok(Self {
            client: read(client)?,
            server: read(server)?,
        })
    }
}

/// Looks at a flow that has ended; `before` are the counters from before it began.
pub(super) fn check(flow: &Flow, before: &Counters, tally: Tally) {
    let expected = flow.traffic.expected_joins;
    let Ok(after) = Counters::read(&flow.client, &flow.server) else {
        return flow.warn("whether subflows joined is unknown: the counters cannot be read");
    };
    let evidence = Evidence {
        client: side(&flow.client, &before.client, &after.client),
        server: side(&flow.server, &before.server, &after.server),
        fallbacks: tally.fallbacks(),
    };
    let finding = if let Workload::Command { .. } = flow.traffic.workload {
        let ends = [
            evidence.client.grew("MPJoinSynAckRx"),
            evidence.server.grew("MPJoinAckRx"),
        ];
        finding_of_command(ends.into_iter().flatten().min(), expected)
    } else {
        tally.finding(expected, WHY_UNKNOWN)
    };
    if let Some(text) = finding.warning(|| evidence) {
        flow.warn(&text);
    }
}

/// A node, with what its kernel says of its settings.
fn side(node: &NodeContext, before: &Mib, after: &Mib) -> Side {
    let look = || {
        let enabled = fs::read_to_string("/proc/sys/net/mptcp/enabled").ok();
        let endpoints = PathManager::open().and_then(|mut manager| manager.endpoints());
        (
            enabled.map(|text| text.trim() != "0"),
            endpoints.unwrap_or_default(),
        )
    };
    let (enabled, endpoints) = node.netns.run(look).unwrap_or_default();
    let subflow = endpoints
        .iter()
        .filter(|endpoint| endpoint.flags.subflow || endpoint.flags.fullmesh);
    let addresses = subflow.map(|endpoint| endpoint.address).collect();
    Side::new(before, after, enabled, addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_judged_by_the_counters_of_its_hosts() {
        let short = |partly, joins| Finding::Short {
            partly,
            what: format!("{joins} subflows joined where 2 were expected"),
        };
        assert_eq!(finding_of_command(Some(2), 2), Finding::AsExpected);
        assert_eq!(finding_of_command(Some(1), 2), short(true, 1));
        assert_eq!(finding_of_command(Some(0), 2), short(false, 0));
        assert!(matches!(finding_of_command(None, 2), Finding::Unknown(_)));
    }
}
