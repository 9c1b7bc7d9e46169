//! The row of a program's socket (`docs/recording.md`).

use mptcplab_link::Nanos;
use mptcplab_linux::TcpInfo;
use mptcplab_record::Row;
use serde::Serialize;

/// A row of `sockets`.
#[derive(Serialize)]
pub(super) struct SocketRow<'a> {
    pub(super) traffic: &'a str,
    pub(super) node: &'a str,
    pub(super) token: Option<u32>,
    pub(super) subflow: String,
    pub(super) interface: Option<&'a str>,
    pub(super) start_ns: Option<Nanos>,
    pub(super) first_ns: Nanos,
    pub(super) end_ns: Option<Nanos>,
    pub(super) last_received_ns: Option<Nanos>,
    pub(super) last_acked_ns: Option<Nanos>,
    #[serde(flatten)]
    pub(super) info: &'a TcpInfo,
}

impl Row for SocketRow<'_> {
    const TABLE: &'static str = "sockets";
}
