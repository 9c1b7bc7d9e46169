//! The network as a document.

use mptcplab_controller::{LinkView, SwitchView};
use serde::Serialize;

use crate::names;
use crate::snapshot::Snapshot;

/// The network with its load.
#[derive(Debug, Serialize)]
pub(crate) struct Topology {
    pub(crate) t_ns: u64,
    pub(crate) policy: String,
    pub(crate) is_complete: bool,
    pub(crate) switches: Vec<Switch>,
    /// Each direction by itself.
    pub(crate) links: Vec<Link>,
    pub(crate) hosts: Vec<Host>,
}

/// A switch.
#[derive(Debug, Serialize)]
pub(crate) struct Switch {
    pub(crate) switch: String,
    pub(crate) is_connected: bool,
    pub(crate) control_round_trip_ns: Option<u64>,
    pub(crate) ports: Vec<Port>,
}

/// A port.
#[derive(Debug, Serialize)]
pub(crate) struct Port {
    pub(crate) port: u32,
    pub(crate) name: String,
    pub(crate) is_up: bool,
    pub(crate) rate_bps: Option<u64>,
    /// Load in the direction that goes out.
    pub(crate) sent_bps: u64,
}

/// A direction of a link.
#[derive(Debug, Serialize)]
pub(crate) struct Link {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) rate_bps: Option<u64>,
    pub(crate) delay_ns: Option<u64>,
    pub(crate) load_bps: u64,
    pub(crate) subflows: usize,
}

/// An address of a host.
#[derive(Debug, Serialize)]
pub(crate) struct Host {
    pub(crate) host: String,
    pub(crate) port: String,
}

impl Topology {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let hosts = snapshot.hosts.iter().map(|(ip, at)| Host {
            host: ip.to_string(),
            port: names::port(*at),
        });
        Self {
            t_ns: snapshot.t_ns,
            policy: snapshot.policy.clone(),
            is_complete: snapshot.has_whole_topology,
            switches: snapshot.switches.iter().map(switch).collect(),
            links: snapshot.links.iter().map(link).collect(),
            hosts: hosts.collect(),
        }
    }
}

fn switch(view: &SwitchView) -> Switch {
    let ports = view.ports.iter().map(|port| Port {
        port: port.port,
        name: port.name.clone(),
        is_up: port.is_up,
        rate_bps: port.rate_bps,
        sent_bps: port.sent_bps,
    });
    Switch {
        switch: names::switch(view.datapath),
        is_connected: view.is_connected,
        control_round_trip_ns: view.control_round_trip_ns,
        ports: ports.collect(),
    }
}

fn link(view: &LinkView) -> Link {
    Link {
        from: names::port(view.link.from),
        to: names::port(view.link.to),
        rate_bps: view.rate_bps,
        delay_ns: view.delay_ns,
        load_bps: view.load_bps,
        subflows: view.subflows,
    }
}
