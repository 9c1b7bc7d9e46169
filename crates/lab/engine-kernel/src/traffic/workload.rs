//! Flows run the workloads that the plan gives them.

use std::io;
use std::sync::mpsc::Sender;

use mptcplab_traffic::Frames;
use mptcplab_traffic::datagrams::Pattern;
use socket2::Socket;

use super::bulk::{self, Until};
use super::flow::Flow;
use super::verdict::{self, Counters};
use super::{command, datagrams, ftp, http, ping, request_response, stream};
use crate::plan::Workload;

/// Runs the workload of a flow, each at the flow's time. `starting` is dropped when no server of the
/// flow is still being started.
pub(super) fn run(
    flow: &Flow,
    listener: Option<Socket>,
    mut before: Option<io::Result<Counters>>,
    starting: Sender<()>,
) {
    if let Workload::Ftp { way, bytes, count } = flow.traffic.workload {
        ftp::run(flow, ftp::Files { way, bytes, count }, starting);
    } else {
        drop(starting);
        run_others(flow, listener, &mut before);
    }
    flow.event("ended");
    match before {
        Some(Ok(before)) => verdict::check(flow, &before, flow.tally()),
        Some(Err(error)) => flow.warn(&format!("whether subflows joined is unknown: {error}")),
        None => {}
    }
}

/// Runs a workload that has no server of this project's as a program.
fn run_others(flow: &Flow, listener: Option<Socket>, before: &mut Option<io::Result<Counters>>) {
    match (&flow.traffic.workload, listener) {
        (
            Workload::Command {
                argv,
                server_argv,
                duration_ns,
            },
            _,
        ) => {
            let connects = command::run(flow, argv, server_argv.as_deref(), *duration_ns);
            // Of a program that connects nothing there is no verdict.
            *before = before.take().filter(|_| connects);
        }
        (
            &Workload::Ping {
                interval_ns,
                count,
                payload_bytes,
            },
            _,
        ) if flow.begin() => {
            ping::run(
                flow,
                ping::Pattern {
                    interval_ns,
                    count,
                    payload_bytes,
                },
            );
        }
        (
            &Workload::Datagrams {
                way,
                rate_bps,
                packet_bytes,
                duration_ns,
                on_off_ns,
            },
            _,
        ) if flow.begin() => {
            let pattern = Pattern {
                rate_bps,
                packet_bytes,
                duration_ns,
                on_off_ns,
            };
            datagrams::run(flow, way, pattern);
        }
        (_, Some(listener)) if flow.begin() => serve_and_connect(flow, &listener),
        _ => {}
    }
}

/// Runs the workloads with both ends in this process.
fn serve_and_connect(flow: &Flow, listener: &Socket) {
    match flow.traffic.workload {
        Workload::Bulk {
            way,
            streams,
            duration_ns,
            bytes,
            rate_bps,
        } => {
            let until = match (duration_ns, bytes) {
                (_, Some(bytes)) => Until::Bytes(bytes),
                (duration, None) => Until::Duration(duration.unwrap_or(0)),
            };
            bulk::run(flow, listener, way, streams, until, rate_bps);
        }
        Workload::Http { bytes, count } => http::run(flow, listener, bytes, count),
        Workload::RequestResponse(requests) => request_response::run(flow, listener, requests),
        Workload::Stream {
            way,
            rate_bps,
            frame_bytes,
            deadline_ns,
            duration_ns,
        } => {
            let frames = Frames {
                rate_bps,
                frame_bytes,
                duration_ns,
            };
            stream::run(flow, listener, way, frames, deadline_ns);
        }
        Workload::Ftp { .. }
        | Workload::Ping { .. }
        | Workload::Datagrams { .. }
        | Workload::Command { .. } => {}
    }
}
