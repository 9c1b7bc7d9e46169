//! A node: its interfaces with their addresses, its routes, and the network manager that follows
//! what happens to them.
//!
//! The manager does what that of the kernel engine does (`docs/architecture.md`): an interface that
//! loses its carrier or is set down loses its addresses at once; one that comes back has them again
//! after its address delay. What a host sends from an address leaves by the interface of that
//! address or not at all. A neighbour needs no discovery: what leaves by an interface reaches the
//! other end of its link, or on a segment that switches join the neighbour that the plan knows.

mod errors;
pub(crate) mod host;
mod interface;
mod routing;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::IpAddr;

use foldhash::fast::FixedState;
use mptcplab_plan as plan;
use mptcplab_plan::{EndpointFlags, Prefix};
use mptcplab_random::{Purpose, Random};

use self::errors::ErrorLimit;
pub(crate) use self::interface::{
    AddressChange, Ethernet, Interface, InterfaceCounters, Neighbours,
};
pub(crate) use self::routing::Forwarding;
use self::routing::{CachedRoute, Destination, SLOTS};
use crate::Nanos;
use crate::fib::{Route, Table};

/// Metric of the main table's routes over a host's first interface; the others follow. Those of a
/// router are all equally good.
const FIRST_METRIC: u32 = 100;

/// A host, a router or the ports of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) is_router: bool,
    pub(crate) interfaces: Vec<Interface>,
    routes: Vec<plan::Route>,
    /// For packets without an address of the node as their source, and those that a router forwards.
    main: Table,
    /// For packets with an address of the interface as their source; a host's only.
    by_interface: Vec<Table>,
    /// Usable addresses and their interfaces.
    addresses: Vec<(IpAddr, usize)>,
    /// The same, sorted by address.
    by_address: Vec<(IpAddr, usize)>,
    /// The earliest time at which an interface's addresses come back.
    due: Option<Nanos>,
    /// Routes of a host's own packets, in slots that their addresses choose.
    cache: [Option<CachedRoute>; SLOTS],
    /// Results of a router's look-ups: in large networks the search takes longer than all else.
    destinations: HashMap<IpAddr, Destination, FixedState>,
    /// Of a router: which errors it sends.
    errors: ErrorLimit,
    flow_seed: u64,
}

impl Node {
    /// Node number `index` of a run; its interfaces are up and their addresses usable.
    pub(crate) fn new(planned: &plan::Node, seed: u64, index: usize) -> Self {
        let interface = |interface: &plan::Interface| Interface {
            subject: format!("{}.{}", planned.name, interface.name),
            planned: interface.clone(),
            link: None,
            ethernet: None,
            set_up: true,
            carrier: true,
            usable: true,
            due: None,
            backup: None,
            counters: InterfaceCounters::default(),
        };
        let mut node = Self {
            name: planned.name.clone(),
            is_router: planned.router,
            interfaces: planned.interfaces.iter().map(interface).collect(),
            routes: planned.routes.clone(),
            main: Table::default(),
            by_interface: Vec::new(),
            addresses: Vec::new(),
            by_address: Vec::new(),
            due: None,
            cache: Default::default(),
            destinations: HashMap::default(),
            errors: ErrorLimit::default(),
            flow_seed: Random::new(seed, Purpose::Routes, index).bits(),
        };
        node.rebuild_routes();
        node
    }

    /// `ip link set … up|down`.
    pub(crate) fn set_up(
        &mut self,
        now: Nanos,
        interface: usize,
        up: bool,
    ) -> Option<AddressChange> {
        self.interfaces[interface].set_up = up;
        self.follow(now, interface)
    }

    /// The carrier comes or goes.
    pub(crate) fn set_carrier(
        &mut self,
        now: Nanos,
        interface: usize,
        carrier: bool,
    ) -> Option<AddressChange> {
        self.interfaces[interface].carrier = carrier;
        self.follow(now, interface)
    }

    /// Changes the backup flag of an interface's endpoints, also of those that are still to come;
    /// false where it has none.
    pub(crate) fn set_backup(&mut self, interface: usize, backup: bool) -> bool {
        let interface = &mut self.interfaces[interface];
        interface.backup = Some(backup);
        interface.planned.endpoint.is_some()
    }

