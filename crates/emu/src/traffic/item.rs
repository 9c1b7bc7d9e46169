//! One item of the plan's traffic, with everything at hand that its workload needs.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use serde::Serialize;
use socket2::Socket;

use super::Context;
use super::deliveries::Bin;
use super::failure::Failure;
use super::rows::{Delivery, Latency, Transfer};
use super::stop::{Stop, Wake, wait};
use crate::plan::{Protocol, Traffic, Way};
use crate::record::Recorder;
use crate::telemetry::{
    FinalState, NodeContext, SubflowEvents, write_final_connection, write_final_samples,
};

/// One item of the traffic in its run.
pub(super) struct Item {
    pub(super) traffic: Traffic,
    pub(super) recorder: Recorder,
    pub(super) client: NodeContext,
    pub(super) server: NodeContext,
    /// The end of the run.
    pub(super) stop: Stop,
    /// Seed of this item's content.
    pub(super) seed: u64,
    /// Joins at the client; `None` where they cannot be counted, and for TCP.
    events: Option<Mutex<SubflowEvents>>,
}

impl Item {
    pub(super) fn new(traffic: &Traffic, context: &Context, seed: u64) -> io::Result<Self> {
        let client = context.nodes[traffic.client].clone();
        let events = match traffic.protocol {
            Protocol::Tcp => None,
            Protocol::Mptcp => client.netns.run(SubflowEvents::open)?.ok().map(Mutex::new),
        };
        Ok(Self {
            traffic: traffic.clone(),
            recorder: context.recorder.clone(),
            server: context.nodes[traffic.server].clone(),
            client,
            stop: context.stop.clone(),
            seed,
            events,
        })
    }

    /// Where the client connects to.
    pub(super) fn target(&self) -> SocketAddr {
        SocketAddr::new(self.traffic.target, self.traffic.port)
    }

    /// The moment `t_ns` of the run on the monotonic clock.
    pub(super) fn instant(&self, t_ns: Nanos) -> Instant {
        self.recorder.zero() + Duration::from_nanos(t_ns)
    }

    /// Waits until the item's time and notes its start; false if the run ends before.
    pub(super) fn begin(&self) -> bool {
        let start = Some(self.instant(self.traffic.start_ns));
        match wait(None, &[&self.stop], start) {
            Ok(Wake::Deadline) => {
                self.event("started");
                return true;
            }
            Ok(_) => self.warn("the run ended before it started"),
            Err(error) => self.warn(&format!("it could not wait for its start: {error}")),
        }
        false
    }

    /// Writes a row. Without a reader of the rows the run is of no use, and ends.
    pub(super) fn write(&self, table: &str, row: impl Serialize) {
        if self.recorder.write(table, row).is_err() {
            self.stop.request("the recording could not be written");
        }
    }

    /// Writes what a reader of the results must know about this item.
    pub(super) fn warn(&self, text: &str) {
        self.recorder.warn(&format!("{}: {text}", self.traffic.name));
    }

    /// Writes an event of this item.
    pub(super) fn event(&self, label: &str) {
        self.recorder.event("traffic", &self.traffic.name, label);
    }

    /// A row of `transfers` that begins now.
    pub(super) fn transfer(&self, kind: &'static str, index: u32, way: Way) -> Transfer<'_> {
        Transfer {
            traffic: &self.traffic.name,
            kind,
            index,
            client: &self.client.name,
            server: &self.server.name,
            way,
            protocol: self.traffic.protocol,
            fallback: None,
            token: None,
            source: None,
            target: self.target(),
            start_ns: self.recorder.now(),
            connected_ns: None,
            first_byte_ns: None,
            end_ns: None,
            bytes: 0,
            joins: None,
            longest_silence_ns: None,
            longest_silence_at_ns: None,
            error: None,
        }
    }

    /// Moves the calling thread into the client's namespace.
    pub(super) fn enter_client(&self) -> Result<(), Failure> {
        let what = format!("enter the namespace of {}", self.client.name);
        self.client.netns.enter().map_err(Failure::of(what))
    }

    /// Runs `work` inside the client's namespace.
    pub(super) fn on_client(&self, work: impl FnOnce() + Send) {
        if let Err(error) = self.client.netns.run(work) {
            self.warn(&format!("the namespace of {} cannot be entered: {error}", self.client.name));
        }
    }

    /// Writes the row of a transfer that has ended.
    pub(super) fn write_transfer(&self, mut transfer: Transfer<'_>, result: Result<(), Failure>) {
        transfer.error = result.err().map(|failure| failure.to_string());
        self.write("transfers", transfer);
    }

    /// Writes a row of `latencies`.
    pub(super) fn write_latency(
        &self,
        kind: &'static str,
        sequence: u32,
        t_ns: Nanos,
        rtt_ns: Option<Nanos>,
    ) {
        let traffic = &self.traffic.name;
        self.write("latencies", Latency { traffic, kind, sequence, t_ns, rtt_ns });
    }

    /// Writes a row of `deliveries`, if there is a bin.
    pub(super) fn write_bin(&self, index: u32, way: Way, bin: Option<Bin>) {
        if let Some(Bin { t_ns, bytes }) = bin {
            let traffic = &self.traffic.name;
            self.write("deliveries", Delivery { traffic, index, way, t_ns, bytes });
        }
    }

    /// Writes the last state of both ends' sockets, and notes in `transfer` what they were.
    pub(super) fn write_final_states(
        &self,
        transfer: &mut Transfer<'_>,
        client: &Socket,
        server: Option<&Socket>,
    ) {
        let written = write_final_samples(&self.recorder, &self.client, client);
        if let Some(server) = server {
            // An error shows with the row of the transfer.
            let _ = write_final_samples(&self.recorder, &self.server, server);
        }
        if let Ok(state) = written {
            self.note(transfer, state);
        }
    }

    /// Writes the last state of the client's connection, of which only `MPTCP_INFO` is known (none
    /// for TCP), and notes in `transfer` what it was.
    pub(super) fn write_final_connection(&self, transfer: &mut Transfer<'_>, info: Option<&[u8]>) {
        let written = write_final_connection(&self.recorder, &self.client, info);
        if let Ok(state) = written {
            self.note(transfer, state);
        }
    }

    fn note(&self, transfer: &mut Transfer<'_>, state: FinalState) {
        if self.traffic.protocol == Protocol::Mptcp {
            transfer.fallback = Some(!state.multipath);
            transfer.token = state.token;
            transfer.joins = state.token.map_or(Some(0), |token| self.joins(token));
        }
    }

    /// Additional subflows that the client's connection with this token has had; `None` where they
    /// were not counted.
    fn joins(&self, token: u32) -> Option<u32> {
        let mut events = self.events.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        events.joins(token).ok()
    }
}
