//! Whether what was called multipath was: a run in which an expected subflow did not join is
//! reported, with the likely reason, in the words of the kernel engine.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::core::Core;

/// Counters of a node by the kernel's names, such as `MPTcpExtMPJoinSynAckRx`.
pub(crate) type Mib = BTreeMap<String, i64>;

/// What the connections of an item had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Connections of which the joins are known.
    known: u32,
    /// Connections with fewer joins than expected.
    short: u32,
    /// Connections of which the joins are not known: they never stood.
    unknown: u32,
    /// Connections that spoke plain TCP.
    fallbacks: u32,
}

impl Tally {
    /// Counts a connection, or the attempt to have one.
    pub(super) fn count(&mut self, joins: Option<u32>, expected: u32, fallback: bool) {
        self.known += u32::from(joins.is_some());
        self.unknown += u32::from(joins.is_none());
        self.short += u32::from(joins.is_some_and(|joins| joins < expected));
        self.fallbacks += u32::from(fallback);
    }

    /// What is to be said of connections that expected so many joins.
    fn finding(&self, expected: u32) -> Finding {
        let Self {
            known,
            short,
            unknown,
            ..
        } = *self;
        let unsure = format!(
            "the joins of {unknown} of {} connections are unknown: they never stood",
            known + unknown
        );
        if short == 0 {
            return if unknown == 0 {
                Finding::AsExpected
            } else {
                Finding::Unknown(unsure)
            };
        }
        let mut what =
            format!("{short} of {known} connections had fewer joins than the {expected} expected");
        if unknown > 0 {
            what = format!("{what}; {unsure}");
        }
        Finding::Short {
            partly: short < known,
            what,
        }
    }
}

/// What is known of the joins of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    /// All that were expected.
    AsExpected,
    /// Fewer; `partly` where some were.
    Short { partly: bool, what: String },
    /// Nothing against it, but not all is known.
    Unknown(String),
}

/// The counters of both nodes at one time.
#[derive(Debug)]
pub(super) struct Counters([Mib; 2]);

impl Counters {
    /// Reads them now.
    pub(super) fn read(core: &Core, client: usize, server: usize) -> Self {
        Self([core.mib(client), core.mib(server)])
    }
}

/// What to warn of after an item that has ended, if anything; `before` are the counters from
/// before it began.
pub(super) fn judge(
    core: &Core,
    [client, server]: [usize; 2],
    before: Counters,
    tally: Tally,
    expected: u32,
) -> Option<String> {
    let (partly, what) = match tally.finding(expected) {
        Finding::AsExpected => return None,
        Finding::Unknown(why) => {
            return Some(format!("whether it was multipath is not known: {why}"));
        }
        Finding::Short { partly, what } => (partly, what),
    };
    let [client_before, server_before] = before.0;
    let evidence = Evidence {
        client: Side::new(core, client, &client_before),
        server: Side::new(core, server, &server_before),
        fallbacks: tally.fallbacks,
    };
    let verdict = if partly {
        "PARTLY MULTIPATH"
    } else {
        "NOT MULTIPATH"
    };
    Some(format!(
        "{verdict}: {what}. {}. ({}; {})",
        evidence.likely_reason(),
        evidence.client.summary("client"),
        evidence.server.summary("server"),
    ))
}

/// What is known of one node.
struct Side {
    /// By how much each counter grew, by the names without `MPTcpExt`.
    grown: Mib,
    /// `net.mptcp.enabled`.
    enabled: bool,
    /// Addresses from which the path manager opens subflows.
    endpoints: Vec<IpAddr>,
}

impl Side {
    fn new(core: &Core, node: usize, before: &Mib) -> Self {
        let grown = |(name, value): (String, i64)| {
            let before = before.get(&name).copied().unwrap_or(0);
            Some((name.strip_prefix("MPTcpExt")?.to_owned(), value - before))
        };
        Self {
            grown: core.mib(node).into_iter().filter_map(grown).collect(),
            enabled: core.speaks_mptcp(node),
            endpoints: core.nodes[node].subflow_endpoints(),
        }
    }

    fn has_grown(&self, name: &str) -> bool {
        self.grown.get(name).is_some_and(|&count| count > 0)
    }

    /// The counters of joins and fallbacks that are not zero, and the endpoints.
    fn summary(&self, role: &str) -> String {
        let relevant = |name: &str| {
            name.contains("Join") || name.contains("Fallback") || name.contains("MPRst")
        };
        let counters = self.grown.iter();
        let counters = counters.filter(|&(name, &value)| value != 0 && relevant(name));
        let counters = counters.map(|(name, value)| format!("{name} {value}"));
        let counters = counters.collect::<Vec<_>>().join(", ");
        let counters = if counters.is_empty() {
            "no joins"
        } else {
            &counters
        };
        let endpoints = self.endpoints.iter().map(IpAddr::to_string);
        let endpoints = endpoints.collect::<Vec<_>>().join(", ");
        let endpoints = if endpoints.is_empty() {
            "none"
        } else {
            &endpoints
        };
        format!("{role}: {counters}, endpoints for subflows: {endpoints}")
    }
}

/// What is known of both.
struct Evidence {
    client: Side,
    server: Side,
    fallbacks: u32,
}

