//! Rows of the tables that come from the kernel (`docs/recording.md`).

use std::net::SocketAddr;

use mptcplab_link::Nanos;
use serde::Serialize;

use super::NodeContext;
use super::interfaces::Counters;
use mptcplab_kernel::MptcpInfo;
use mptcplab_kernel::TcpInfo;
use mptcplab_kernel::sock_diag::SubflowIdentity;

/// A row of `subflow_samples`.
#[derive(Serialize)]
pub(super) struct SubflowSample<'a> {
    t_ns: Nanos,
    node: &'a str,
    token: Option<u32>,
    subflow: String,
    interface: Option<&'a str>,
    backup: Option<bool>,
    local_id: Option<u8>,
    remote_id: Option<u8>,
    #[serde(rename = "final")]
    last: bool,
    congestion_control: Option<&'a str>,
    #[serde(flatten)]
    info: &'a TcpInfo,
}

impl<'a> SubflowSample<'a> {
    pub(super) fn new(
        (t_ns, last): (Nanos, bool),
        node: &'a NodeContext,
        (local, remote): (SocketAddr, SocketAddr),
        identity: SubflowIdentity,
        congestion_control: Option<&'a str>,
        info: &'a TcpInfo,
    ) -> Self {
        Self {
            t_ns,
            node: &node.name,
            token: identity.token,
            subflow: format!("{local}-{remote}"),
            interface: node.interface_of(local.ip()),
            backup: identity.backup,
            local_id: identity.local_id,
            remote_id: identity.remote_id,
            last,
            congestion_control,
            info,
        }
    }
}

/// A row of `connection_samples`.
#[derive(Serialize)]
pub(super) struct ConnectionSample<'a> {
    pub(super) t_ns: Nanos,
    pub(super) node: &'a str,
    #[serde(rename = "final")]
    pub(super) last: bool,
    #[serde(flatten)]
    pub(super) info: &'a MptcpInfo,
}

/// A row of `interface_samples`.
#[derive(Serialize)]
pub(super) struct InterfaceSample<'a> {
    pub(super) t_ns: Nanos,
    pub(super) node: &'a str,
    #[serde(flatten)]
    pub(super) counters: &'a Counters,
}
