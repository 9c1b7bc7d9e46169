//! Addresses that come and go, with their rules, routes and endpoints.

use std::io;
use std::net::IpAddr;

use mptcplab_linux::interfaces::Address;

use super::manager::Manager;
use crate::plan::Prefix;
use mptcplab_linux::rtnetlink::TABLE_MAIN;

/// Routing tables of the interfaces, by their place in the node.
const FIRST_TABLE: u32 = 1000;
/// Metric of the main table's routes of the first interface; the others follow.
const FIRST_METRIC: u32 = 100;

impl Manager<'_> {
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
                    self.install_address(interface, *prefix)?;
                    self.managed[interface].installed.push(*prefix);
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
        for route in &self.node.routes {
            if same_family(&route.via) && prefix.contains(route.via) {
                let (to, via) = (route.to.network(), Some(route.via));
                self.rtnetlink
                    .add_route(TABLE_MAIN, to, via, Some(index), metric)?;
                if !self.node.router {
                    self.rtnetlink.add_route(table, to, via, Some(index), 0)?;
                }
            }
        }
        if !self.node.router {
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

    /// Removes rule and endpoint of an address that has gone; the kernel removes its routes.
    fn remove_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
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
