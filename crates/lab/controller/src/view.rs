//! Views of what the controller knows, for people and recordings.

use std::net::IpAddr;

use crate::controller::Controller;
use crate::events::Event;
use crate::forwarding::rules::{self, Rule};
use crate::messages;
use crate::place::{Link, PortRef};
use crate::subflows::{Flow, Kind, State, Subflow};

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchView {
    /// The number of its datapath.
    pub datapath: u64,
    /// Whether it has a connection, and its first rules.
    pub is_connected: bool,
    /// The round trip of its control channel, ns.
    pub control_round_trip_ns: Option<u64>,
    /// Its ports, by their numbers.
    pub ports: Vec<PortView>,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortView {
    /// The number.
    pub port: u32,
    /// The name.
    pub name: String,
    /// Whether it can send and receive.
    pub is_up: bool,
    /// Its rate, bit/s, where known.
    pub rate_bps: Option<u64>,
    /// Load, bit/s in the direction that goes out.
    pub sent_bps: u64,
}

/// A link, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// The link.
    pub link: Link,
    /// Its rate, bit/s, where known.
    pub rate_bps: Option<u64>,
    /// Its delay without queues, ns, as measured.
    pub delay_ns: Option<u64>,
    /// Load in its direction, bit/s.
    pub load_bps: u64,
    /// Subflows that have a path over it in this direction.
    pub subflows: usize,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyView {
    /// Switches by their datapaths.
    pub switches: Vec<SwitchView>,
    /// Links in both directions.
    pub links: Vec<LinkView>,
    /// Hosts by their addresses, with their ports.
    pub hosts: Vec<(IpAddr, PortRef)>,
}

/// A subflow with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSubflow {
    /// Addresses and ports, from its opener.
    pub flow: Flow,
    /// Links of its path, from the opener's switch.
    pub path: Vec<Link>,
    /// The state of its rules.
    pub state: State,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionView {
    /// Its number, as in events.
    pub connection: u64,
    /// Whether it is of MPTCP.
    pub is_multipath: bool,
    /// The time at which it was opened, ns.
    pub opened_ns: u64,
    /// Bytes of its transfer, where known when it began.
    pub expected_bytes: Option<u64>,
    /// Tokens of the opener and of the other end, where their keys were seen.
    pub tokens: [Option<u32>; 2],
    /// Its subflows, the first one first.
    pub subflows: Vec<PlacedSubflow>,
}

/// A rule of a subflow, as its switch was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleView {
    /// The connection's number, as in events.
    pub connection: u64,
    /// The switch.
    pub datapath: u64,
    /// The priority, in table 0.
    pub priority: u16,
    /// The port by which packets come that it matches.
    pub in_port: u32,
    /// Addresses and ports of packets that it matches.
    pub flow: Flow,
    /// The port that packets go out by.
    pub out_port: u32,
    /// The port that they go out by while the link at the other one has failed.
    pub instead_port: Option<u32>,
    /// Whether the controller gets a copy of each packet.
    pub copies: bool,
    /// Seconds without a packet after which the switch removes it; `None`: it belongs to a way round
    /// a link, and waits for its failure.
    pub idle_s: Option<u16>,
}

impl Controller {
    /// The name of the policy.
    pub fn policy_name(&self) -> &str {
        self.policy.name()
    }

    /// The network as it is known now.
    pub fn topology(&self) -> TopologyView {
        TopologyView {
            switches: self.switch_views().collect(),
            links: self.link_views().collect(),
            hosts: self.host_views().collect(),
        }
    }

    /// Switches by their datapaths.
    pub fn switch_views(&self) -> impl Iterator<Item = SwitchView> {
        let switches = self.topology.switches.iter();
        switches.map(|(datapath, switch)| {
            let ports = switch.ports.iter().map(|(number, port)| PortView {
                port: *number,
                name: port.description.name.to_string(),
                is_up: port.is_up,
                rate_bps: self.port_rate_bps(PortRef::new(*datapath, *number)),
                sent_bps: port.load.sent_bps,
            });
            SwitchView {
                datapath: *datapath,
                is_connected: switch.can_be_told(),
                control_round_trip_ns: switch.round_trip.least(),
                ports: ports.collect(),
            }
        })
    }

    /// Links in both directions.
    pub fn link_views(&self) -> impl Iterator<Item = LinkView> {
        self.topology.links().map(|link| LinkView {
            link,
            rate_bps: self.rate_bps(&link),
            delay_ns: self.delay_of(&link).map(|(least, _)| least),
            load_bps: self
                .topology
                .port(link.from)
                .map_or(0, |port| port.load.sent_bps),
            subflows: self.link_use.count(&link),
        })
    }

    /// Hosts by their addresses, with their ports.
    pub fn host_views(&self) -> impl Iterator<Item = (IpAddr, PortRef)> {
        self.hosts.all().map(|(ip, host)| (ip, host.at))
    }

    /// All connections that are remembered, in the order in which they were opened.
    pub fn connections(&self) -> Vec<ConnectionView> {
        self.connection_views().collect()
    }

    /// The number of connections that are remembered.
    pub fn connection_count(&self) -> usize {
        self.table.len()
    }

    /// All connections that are remembered, in the order in which they were opened.
    pub fn connection_views(&self) -> impl DoubleEndedIterator<Item = ConnectionView> {
        self.table.connections().map(|(number, known)| {
            let subflows = known.subflows.iter();
            let subflows = subflows.filter_map(|subflow| self.table.subflow(*subflow));
            ConnectionView {
                connection: number,
                is_multipath: known.kind == Kind::Multipath,
                opened_ns: known.opened_ns,
                expected_bytes: known.expected_bytes,
                tokens: known.tokens,
                subflows: subflows
                    .map(|subflow| PlacedSubflow {
                        flow: subflow.flow,
                        path: subflow.path.to_vec(),
                        state: subflow.state,
                    })
                    .collect(),
            }
        })
    }

    /// The rules that switches were given for the subflows of a connection, by subflows, those of
    /// the last switch of a path first.
    pub fn rules_of(&self, connection: u64) -> impl Iterator<Item = RuleView> {
        let known = self.table.connection(connection).into_iter();
        let subflows = known.flat_map(|known| &known.subflows);
        let subflows = subflows.filter_map(|subflow| self.table.subflow(*subflow));
        let subflows = subflows.filter(|subflow| subflow.state != State::Idle);
        subflows.flat_map(|subflow| {
            let rules = rules::all(subflow).into_iter();
            rules.map(|rule| self.rule_view(subflow, &rule))
        })
    }

    fn rule_view(&self, subflow: &Subflow, rule: &Rule) -> RuleView {
        RuleView {
            connection: subflow.connection,
            datapath: rule.datapath,
            priority: messages::SUBFLOW,
            in_port: rule.output.in_port,
            flow: rule.flow,
            out_port: rule.output.out_port,
            instead_port: rule.output.instead,
            copies: rule.copies,
            idle_s: rule.ages.then_some(self.config.rule_idle_s),
        }
    }

    /// The events from a number on that are still kept: number, time (ns), event. The first event
    /// has the number 0.
    pub fn events_since(&self, number: u64) -> impl Iterator<Item = (u64, u64, &Event)> {
        self.events.since(number)
    }

    /// Entries of all tables that grow with hosts and their packets.
    pub fn table_entries(&self) -> usize {
        self.table.entries()
            + self.hosts.all().count()
            + self.installs.len()
            + self.barriers.len()
            + self.waiting.len()
            + self.timers.len()
    }
}
