//! The network: switches, their ports, the links between these, and hosts.

mod capacity;
mod claims;
mod discovery;
mod hosts;
mod lldp;
mod switch;

use std::collections::BTreeMap;

pub(crate) use hosts::Hosts;
pub(crate) use switch::{SwitchPort, SwitchState};

use crate::paths::Graph;
use crate::place::{Link, PortRef};

/// Switches and links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    pub(crate) switches: BTreeMap<u64, SwitchState>,
}

impl Topology {
    pub(crate) fn port(&self, at: PortRef) -> Option<&SwitchPort> {
        self.switches.get(&at.datapath)?.ports.get(&at.port)
    }

    pub(crate) fn port_mut(&mut self, at: PortRef) -> Option<&mut SwitchPort> {
        self.switches.get_mut(&at.datapath)?.ports.get_mut(&at.port)
    }

    pub(crate) fn is_connected(&self, datapath: u64) -> bool {
        let found = self.switches.get(&datapath);
        found.is_some_and(SwitchState::can_be_told)
    }

    /// The other end of the link at a port, if both directions are known.
    pub(crate) fn peer(&self, at: PortRef) -> Option<PortRef> {
        let peer = self.port(at)?.peer.as_ref()?.at;
        let back = self.port(peer)?.peer.as_ref()?.at;
        (back == at).then_some(peer)
    }

    /// Whether a link is there, in both directions.
    pub(crate) fn has(&self, link: &Link) -> bool {
        self.peer(link.from) == Some(link.to)
    }

    /// All links, each in both directions.
    pub(crate) fn links(&self) -> impl Iterator<Item = Link> {
        let ports = self.switches.iter().flat_map(|(datapath, switch)| {
            let ports = switch.ports.keys();
            ports.map(|port| PortRef::new(*datapath, *port))
        });
        ports.filter_map(|from| self.peer(from).map(|to| Link { from, to }))
    }

    /// The graph of links between switches that can be given rules now.
    pub(crate) fn graph(&self) -> Graph {
        let links = self.links().filter(|link| {
            self.is_connected(link.from.datapath) && self.is_connected(link.to.datapath)
        });
        Graph::new(links)
    }

    /// Ports that are up and have no link, by switch: those that may have hosts.
    pub(crate) fn host_ports(&self) -> impl Iterator<Item = (u64, Vec<u32>)> {
        let connected = self.switches.iter();
        connected
            .filter(|(_, switch)| switch.can_be_told())
            .map(|(datapath, switch)| {
                let ports = switch.ports.iter();
                let ports = ports.filter(|(_, port)| port.is_up && port.peer.is_none());
                (*datapath, ports.map(|(number, _)| *number).collect())
            })
    }
}
