//! Views of what the controller knows, for people and recordings.

use std::net::IpAddr;

use crate::controller::Controller;
use crate::events::Event;
use crate::place::{Link, PortRef};
use crate::subflows::{Flow, Kind, State};

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchView {
    /// The number of its datapath.
    pub datapath: u64,
    /// Whether it has a connection, and its first rules.
    pub is_connected: bool,
    /// The round trip of its control channel, ns.
    pub control_round_trip_ns: Option<u64>,
    /// Its ports: number, name, whether it is up, bit/s that go out.
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
    /// Whether all switches have its rules.
    pub is_active: bool,
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
    /// Its subflows, the first one first.
    pub subflows: Vec<PlacedSubflow>,
}

impl Controller {
    /// The name of the policy.
    pub fn policy_name(&self) -> &str {
        self.policy.name()
    }

    /// The network as it is known now.
    pub fn topology(&self) -> TopologyView {
        let switches = self.topology.switches.iter().map(|(datapath, switch)| {
            let ports = switch.ports.iter().map(|(number, port)| PortView {
                port: *number,
                name: port.description.name.to_string(),
                is_up: port.is_up,
                sent_bps: port.load.sent_bps,
            });
            SwitchView {
                datapath: *datapath,
                is_connected: switch.can_be_told(),
                control_round_trip_ns: switch.round_trip.least(),
                ports: ports.collect(),
            }
        });
        let links = self.topology.links().map(|link| LinkView {
            link,
            rate_bps: self.rate_bps(&link),
            delay_ns: self.delay_of(&link).map(|(least, _)| least),
            load_bps: self
                .topology
                .port(link.from)
                .map_or(0, |port| port.load.sent_bps),
            subflows: self.link_use.get(&link).copied().unwrap_or(0),
        });
        TopologyView {
            switches: switches.collect(),
            links: links.collect(),
            hosts: self.hosts.all().map(|(ip, host)| (ip, host.at)).collect(),
        }
    }

    /// All connections that are remembered, in the order in which they were opened.
    pub fn connections(&self) -> Vec<ConnectionView> {
        let numbers = self.table.connection_numbers().into_iter();
        let view = |number| {
            let known = self.table.connection(number)?;
            let subflows = known.subflows.iter();
            let subflows = subflows.filter_map(|subflow| self.table.subflow(*subflow));
            Some(ConnectionView {
                connection: number,
                is_multipath: known.kind == Kind::Multipath,
                opened_ns: known.opened_ns,
                expected_bytes: known.expected_bytes,
                subflows: subflows
                    .map(|subflow| PlacedSubflow {
                        flow: subflow.flow,
                        path: subflow.path.to_vec(),
                        is_active: subflow.state == State::Active,
                    })
                    .collect(),
            })
        };
        numbers.filter_map(view).collect()
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
