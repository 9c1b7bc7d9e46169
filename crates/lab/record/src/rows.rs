//! The rows of both engines: one structure for each table of `docs/recording.md`, whose fields are
//! the columns. A column that an engine does not know is `None`.

#![allow(missing_docs, reason = "the columns are those of docs/recording.md")]

use std::collections::BTreeMap;
use std::net::SocketAddr;

use mptcplab_link::{Backlog, Counters, Nanos};
use mptcplab_plan::{Protocol, Way};
use serde::Serialize;

/// A row, and the name of its table.
pub trait Row: Serialize {
    /// Name of the table.
    const TABLE: &'static str;
}

/// Names the tables of rows.
macro_rules! tables {
    ($($row:ident: $table:literal,)*) => {
        $(impl Row for $row<'_> {
            const TABLE: &'static str = $table;
        })*
    };
}

tables! {
    ConnectionSample: "connection_samples",
    Counter: "counters",
    Delivery: "deliveries",
    Event: "events",
    Frame: "frames",
    InterfaceSample: "interface_samples",
    Join: "joins",
    Latency: "latencies",
    LinkSample: "link_samples",
    Output: "outputs",
    ProgramRun: "programs",
    Ready: "ready",
    SubflowSample: "subflow_samples",
    Transfer: "transfers",
    Warning: "warning",
}

impl Row for FlowEntry {
    const TABLE: &'static str = "flow_entries";
}

impl Row for Done {
    const TABLE: &'static str = "done";
}

#[derive(Clone, Debug, Serialize)]
pub struct Transfer<'a> {
    pub traffic: &'a str,
    pub kind: &'static str,
    pub index: u32,
    pub client: &'a str,
    pub server: &'a str,
    pub way: Way,
    pub protocol: Protocol,
    pub fallback: Option<bool>,
    pub token: Option<u32>,
    pub source: Option<SocketAddr>,
    pub target: SocketAddr,
    pub start_ns: Nanos,
    pub connected_ns: Option<Nanos>,
    pub first_byte_ns: Option<Nanos>,
    pub end_ns: Option<Nanos>,
    pub bytes: u64,
    pub joins: Option<u32>,
    pub longest_silence_ns: Option<Nanos>,
    pub longest_silence_at_ns: Option<Nanos>,
    pub error: Option<String>,
}

#[derive(Serialize)]
pub struct Delivery<'a> {
    pub traffic: &'a str,
    pub index: u32,
    pub way: Way,
    pub t_ns: Nanos,
    pub bytes: u64,
}

#[derive(Serialize)]
pub struct Join<'a> {
    pub traffic: &'a str,
    pub index: u32,
    pub way: Way,
    pub number: u32,
    pub t_ns: Nanos,
}

#[derive(Serialize)]
pub struct Latency<'a> {
    pub traffic: &'a str,
    pub kind: &'static str,
    pub sequence: u32,
    pub t_ns: Nanos,
    pub rtt_ns: Option<Nanos>,
}

#[derive(Serialize)]
pub struct Frame<'a> {
    pub traffic: &'a str,
    pub way: Way,
    pub sequence: u64,
    pub t_ns: Nanos,
    pub delay_ns: Nanos,
}

#[derive(Serialize)]
pub struct SubflowSample<'a> {
    pub t_ns: Nanos,
    pub node: &'a str,
    pub token: Option<u32>,
    pub subflow: String,
    pub interface: Option<&'a str>,
    pub state: Option<&'static str>,
    pub backup: Option<bool>,
    pub local_id: Option<u8>,
    pub remote_id: Option<u8>,
    #[serde(rename = "final")]
    pub last: bool,
    pub bytes_sent: Option<u64>,
    pub bytes_acked: Option<u64>,
    pub bytes_received: Option<u64>,
    pub bytes_retrans: Option<u64>,
    pub segs_out: Option<u64>,
    pub segs_in: Option<u64>,
    pub retrans: Option<u64>,
    pub rtt_us: Option<u64>,
    pub rttvar_us: Option<u64>,
    pub min_rtt_us: Option<u64>,
    pub cwnd: Option<u64>,
    pub ssthresh: Option<u64>,
    pub unacked: Option<u64>,
    pub delivery_rate_bps: Option<u64>,
    pub pacing_rate_bps: Option<u64>,
    pub snd_wnd: Option<u64>,
    pub rcv_space: Option<u64>,
    pub congestion_control: Option<&'a str>,
    pub reord_seen: Option<u64>,
    pub dsack_dups: Option<u64>,
    pub rto_us: Option<u64>,
    pub busy_us: Option<u64>,
    pub rwnd_limited_us: Option<u64>,
    pub sndbuf_limited_us: Option<u64>,
    pub notsent_bytes: Option<u64>,
    pub snd_buf: Option<u64>,
    pub snd_queued: Option<u64>,
    pub rcv_buf: Option<u64>,
}

