//! One flow of the plan's traffic, with everything at hand that its workload needs.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use mptcplab_record::{Delivery, Join, Latency, Row, Transfer};
use mptcplab_traffic::Bin;
use mptcplab_traffic::verdict::Tally;
use socket2::Socket;

use super::failure::failed_to;
use super::process::Site;
use super::stop::{Stop, Wake, wait_on};
use super::{Applications, Context};
use crate::plan::{Protocol, Traffic, Way};
use crate::record::Recorder;
use crate::telemetry::accounts::Owner;
use crate::telemetry::{
    FinalState, NodeContext, SubflowEvents, write_final_connection, write_final_samples,
};
use crate::translations::Translations;
use mptcplab_traffic::Failure;

/// One flow in its run.
pub(super) struct Flow {
    pub(super) traffic: Traffic,
    /// Its name, as the accounts of sockets have it.
    pub(super) owner: Owner,
    pub(super) recorder: Recorder,
    pub(super) client: NodeContext,
    pub(super) server: NodeContext,
    /// The end of the run.
    pub(super) stop: Stop,
    /// Seed of this flow's content.
    pub(super) seed: u64,
    /// Takes over its clients' connections.
    pub(super) applications: Applications,
    /// Translations by middleboxes of the addresses of its clients.
    pub(super) translations: Translations,
    /// Joins at either end; `None` where they cannot be counted, and for TCP.
    client_events: Option<SubflowEvents>,
    server_events: Option<SubflowEvents>,
    tally: Mutex<Tally>,
}

impl Flow {
    pub(super) fn new(traffic: &Traffic, context: &Context, seed: u64) -> io::Result<Self> {
        let client = context.nodes[traffic.client].clone();
        let server = context.nodes[traffic.server].clone();
        let events = |node: &NodeContext| match traffic.protocol {
            Protocol::Tcp => Ok(None),
            Protocol::Mptcp => io::Result::Ok(
                node.netns
                    .run(|| SubflowEvents::open(&context.recorder))?
                    .ok(),
            ),
        };
        Ok(Self {
            traffic: traffic.clone(),
            owner: traffic.name.as_str().into(),
            recorder: context.recorder.clone(),
            client_events: events(&client)?,
            server_events: events(&server)?,
            client,
            server,
            stop: context.stop.clone(),
            seed,
            applications: context.applications.clone(),
            translations: context.translations.clone(),
            tally: Mutex::default(),
        })
    }

    /// The place of the client's program.
    pub(super) fn client_site(&self) -> Site<'_> {
        Site {
            node: &self.client,
            congestion_control: &self.traffic.congestion_control,
        }
    }

    /// The place of the server's program.
    pub(super) fn server_site(&self) -> Site<'_> {
        Site {
            node: &self.server,
            congestion_control: &self.traffic.server_congestion_control,
        }
    }

    /// The address that the client connects to.
    pub(super) fn target(&self) -> SocketAddr {
        SocketAddr::new(self.traffic.target, self.traffic.port)
    }

    /// The moment `t_ns` of the run on its clock.
    pub(super) fn instant(&self, t_ns: Nanos) -> Instant {
        self.recorder.clock().zero() + Duration::from_nanos(t_ns)
    }

    /// Waits until the flow's time and notes its start; false if the run ends before.
    pub(super) fn begin(&self) -> bool {
        let start = Some(self.instant(self.traffic.start_ns));
        match wait_on(self.recorder.clock(), None, &[&self.stop], start) {
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
    pub(super) fn write(&self, row: impl Row) {
        if self.recorder.write(row).is_err() {
            self.stop.request("the recording could not be written");
        }
    }

    /// Writes what a reader of the results must know about this flow.
    pub(super) fn warn(&self, text: &str) {
        self.recorder
            .warn(&format!("{}: {text}", self.traffic.name));
    }

    /// Writes an event of this flow.
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
        self.client.netns.enter().map_err(failed_to(what))
    }

    /// Runs `work` inside the client's namespace.
    pub(super) fn on_client(&self, work: impl FnOnce() + Send) {
        if let Err(error) = self.client.netns.run(work) {
            self.warn(&format!(
                "the namespace of {} cannot be entered: {error}",
                self.client.name
            ));
        }
    }

    /// Writes the row of a transfer that has ended.
    pub(super) fn write_transfer(&self, mut transfer: Transfer<'_>, result: Result<(), Failure>) {
        transfer.error = result.err().map(|failure| failure.to_string());
        self.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .count(
                transfer.joins,
                self.traffic.expected_joins,
                transfer.fallback == Some(true),
            );
        self.write(transfer);
    }

    /// The joins of the connections so far.
    pub(super) fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.write(Latency {
            traffic,
            kind,
            sequence,
            t_ns,
            rtt_ns,
        });
    }

    /// Writes a row of `deliveries`, if there is a bin.
    pub(super) fn write_bin(&self, index: u32, way: Way, bin: Option<Bin>) {
        if let Some(Bin { t_ns, bytes }) = bin {
            let traffic = &self.traffic.name;
            self.write(Delivery {
                traffic,
                index,
                way,
                t_ns,
                bytes,
            });
        }
    }

    /// Writes the last state of both ends' sockets, and notes in `transfer` what they were.
    pub(super) fn write_final_states(
        &self,
        transfer: &mut Transfer<'_>,
        client: &Socket,
        server: Option<&Socket>,
    ) {
        let client = write_final_samples(&self.recorder, &self.client, client).ok();
        let server = server.map(|server| write_final_samples(&self.recorder, &self.server, server));
        self.note(transfer, client, server.and_then(Result::ok));
    }

    /// Writes the last state of the client's connection, of which only `MPTCP_INFO` is known (none
    /// for TCP), and notes in `transfer` what it was.
    pub(super) fn write_final_connection(&self, transfer: &mut Transfer<'_>, info: Option<&[u8]>) {
        let state = write_final_connection(&self.recorder, &self.client, info);
        self.note(transfer, state.ok(), None);
    }

    /// A join counts when both ends have it: of one that the server rejects, the client first
    /// believes that it succeeded.
    fn note(
        &self,
        transfer: &mut Transfer<'_>,
        client: Option<FinalState>,
        server: Option<FinalState>,
    ) {
        let (Some(client), Protocol::Mptcp) = (client, self.traffic.protocol) else {
            return;
        };
        transfer.fallback = Some(!client.multipath);
        transfer.token = client.token;
        if !client.multipath {
            transfer.joins = Some(0);
            return;
        }
        let ends = [
            (&self.client_events, client.token),
            (&self.server_events, server.and_then(|server| server.token)),
        ];
        let joined = ends
            .into_iter()
            .filter_map(|(events, token)| events.as_ref()?.joined_ns(token?))
            .min_by_key(Vec::len);
        transfer.joins = joined.as_ref().map(|joined| joined.len() as u32);
        for (number, t_ns) in (1..).zip(joined.unwrap_or_default()) {
            self.write(Join {
                traffic: &self.traffic.name,
                index: transfer.index,
                way: transfer.way,
                number,
                t_ns,
            });
        }
    }
}
