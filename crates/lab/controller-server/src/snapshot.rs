//! A copy of what the controller knows, of bounded size, for readers in other threads.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use mptcplab_controller::{ConnectionView, Controller, LinkView, PortRef, RuleView, SwitchView};

use crate::history::{History, Sample};
use crate::row::Row;

/// Ports of all switches together. A switch whose ports are too many is left out.
const PORTS: usize = 16_384;
/// Links, each direction by itself.
const LINKS: usize = 8_192;
const HOSTS: usize = 8_192;
/// The connections opened last.
const CONNECTIONS: usize = 500;
/// Rules of these connections.
const RULES: usize = 10_000;
/// Events.
const EVENTS: usize = 1_000;

/// The last events that were told, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct LastRows {
    /// The number of the next one.
    next: u64,
    kept: VecDeque<(u64, Arc<Row>)>,
}

impl LastRows {
    pub(crate) fn add(&mut self, row: Row) {
        if self.kept.len() == EVENTS {
            self.kept.pop_front();
        }
        self.kept.push_back((self.next, Arc::new(row)));
        self.next += 1;
    }
}

/// All that is shown, as it was at a time. Lists that were cut are not complete.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Time since the server began, ns.
    pub(crate) t_ns: u64,
    pub(crate) policy: String,
    pub(crate) switches: Vec<SwitchView>,
    pub(crate) links: Vec<LinkView>,
    pub(crate) hosts: Vec<(IpAddr, PortRef)>,
    /// Whether no switch, link or host was left out.
    pub(crate) has_whole_topology: bool,
    /// The connections opened last, the last one first.
    pub(crate) connections: Vec<ConnectionView>,
    /// All connections that the controller remembers.
    pub(crate) connection_count: usize,
    /// Rules of the connections, in their order.
    pub(crate) rules: Vec<RuleView>,
    /// Whether all rules of all connections are there.
    pub(crate) has_all_rules: bool,
    /// The last events with their numbers, the oldest first.
    pub(crate) events: Vec<(u64, Arc<Row>)>,
    /// The last minutes, the oldest sample first.
    pub(crate) samples: Vec<Arc<Sample>>,
}

impl Snapshot {
    pub(crate) fn new(
        t_ns: u64,
        controller: &Controller,
        events: &LastRows,
        history: &History,
    ) -> Self {
        let mut ports = 0;
        let mut all_switches = controller.switch_views();
        let switches: Vec<SwitchView> = all_switches
            .by_ref()
            .take_while(|switch| {
                ports += switch.ports.len();
                ports <= PORTS
            })
            .collect();
        let (links, has_all_links) = bounded(controller.link_views(), LINKS);
        let (hosts, has_all_hosts) = bounded(controller.host_views(), HOSTS);
        let (connections, has_all_connections) =
            bounded(controller.connection_views().rev(), CONNECTIONS);
        let rules = connections
            .iter()
            .flat_map(|connection| controller.rules_of(connection.connection));
        let (rules, has_all_rules) = bounded(rules, RULES);
        Self {
            t_ns,
            policy: controller.policy_name().to_owned(),
            switches,
            links,
            hosts,
            has_whole_topology: ports <= PORTS && has_all_links && has_all_hosts,
            connection_count: controller.connection_count(),
            rules,
            has_all_rules: has_all_rules && has_all_connections,
            connections,
            events: events.kept.iter().cloned().collect(),
            samples: history.samples(),
        }
    }
}

/// The first items, `most` at most, and whether these are all.
fn bounded<T>(mut items: impl Iterator<Item = T>, most: usize) -> (Vec<T>, bool) {
    let taken = items.by_ref().take(most).collect();
    (taken, items.next().is_none())
}
