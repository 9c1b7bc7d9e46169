//! A connection between two hosts, each with a manager that gives commands.

#![allow(dead_code)] // Each test uses a part of it.

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};

use mptcplab_subflow::{Manager, Open};
use mptcplab_testbed::Hosts;

/// The client has connected over link 1, and subflows can join.
pub(crate) struct Stage {
    pub(crate) hosts: Hosts,
    pub(crate) client: TcpStream,
    pub(crate) server: TcpStream,
    /// Each in the namespace of its host.
    pub(crate) client_manager: Manager,
    pub(crate) server_manager: Manager,
    /// Subflows join through it.
    pub(crate) listener: TcpListener,
}

impl Stage {
    /// With so many links, over IPv6 or IPv4.
    pub(crate) fn new(links: u8, six: bool) -> Self {
        let hosts = Hosts::new(links);
        let listener = hosts.listen(six);
        let server_manager = hosts.server.run(Manager::direct).unwrap().unwrap();
        let client_manager = hosts.client.run(Manager::direct).unwrap().unwrap();
        let (client, server) = hosts.connect(&listener, six);
        Self {
            hosts,
            client,
            server,
            client_manager,
            server_manager,
            listener: listener.0,
        }
    }
}

/// A subflow from the client's IPv4 address on a link.
pub(crate) fn from(hosts: &Hosts, link: u8) -> Open {
    Open::from(any_port(hosts.client_address(link, false)))
}

/// An address without a port.
pub(crate) fn any_port(address: IpAddr) -> SocketAddr {
    SocketAddr::new(address, 0)
}
