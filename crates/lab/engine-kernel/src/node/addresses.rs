//! Addresses that come and go, with their rules, routes and endpoints.

use std::io;
use std::net::IpAddr;

use mptcplab_linux::interfaces::Address;

use super::manager::{Managed, Manager};
use crate::plan::{Prefix, Route};
use mptcplab_linux::rtnetlink::TABLE_MAIN;

/// Routing tables of the interfaces, by their place in the node.
const FIRST_TABLE: u32 = 1000;
/// Metric of the main table's routes of a host's first interface, the others follow; and of all of
/// a router's.
const FIRST_METRIC: u32 = 100;

impl<'a> Manager<'a> {
    /// Installs what belongs to addresses that have come, and removes it for those that have gone.
    pub(super) fn sync_addresses(&mut self) -> io::Result<()> {
        let present = self.interfaces.addresses()?;
        for interface in 0..self.managed.len() {
            let index = self.managed[interface].index;
            for prefix in &self.interface(interface).addresses {
                let is_it = |one: &Address| one.interface == index && one.ip == prefix.address;
                let present = present.iter().any(is_it);
                let installed = self.managed[interface].installed.contains(prefix);
                if present && !installed {
                    self.managed[interface].installed.push(*prefix);
                    self.install_address(interface, *prefix)?;
                    self.event(
                        "address",
                        interface,
                        &format!("{} is usable", prefix.address),
                    );
                } else if installed && !present {
                    self.managed[interface]
                        .installed
                        .retain(|other| other != prefix);
                    self.remove_address(interface, *prefix)?;
                    self.event(
                        "address",
                        interface,
                        &format!("{} has gone", prefix.address),
                    );
                }
            }
        }
        Ok(())
    }

    pub(super) fn add_addresses(&mut self, interface: usize) -> io::Result<()> {
        for prefix in &self.interface(interface).addresses {
            self.rtnetlink
                .add_address(self.managed[interface].index, prefix.address, prefix.length)
                .map_err(|error| {
                    io::Error::new(
                        error.kind(),
                        format!(
                            "{}: address {}: {error}",
                            self.subject(interface),
                            prefix.address
                        ),
                    )
                })?;
        }
        self.add_neighbours(interface)
    }

    /// Tells the kernel the hardware addresses of all others on the segment of an interface, if it
    /// is on one.
    fn add_neighbours(&mut self, interface: usize) -> io::Result<()> {
        let index = self.managed[interface].index;
        let segment = self.segments[interface].iter();
        for &(address, hardware) in segment.flat_map(|segment| &segment.neighbours) {
            let family = |prefix: &Prefix| prefix.address.is_ipv4() == address.is_ipv4();
            if self.node.interfaces[interface].addresses.iter().any(family) {
                self.rtnetlink.add_neighbour(index, address, hardware)?;
            }
        }
        Ok(())
    }

    /// Adds rule, routes and endpoint of an address that has come.
    fn install_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
        let index = self.managed[interface].index;
        let same_family = |address: &IpAddr| address.is_ipv4() == prefix.address.is_ipv4();
        let gateway = self
            .interface(interface)
            .gateways
            .iter()
            .copied()
            .find(same_family);
        let table = FIRST_TABLE + interface as u32;
        let metric = FIRST_METRIC + interface as u32;
        self.rtnetlink
            .add_route(table, prefix.network(), None, Some(index), 0)?;
        if let Some(gateway) = gateway {
            let everything = Prefix::all(prefix.address);
            self.rtnetlink
                .add_route(table, everything.network(), Some(gateway), Some(index), 0)?;
            self.rtnetlink.add_route(
                TABLE_MAIN,
                everything.network(),
                Some(gateway),
                Some(index),
                metric,
            )?;
        }
        if self.node.router {
            self.install_forwarding(prefix)?;
        } else {
            for route in self.routes_over(prefix) {
                let (to, via) = (route.to.network(), Some(route.via));
                self.rtnetlink
                    .add_route(TABLE_MAIN, to, via, Some(index), metric)?;
                self.rtnetlink.add_route(table, to, via, Some(index), 0)?;
            }
            // Packets from this address leave by its interface or not at all: a subflow that
            // took another path under this address would make two paths look like one.
            self.rtnetlink.add_unreachable(table, prefix.address)?;
            self.rtnetlink.add_source_rule(prefix.address, table)?;
        }
        let flags = self.endpoint_flags(interface);
        if let (Some(path_manager), Some(flags)) = (&mut self.path_manager, flags) {
            path_manager
                .add_endpoint(prefix.address, flags)
                .map_err(|error| {
                    io::Error::new(
                        error.kind(),
                        format!("MPTCP endpoint {} ({flags:?}): {error}", prefix.address),
                    )
                })?;
        }
        Ok(())
    }

    /// The node's routes whose next hop is a neighbour in the network of an address.
    fn routes_over(&self, prefix: Prefix) -> impl Iterator<Item = &'a Route> + use<'a> {
        let is_over = move |route: &&Route| prefix.contains(route.via);
        self.node.routes.iter().filter(is_over)
    }

    /// Makes a router's routes over the network of an address those over all next hops that can be
    /// used now: several of them share the flows.
    fn install_forwarding(&mut self, prefix: Prefix) -> io::Result<()> {
        for route in self.routes_over(prefix) {
            let equal = self.node.routes.iter().filter(|one| one.to == route.to);
            let next_hop = |one: &Route| {
                let is_over = |managed: &&Managed| {
                    let mut installed = managed.installed.iter();
                    installed.any(|address| address.contains(one.via))
                };
                let managed = self.managed.iter().find(is_over)?;
                Some((managed.index, one.via))
            };
            let next_hops: Vec<_> = equal.filter_map(next_hop).collect();
            if !next_hops.is_empty() {
                let to = route.to.network();
                self.rtnetlink
                    .add_multipath_route(to, &next_hops, FIRST_METRIC)?;
            }
        }
        Ok(())
    }

    /// Removes rule and endpoint of an address that has gone; the kernel removes its routes.
    fn remove_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
        if self.node.router {
            self.install_forwarding(prefix)?;
        }
        self.rtnetlink
            .delete_source_rule(prefix.address, FIRST_TABLE + interface as u32)?;
        if let Some(path_manager) = &mut self.path_manager {
            for endpoint in path_manager.endpoints()? {
                if endpoint.address == prefix.address {
                    path_manager.delete_endpoint(&endpoint)?;
                }
            }
        }
        Ok(())
    }
}
