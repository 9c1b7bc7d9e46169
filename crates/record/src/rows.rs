//! Rows that both engines know all of.

#![allow(missing_docs, reason = "the columns are those of docs/recording.md")]

use std::net::SocketAddr;

use mptcplab_link::{Backlog, Counters, Nanos};
use mptcplab_plan::{Protocol, Way};
use serde::Serialize;

/// A row of `transfers`.
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

/// A row of `deliveries`.
#[derive(Serialize)]
pub struct Delivery<'a> {
    pub traffic: &'a str,
    pub index: u32,
    pub way: Way,
    pub t_ns: Nanos,
    pub bytes: u64,
}

/// A row of `latencies`.
#[derive(Serialize)]
pub struct Latency<'a> {
    pub traffic: &'a str,
    pub kind: &'static str,
    pub sequence: u32,
    pub t_ns: Nanos,
    pub rtt_ns: Option<Nanos>,
}

/// A row of `link_samples`.
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

/// A row of `counters`.
#[derive(Serialize)]
pub struct Counter<'a> {
    pub node: &'a str,
    pub name: &'a str,
    pub value: i64,
}

/// A row of `events`.
#[derive(Serialize)]
pub struct Event<'a> {
    pub t_ns: Nanos,
    pub kind: &'a str,
    pub subject: &'a str,
    pub label: &'a str,
}

/// A `warning`: what a reader of the results must know.
#[derive(Serialize)]
pub struct Warning<'a> {
    pub text: &'a str,
}
