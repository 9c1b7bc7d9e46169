//! Whether what was called multipath was: a run in which an expected subflow did not join is
//! reported, with the likely reason.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Counters of a node by the kernel's names, such as `MPTcpExtMPJoinSynAckRx`.
pub type Mib = BTreeMap<String, i64>;

/// Joins and fallbacks of the connections of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Connections of which the joins are known.
    known: u32,
    /// Connections with fewer joins than expected.
    short: u32,
    /// Connections of which the joins are not known.
    unknown: u32,
    /// Connections that spoke plain TCP.
    fallbacks: u32,
}

impl Tally {
    /// Counts a connection, or the attempt to have one.
    pub fn count(&mut self, joins: Option<u32>, expected: u32, fallback: bool) {
        self.known += u32::from(joins.is_some());
        self.unknown += u32::from(joins.is_none());
        self.short += u32::from(joins.is_some_and(|joins| joins < expected));
        self.fallbacks += u32::from(fallback);
    }

    /// Connections that spoke plain TCP although MPTCP was asked for.
    pub fn fallbacks(&self) -> u32 {
        self.fallbacks
    }

    /// The finding about connections that expected so many joins; `why_unknown` is why those of
    /// some may not be known.
    pub fn finding(&self, expected: u32, why_unknown: &str) -> Finding {
        let Self {
            known,
            short,
            unknown,
            ..
        } = *self;
        let unsure = format!(
            "the joins of {unknown} of {} connections are unknown: {why_unknown}",
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

/// The joins of a flow, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// All that were expected.
    AsExpected,
    /// Fewer.
    Short {
        /// Some have them.
        partly: bool,
        /// How many are missing, as a sentence.
        what: String,
    },
    /// Nothing against it, but not all is known.
    Unknown(String),
}

impl Finding {
    /// The warning that follows, if any; `evidence` is looked at only where something is amiss.
    pub fn warning(self, evidence: impl FnOnce() -> Evidence) -> Option<String> {
        let (partly, what) = match self {
            Self::AsExpected => return None,
            Self::Unknown(why) => {
                return Some(format!("whether it was multipath is not known: {why}"));
            }
            Self::Short { partly, what } => (partly, what),
        };
        let evidence = evidence();
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
}

/// Evidence of one node.
#[derive(Clone, Debug)]
pub struct Side {
    /// By how much each counter of MPTCP grew, by the names without `MPTcpExt`; those that the node
    /// does not have are absent.
    grown: Mib,
    /// `net.mptcp.enabled`; `None` where the kernel has no MPTCP.
    enabled: Option<bool>,
    /// Addresses from which the path manager opens subflows.
    endpoints: Vec<IpAddr>,
}

impl Side {
    /// A node with its counters from before the traffic and from after it.
    pub fn new(before: &Mib, after: &Mib, enabled: Option<bool>, endpoints: Vec<IpAddr>) -> Self {
        let grown = |(name, value): (&String, &i64)| {
            let before = before.get(name).copied().unwrap_or(0);
            Some((name.strip_prefix("MPTcpExt")?.to_owned(), value - before))
        };
        Self {
            grown: after.iter().filter_map(grown).collect(),
            enabled,
            endpoints,
        }
    }

    /// By how much a counter grew; `None` where the node does not have it.
    pub fn grew(&self, name: &str) -> Option<i64> {
        self.grown.get(name).copied()
    }

    fn has_grown(&self, name: &str) -> bool {
        self.grew(name).is_some_and(|count| count > 0)
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

/// Evidence of both nodes.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The client's node.
    pub client: Side,
    /// The server's node.
    pub server: Side,
    /// Connections that spoke plain TCP.
    pub fallbacks: u32,
}

impl Evidence {
    /// The likely reason, in the order in which a connection meets the obstacles.
    fn likely_reason(&self) -> &'static str {
        let (client, server) = (&self.client, &self.server);
        let any = |side: &Side, names: &[&str]| names.iter().any(|name| side.has_grown(name));
        if client.enabled != Some(true) {
            return "MPTCP is switched off at the client (net.mptcp.enabled)";
        }
        if server.enabled != Some(true) {
            return "MPTCP is switched off at the server (net.mptcp.enabled)";
        }
        if self.fallbacks > 0 {
            if any(client, &["MPCapableFallbackSYNACK", "MPCapableSYNTXDrop"]) {
                return "The connection fell back to TCP in its handshake: the server's socket is not \
                        MPTCP, or something on the way removes the option, or drops what has it";
            }
            return "The connection fell back to TCP";
        }
        if client.grew("MPCapableSYNACKRX") == Some(0) {
            return "The connection never stood: nothing with MPTCP answered its SYN";
        }
        // With a full mesh over disjoint paths some pairs of addresses have no route: what did leave
        // tells more.
        let is_lost = client.has_grown("MPJoinSynTx") && !server.has_grown("MPJoinSynRx");
        if !is_lost
            && any(
                client,
                &[
                    "MPJoinSynTxBindErr",
                    "MPJoinSynTxConnectErr",
                    "MPJoinSynTxCreatSkErr",
                ],
            )
        {
            return "The client could not open the subflow: no route from that endpoint's address, or \
                    the address is not there";
        }
        if client.grew("MPJoinSynTx") == Some(0) && !server.has_grown("MPJoinSynRx") {
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
            return "The server rejected the subflow: its limit is too low, or its program is done";
        }
        if any(server, &["MPJoinAckHMacFailure"]) || any(client, &["MPJoinSynAckHMacFailure"]) {
            return "The subflow's authentication failed";
        }
        if !server.has_grown("MPJoinSynRx") {
            return "The client's join did not reach the server: the packets from that address have no \
                    route by source, or the path drops them or removes their option";
        }
        if !client.has_grown("MPJoinSynAckRx") {
            return "The server's answer to the join did not reach the client: no listener on the \
                    address, no route back, or the path drops it";
        }
        if client.has_grown("MPRstRx") {
            return "Subflows began to join and were reset: something on the way may remove options or \
                    change the data";
        }
        "Subflows did join, but on other connections or too late: the connection may be too short"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHY: &str = "they never stood, or the kernel's events were lost";
    const KNOWN: [&str; 8] = [
        "MPCapableSYNACKRX",
        "MPRstRx",
        "MPJoinSynTx",
        "MPJoinSynTxConnectErr",
        "MPJoinSynRx",
        "MPJoinSynAckRx",
        "MPJoinRejected",
        "MPCapableFallbackSYNACK",
    ];

    fn side(grown: &[&str]) -> Side {
        let mib = |value: fn(bool) -> i64| -> Mib {
            let value = |name: &&str| (format!("MPTcpExt{name}"), value(grown.contains(name)));
            KNOWN.iter().map(value).collect()
        };
        let (before, after) = (mib(|_| 5), mib(|grown| 5 + i64::from(grown)));
        Side::new(
            &before,
            &after,
            Some(true),
            vec!["10.0.2.2".parse().unwrap()],
        )
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
        tally.finding(2, WHY)
    }

    #[test]
    fn connections_without_a_known_count_are_not_passed_over() {
        let unsure = |text: &str| format!("the joins of {text} connections are unknown: {WHY}");
        let short = |partly, what: &str| Finding::Short {
            partly,
            what: what.to_owned(),
        };
        assert_eq!(finding(&[Some(2), Some(3)]), Finding::AsExpected);
        assert_eq!(
            finding(&[Some(2), None]),
            Finding::Unknown(unsure("1 of 2"))
        );
        assert_eq!(finding(&[None]), Finding::Unknown(unsure("1 of 1")));
        let half = "1 of 2 connections had fewer joins than the 2 expected";
        assert_eq!(finding(&[Some(2), Some(1)]), short(true, half));
        let none = "1 of 1 connections had fewer joins than the 2 expected";
        assert_eq!(
            finding(&[Some(0), None]),
            short(false, &format!("{none}; {}", unsure("1 of 2")))
        );
    }

    #[test]
    fn the_first_obstacle_is_named() {
        let off = |enabled| Side {
            enabled,
            ..side(&[])
        };
        let client = |grown: &[&str]| side(&[&["MPCapableSYNACKRX"], grown].concat());
        let no_endpoint = Side {
            endpoints: vec![],
            ..client(&[])
        };
        for (client, server, fallbacks, part) in [
            (off(Some(false)), side(&[]), 1, "off at the client"),
            (side(&[]), off(None), 1, "off at the server"),
            (
                side(&["MPCapableFallbackSYNACK"]),
                side(&[]),
                1,
                "in its handshake",
            ),
            (side(&[]), side(&[]), 1, "fell back to TCP"),
            (side(&[]), side(&[]), 0, "never stood"),
            (
                client(&["MPJoinSynTxConnectErr"]),
                side(&[]),
                0,
                "no route from that endpoint",
            ),
            (no_endpoint, side(&[]), 0, "no endpoint that opens subflows"),
            (client(&[]), side(&[]), 0, "limit of subflows is zero"),
            (
                client(&["MPJoinSynTx", "MPJoinSynTxConnectErr"]),
                side(&[]),
                0,
                "did not reach the server",
            ),
            (
                client(&["MPJoinSynTx"]),
                side(&["MPJoinSynRx", "MPJoinRejected"]),
                0,
                "too low",
            ),
            (
                client(&["MPJoinSynTx"]),
                side(&["MPJoinSynRx"]),
                0,
                "did not reach the client",
            ),
            (
                client(&["MPJoinSynTx", "MPJoinSynAckRx"]),
                side(&["MPJoinSynRx"]),
                0,
                "too short",
            ),
            (
                client(&["MPJoinSynTx", "MPJoinSynAckRx", "MPRstRx"]),
                side(&["MPJoinSynRx"]),
                0,
                "were reset",
            ),
        ] {
            let reason = reason(client, server, fallbacks);
            assert!(reason.contains(part), "{reason} instead of {part}");
        }
    }

    #[test]
    fn a_kernel_without_a_counter_is_not_accused_by_it() {
        let mut client = side(&[]);
        client.grown.remove("MPJoinSynTx");
        client.grown.remove("MPCapableSYNACKRX");
        assert!(reason(client, side(&[]), 0).contains("did not reach the server"));
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