impl Evidence {
    /// The likely reason, in the order in which a connection meets the obstacles.
    fn likely_reason(&self) -> &'static str {
        let (client, server) = (&self.client, &self.server);
        let any = |side: &Side, names: &[&str]| names.iter().any(|name| side.has_grown(name));
        if !client.enabled {
            return "MPTCP is switched off at the client (net.mptcp.enabled)";
        }
        if !server.enabled {
            return "MPTCP is switched off at the server (net.mptcp.enabled)";
        }
        if self.fallbacks > 0 {
            if any(client, &["MPCapableFallbackSYNACK", "MPCapableSYNTXDrop"]) {
                return "The connection fell back to TCP in its handshake: the server's socket is not \
                        MPTCP, or something on the way removes the option";
            }
            return "The connection fell back to TCP";
        }
        if any(
            client,
            &[
                "MPJoinSynTxBindErr",
                "MPJoinSynTxConnectErr",
                "MPJoinSynTxCreatSkErr",
            ],
        ) {
            return "The client could not open the subflow: no route from that endpoint's address, or \
                    the address is not there";
        }
        if !client.has_grown("MPJoinSynTx") && !server.has_grown("MPJoinSynRx") {
            if client.endpoints.is_empty() {
                return "The client never tried: it has no endpoint that opens subflows";
            }
            return "The client never tried: its limit of subflows is zero, its only endpoint is the \
                    address of the connection itself, or the connection ended too early";
        }
        if any(server, &["MPJoinNoTokenFound"]) {
            return "The server did not know the connection that the subflow wanted to join: it had \
                    ended, or the subflow reached another host";
        }
        if any(server, &["MPJoinRejected"]) {
            return "The server rejected the subflow: its limit of subflows is too low";
        }
        if any(server, &["MPJoinAckHMacFailure"]) || any(client, &["MPJoinSynAckHMacFailure"]) {
            return "The subflow's authentication failed";
        }
        if !server.has_grown("MPJoinSynRx") {
            return "The client's join did not reach the server: the packets from that address have no \
                    route by source, or the path drops them";
        }
        if !client.has_grown("MPJoinSynAckRx") {
            return "The server's answer to the join did not reach the client: no listener on the \
                    address, no route back, or the path drops it";
        }
        "Subflows did join, but on other connections or too late: the connection may be too short"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(grown: &[&str]) -> Side {
        Side {
            grown: grown.iter().map(|&name| (name.to_owned(), 1)).collect(),
            enabled: true,
            endpoints: vec!["10.0.2.2".parse().unwrap()],
        }
    }

    fn reason(client: Side, server: Side, fallbacks: u32) -> &'static str {
        Evidence {
            client,
            server,
            fallbacks,
        }
        .likely_reason()
    }

    fn finding(joins: &[Option<u32>]) -> Finding {
        let mut tally = Tally::default();
        joins.iter().for_each(|&joins| tally.count(joins, 2, false));
        tally.finding(2)
    }

    #[test]
    fn connections_that_never_stood_are_not_passed_over() {
        let unsure =
            |text: &str| format!("the joins of {text} connections are unknown: they never stood");
        assert_eq!(finding(&[Some(2), Some(3)]), Finding::AsExpected);
        assert_eq!(
            finding(&[Some(2), None]),
            Finding::Unknown(unsure("1 of 2"))
        );
        let half = "1 of 2 connections had fewer joins than the 2 expected".to_owned();
        assert_eq!(
            finding(&[Some(2), Some(1)]),
            Finding::Short {
                partly: true,
                what: half
            }
        );
        let none = "1 of 1 connections had fewer joins than the 2 expected";
        assert_eq!(
            finding(&[Some(0), None]),
            Finding::Short {
                partly: false,
                what: format!("{none}; {}", unsure("1 of 2"))
            }
        );
    }

    #[test]
    fn the_first_obstacle_is_named() {
        let off = || Side {
            enabled: false,
            ..side(&[])
        };
        let no_endpoint = Side {
            endpoints: vec![],
            ..side(&[])
        };
        let refused = "MPCapableFallbackSYNACK";
        for (client, server, fallbacks, part) in [
            (off(), side(&[]), 1, "off at the client"),
            (side(&[]), off(), 1, "off at the server"),
            (side(&[refused]), side(&[]), 1, "in its handshake"),
            (side(&[]), side(&[]), 1, "fell back to TCP"),
            (side(&["MPJoinSynTxConnectErr"]), side(&[]), 0, "no route"),
            (no_endpoint, side(&[]), 0, "no endpoint that opens subflows"),
            (side(&[]), side(&[]), 0, "limit of subflows is zero"),
            (side(&["MPJoinSynTx"]), side(&[]), 0, "not reach the server"),
            (
                side(&["MPJoinSynTx"]),
                side(&["MPJoinSynRx", "MPJoinRejected"]),
                0,
                "too low",
            ),
            (
                side(&["MPJoinSynTx"]),
                side(&["MPJoinSynRx"]),
                0,
                "did not reach the client",
            ),
            (
                side(&["MPJoinSynTx", "MPJoinSynAckRx"]),
                side(&["MPJoinSynRx"]),
                0,
                "too short",
            ),
        ] {
            let reason = reason(client, server, fallbacks);
            assert!(reason.contains(part), "{reason} instead of {part}");
        }
    }

    #[test]
    fn the_summary_tells_what_grew() {
        let text = side(&["MPJoinSynTx"]).summary("client");
        assert_eq!(
            text,
            "client: MPJoinSynTx 1, endpoints for subflows: 10.0.2.2"
        );
    }
}