#[derive(Serialize)]
pub struct ConnectionSample<'a> {
    pub t_ns: Nanos,
    pub node: &'a str,
    pub token: Option<u32>,
    pub subflows: Option<u32>,
    pub subflows_total: Option<u32>,
    pub add_addr_signal: Option<u32>,
    pub add_addr_accepted: Option<u32>,
    pub fallback: Option<bool>,
    pub write_seq: Option<u64>,
    pub snd_una: Option<u64>,
    pub rcv_nxt: Option<u64>,
    pub bytes_sent: Option<u64>,
    pub bytes_received: Option<u64>,
    pub bytes_acked: Option<u64>,
    pub bytes_retrans: Option<u64>,
    pub retransmits: Option<u32>,
    pub checksum: Option<bool>,
    #[serde(rename = "final")]
    pub last: bool,
    pub snd_buf: Option<u64>,
    pub snd_queued: Option<u64>,
    pub rcv_buf: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InterfaceSample<'a> {
    pub t_ns: Nanos,
    pub node: &'a str,
    pub interface: &'a str,
    pub rx_bytes: Option<u64>,
    pub tx_bytes: Option<u64>,
    pub rx_packets: Option<u64>,
    pub tx_packets: Option<u64>,
    pub rx_dropped: Option<u64>,
    pub tx_dropped: Option<u64>,
    pub up: bool,
}

#[derive(Serialize)]
pub struct LinkSample<'a> {
    pub t_ns: Nanos,
    pub link: &'a str,
    pub from: &'a str,
    pub to: &'a str,
    pub rate_bps: Option<u64>,
    #[serde(flatten)]
    pub counters: Counters,
    #[serde(flatten)]
    pub backlog: Backlog,
    pub overruns: u64,
}

#[derive(Serialize)]
pub struct Counter<'a> {
    pub node: &'a str,
    pub name: &'a str,
    pub value: i64,
}

#[derive(Serialize)]
pub struct Event<'a> {
    pub t_ns: Nanos,
    pub kind: &'a str,
    pub subject: &'a str,
    pub label: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowEntry {
    pub switch: String,
    pub table_id: u8,
    pub priority: u16,
    #[serde(rename = "match")]
    pub matching: String,
    pub instructions: String,
    pub start_ns: Option<Nanos>,
    pub end_ns: Option<Nanos>,
    pub ended: Option<&'static str>,
    pub packets: u64,
    pub bytes: u64,
}

/// Only the kernel engine writes it.
#[derive(Serialize)]
pub struct Output<'a> {
    pub traffic: &'a str,
    pub node: &'a str,
    pub stream: &'static str,
    pub t_ns: Nanos,
    pub text: &'a str,
}

/// Only the kernel engine writes it.
#[derive(Serialize)]
pub struct ProgramRun<'a> {
    pub traffic: &'a str,
    pub node: &'a str,
    pub side: &'static str,
    pub command: String,
    pub start_ns: Nanos,
    pub end_ns: Nanos,
    pub ended: &'static str,
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub error: Option<String>,
}

/// A warning for the reader of the results.
#[derive(Serialize)]
pub struct Warning<'a> {
    pub text: &'a str,
}

/// The first row: the network is up.
#[derive(Serialize)]
pub struct Ready<'a> {
    /// Time that building the network took.
    pub setup_ns: Option<Nanos>,
    /// For each node a thread in its namespace.
    pub nodes: BTreeMap<&'a str, Option<i32>>,
}

/// The last row: the end of the run and the performance of the engine.
#[derive(Serialize)]
pub struct Done {
    pub interrupted: bool,
    pub teardown_ns: Option<Nanos>,
    pub realtime: Option<bool>,
    pub packets: u64,
    pub overruns: u64,
    pub lateness_p50_ns: Option<Nanos>,
    pub lateness_p99_ns: Option<Nanos>,
    pub lateness_max_ns: Option<Nanos>,
    /// Flow entries that the recording has not; `None`: it has all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_entries_left_out: Option<u64>,
}
