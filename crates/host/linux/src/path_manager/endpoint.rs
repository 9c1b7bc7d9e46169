//! Addresses and their use.

use std::net::{IpAddr, SocketAddr};

/// Use of an address by the kernel's own path manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointFlags {
    /// It is announced (ADD_ADDR).
    pub signal: bool,
    /// Subflows are opened from it.
    pub subflow: bool,
    /// Its subflows are backups.
    pub backup: bool,
    /// Subflows are opened from it to every address of the peer.
    pub fullmesh: bool,
}

/// An endpoint of the kernel's path manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address id; the kernel gives one where 0 is asked for.
    pub id: u8,
    /// Its address.
    pub address: IpAddr,
    /// Its port, 0 where it has none.
    pub port: u16,
    /// Its use.
    pub flags: EndpointFlags,
}

/// The local side of a subflow that is to be opened, or an address that is to be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// The address, and a port or 0 for any.
    pub address: SocketAddr,
    /// Its address id. In one connection an address (with its port) keeps one id, and an id one
    /// address; otherwise the kernel answers EINVAL. On opening a subflow 0 is the id of the address at which
    /// the connection was opened.
    pub id: u8,
    /// The subflow is a backup.
    pub backup: bool,
    /// Index of the interface that the subflow is bound to, 0 for none.
    pub interface: u32,
}
