//! Addresses that come and go, with their rules, routes and endpoints.

use std::io;
use std::net::IpAddr;

use super::manager::Manager;
use crate::plan::Prefix;
use crate::route::{TABLE_MAIN, default_prefix, network};

/// Routing tables of the interfaces, by their place in the node.
const FIRST_TABLE: u32 = 1000;
/// Metric of the main table's routes of the first interface; the others follow.
const FIRST_METRIC: u32 = 100;

impl Manager<'_> {
    /// Serves the addresses that have come, and forgets those that have gone.
    pub(super) fn follow_addresses(&mut self) -> io::Result<()> {
        let present = self.route.addresses()?;
        for interface in 0..self.managed.len() {
            let index = self.managed[interface].index;
            for prefix in &self.interface(interface).addresses {
                let present = present.contains(&(index, prefix.address));
                let served = self.managed[interface].served.contains(prefix);
                if present && !served {
                    self.serve_address(interface, *prefix)?;
                    self.managed[interface].served.push(*prefix);
                    self.event(
                        "address",
                        interface,
                        &format!("{} is usable", prefix.address),
                    );
                } else if served && !present {
                    self.managed[interface]
                        .served
                        .retain(|other| other != prefix);
                    self.forget_address(interface, *prefix)?;
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
            self.route
                .add_address(self.managed[interface].index, *prefix)
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
        Ok(())
    }

    /// Rule, routes and endpoint of an address that has come.
    fn serve_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
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
        self.route
            .add_route(table, network(prefix), None, Some(index), 0)?;
        if let Some(gateway) = gateway {
            let everything = default_prefix(prefix.address);
            self.route
                .add_route(table, everything, Some(gateway), Some(index), 0)?;
            self.route
                .add_route(TABLE_MAIN, everything, Some(gateway), Some(index), metric)?;
        }
        for route in &self.node.routes {
            if same_family(&route.via) && contains(prefix, route.via) {
                let (to, via) = (route.to, Some(route.via));
                self.route
                    .add_route(TABLE_MAIN, to, via, Some(index), metric)?;
                if !self.node.router {
                    self.route.add_route(table, to, via, Some(index), 0)?;
                }
            }
        }
        if !self.node.router {
            // What comes from this address leaves by its interface or not at all: a subflow that
            // took another path under this address would make two paths look like one.
            self.route.add_unreachable(table, prefix.address)?;
            self.route.add_source_rule(prefix.address, table)?;
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

    /// Takes away what an address that has gone leaves behind; the kernel removes its routes.
    fn forget_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
        self.route
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

/// True when `address` lies in the network of `prefix`.
fn contains(prefix: Prefix, address: IpAddr) -> bool {
    network(Prefix {
        address,
        length: prefix.length,
    }) == network(prefix)
}
