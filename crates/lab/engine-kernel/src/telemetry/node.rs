//! A node as traffic and telemetry see it.

use std::net::IpAddr;

use super::accounts::Accounts;
use crate::netns::NetNs;
use crate::plan::Node;

/// A node of the run: its namespace, and which interface has which address.
#[derive(Clone)]
pub struct NodeContext {
    /// Name, as in the plan.
    pub name: String,
    /// Its namespace.
    pub netns: NetNs,
    /// Its applications open and close subflows themselves.
    pub by_application: bool,
    /// The kernel's accounts of the sockets of programs in it.
    pub(crate) accounts: Accounts,
    addresses: Vec<(IpAddr, String)>,
}

impl NodeContext {
    /// The node of the plan that lives in `netns`.
    pub fn new(node: &Node, netns: NetNs) -> Self {
        let addresses = node.interfaces.iter().flat_map(|interface| {
            interface
                .addresses
                .iter()
                .map(|prefix| (prefix.address, interface.name.clone()))
        });
        Self {
            name: node.name.clone(),
            netns,
            by_application: node.mptcp.by_application,
            accounts: Accounts::default(),
            addresses: addresses.collect(),
        }
    }

    /// The interface that the plan gives an address to.
    pub fn interface_of(&self, address: IpAddr) -> Option<&str> {
        let (_, name) = self.addresses.iter().find(|(own, _)| *own == address)?;
        Some(name)
    }
}
