//! Rows of the tables that traffic writes (`docs/recording.md`).

use std::net::SocketAddr;

use mptcplab_plan::{Protocol, Way};
use serde::Serialize;

use crate::Nanos;

/// A row of `transfers`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Transfer<'a> {
    pub(super) traffic: &'a str,
    pub(super) kind: &'static str,
    pub(super) index: u32,
    pub(super) client: &'a str,
    pub(super) server: &'a str,
    pub(super) way: Way,
    pub(super) protocol: Protocol,
    pub(super) fallback: Option<bool>,
    pub(super) token: Option<u32>,
    pub(super) source: Option<SocketAddr>,
    pub(super) target: SocketAddr,
    pub(super) start_ns: Nanos,
    pub(super) connected_ns: Option<Nanos>,
    pub(super) first_byte_ns: Option<Nanos>,
    pub(super) end_ns: Option<Nanos>,
    pub(super) bytes: u64,
    pub(super) joins: Option<u32>,
    pub(super) longest_silence_ns: Option<Nanos>,
    pub(super) longest_silence_at_ns: Option<Nanos>,
    pub(super) error: Option<String>,
}

/// A row of `deliveries`.
#[derive(Serialize)]
pub(super) struct Delivery<'a> {
    pub(super) traffic: &'a str,
    pub(super) index: u32,
    pub(super) way: Way,
    pub(super) t_ns: Nanos,
    pub(super) bytes: u64,
}

/// A row of `latencies`.
#[derive(Serialize)]
pub(super) struct Latency<'a> {
    pub(super) traffic: &'a str,
    pub(super) kind: &'static str,
    pub(super) sequence: u32,
    pub(super) t_ns: Nanos,
    pub(super) rtt_ns: Option<Nanos>,
}
