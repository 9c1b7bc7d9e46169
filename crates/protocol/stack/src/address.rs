//! Addresses of a host.

use core::net::IpAddr;

/// An address of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// The address.
    pub address: IpAddr,
    /// Largest IP packet that its interface takes, bytes.
    pub mtu: u32,
    /// Flags of the path manager's endpoint; none where there is no endpoint.
    pub endpoint: Option<EndpointFlags>,
}

/// Flags of an endpoint of the path manager; they mean what `MPTCP_PM_ADDR_FLAG_*` mean to Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointFlags {
    /// Announce the address to the peer (ADD_ADDR).
    pub signal: bool,
    /// Open a subflow from the address.
    pub subflow: bool,
    /// Open the subflow as a backup.
    pub backup: bool,
    /// Open subflows to every address of the peer.
    pub fullmesh: bool,
}