    /// The next time at which addresses come back.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.due
    }

    fn update_due(&mut self) {
        self.due = self.interfaces.iter().filter_map(|one| one.due).min();
    }

    /// Brings back addresses that are due.
    pub(crate) fn act(&mut self, now: Nanos) -> Vec<AddressChange> {
        let mut changes = Vec::new();
        for interface in 0..self.interfaces.len() {
            let this = &mut self.interfaces[interface];
            if this.due.is_some_and(|due| due <= now) {
                this.due = None;
                this.usable = true;
                changes.push(AddressChange {
                    interface,
                    usable: true,
                });
            }
        }
        if !changes.is_empty() {
            self.update_due();
            self.rebuild_routes();
        }
        changes
    }

    /// Applies a change of an interface's state.
    fn follow(&mut self, now: Nanos, interface: usize) -> Option<AddressChange> {
        let this = &mut self.interfaces[interface];
        if this.is_running() {
            if !this.usable && this.due.is_none() {
                this.due = Some(now.saturating_add(this.planned.address_delay_ns));
                self.update_due();
            }
            return None;
        }
        this.due = None;
        let was_usable = std::mem::replace(&mut this.usable, false);
        self.update_due();
        if !was_usable {
            return None;
        }
        self.rebuild_routes();
        Some(AddressChange {
            interface,
            usable: false,
        })
    }

    /// Rebuilds the tables from the usable addresses.
    fn rebuild_routes(&mut self) {
        self.main = Table::default();
        self.by_interface = vec![Table::default(); self.interfaces.len()];
        self.addresses.clear();
        self.cache = Default::default();
        self.destinations.clear();
        for (index, interface) in self.interfaces.iter().enumerate() {
            if !interface.usable {
                continue;
            }
            let metric = match self.is_router {
                true => 0,
                false => FIRST_METRIC + index as u32,
            };
            let own = &mut self.by_interface[index];
            let mut add = |to, metric| {
                let route = Route {
                    to,
                    interface: index,
                    metric,
                };
                own.add(route);
                self.main.add(route);
            };
            for &prefix in &interface.planned.addresses {
                self.addresses.push((prefix.address, index));
                add(prefix, 0);
            }
            for &gateway in &interface.planned.gateways {
                let is_usable = |prefix: &&Prefix| prefix.address.is_ipv4() == gateway.is_ipv4();
                if interface
                    .planned
                    .addresses
                    .iter()
                    .any(|prefix| is_usable(&prefix))
                {
                    add(Prefix::all(gateway), metric);
                }
            }
            for route in &self.routes {
                let mut addresses = interface.planned.addresses.iter();
                if addresses.any(|&prefix| prefix.contains(route.via)) {
                    add(route.to, metric);
                }
            }
        }
        self.by_address.clone_from(&self.addresses);
        // Of two interfaces with the same address the first counts.
        self.by_address.sort_by_key(|&(address, _)| address);
    }

    /// Whether a usable address is the node's.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        self.interface_of(address).is_some()
    }

    /// The interface of a usable address.
    pub(crate) fn interface_of(&self, address: IpAddr) -> Option<usize> {
        let is_it = |&&(own, _): &&(IpAddr, usize)| own == address;
        let found = match self.is_router {
            false => self.by_address.iter().find(is_it),
            // A router may have hundreds.
            true => {
                let place = self.by_address.partition_point(|&(own, _)| own < address);
                self.by_address.get(place).filter(is_it)
            }
        };
        found.map(|&(_, interface)| interface)
    }

    /// Usable addresses with the MTU of their interfaces and the flags of their endpoints.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = (IpAddr, u32, Option<EndpointFlags>)> {
        self.addresses.iter().map(|&(address, interface)| {
            let interface = &self.interfaces[interface];
            (address, interface.planned.mtu, interface.endpoint_flags())
        })
    }

    /// Addresses from which the path manager opens subflows.
    pub(crate) fn subflow_endpoints(&self) -> Vec<IpAddr> {
        self.addresses()
            .filter(|(_, _, flags)| flags.is_some_and(|flags| flags.subflow || flags.fullmesh))
            .map(|(address, ..)| address)
            .collect()
    }
}
