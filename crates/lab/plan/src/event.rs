//! Changes while a run lasts.

use std::net::IpAddr;

use mptcplab_link::LinkChange;
use serde::{Deserialize, Serialize};

use crate::{InterfaceRef, Plan};

/// A change at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its time.
    pub at_ns: u64,
    /// The change.
    pub action: Action,
    /// The event in the scenario's words, for reports.
    pub label: String,
}

/// A change of the network or of subflows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// New parameters of a link; `carrier` also changes what its two interfaces see.
    Link {
        /// Index into [`Plan::links`].
        link: usize,
        /// The new parameters.
        change: LinkChange,
        /// `Some(false)`: both interfaces lose their carrier, as when a cable is pulled;
        /// `Some(true)`: it is back; `None`: the hosts see nothing.
        carrier: Option<bool>,
    },
    /// `ip link set … up|down` on a host.
    Interface {
        /// The interface.
        interface: InterfaceRef,
        /// Up or down.
        up: bool,
    },
    /// Changes the backup flag of the endpoints of an interface (MP_PRIO).
    Backup {
        /// The interface.
        interface: InterfaceRef,
        /// The new flag.
        backup: bool,
    },
    /// Opens or closes a subflow of every connection of a flow, on the client's side,
    /// as an application would.
    Subflow {
        /// Index into [`Plan::traffic`].
        traffic: usize,
        /// Local address of the client.
        source: IpAddr,
        /// Address of the server; its port is the traffic's.
        target: IpAddr,
        /// Open, or close.
        open: bool,
    },
}

impl Action {
    /// The kind of change, for the row of the event.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Link { .. } => "link",
            Self::Interface { .. } => "interface",
            Self::Backup { .. } => "backup",
            Self::Subflow { .. } => "subflow",
        }
    }

    /// The link, interface or flow that changes, for the row of the event.
    pub fn subject(&self, plan: &Plan) -> String {
        match *self {
            Self::Link { link, .. } => plan.links[link].name.clone(),
            Self::Interface { interface, .. } | Self::Backup { interface, .. } => {
                plan.subject(interface)
            }
            Self::Subflow { traffic, .. } => plan.traffic[traffic].name.clone(),
        }
    }
}
