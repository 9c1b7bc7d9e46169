//! Any command, run inside a host.

use std::io;
use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::{Duration, Instant};

use super::flow::Flow;
use super::listening::nothing_listens;
use super::process::{Exit, Program, Site, Stream};
use super::sockets;
use super::stop::Stop;
use crate::plan::Traffic;
use mptcplab_linux::describe;
use mptcplab_record::{Output, ProgramRun};

/// Time within which a server's command must listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs the server's command, if any, and at the flow's time the client's. Gives whether one of them
/// had a TCP socket that was to be connected to another host.
pub(super) fn run(
    flow: &Flow,
    argv: &[String],
    server_argv: Option<&[String]>,
    duration_ns: Option<u64>,
) -> bool {
    let Ok(clients_ended) = Stop::new() else {
        flow.warn("no file descriptors are left: nothing was run");
        return false;
    };
    thread::scope(|scope| {
        if let Some(argv) = server_argv {
            let stops = [&flow.stop, &clients_ended];
            let site = flow.server_site();
            scope.spawn(move || run_one(flow, (site, "server"), argv, &stops, None));
            // Not every server listens: one of datagrams does not.
            // It may leave a daemon behind: its end says nothing.
            if nothing_listens(flow, PATIENCE, &flow.stop) {
                flow.warn(&format!(
                    "nothing on {} listened on TCP port {} after {} s; the client was started all \
                     the same, by so much later at most (a server of datagrams has no such port; \
                     one of TCP must listen on {{port}})",
                    flow.server.name,
                    flow.traffic.port,
                    PATIENCE.as_secs(),
                ));
            }
        }
        if flow.begin() {
            let deadline = duration_ns.map(|duration| flow.instant(flow.recorder.now() + duration));
            run_one(
                flow,
                (flow.client_site(), "client"),
                argv,
                &[&flow.stop],
                deadline,
            );
            sockets::await_sent(flow);
        }
        clients_ended.request("the client has ended");
    });
    sockets::write(flow) > 0
}

fn run_one(
    flow: &Flow,
    (site, side): (Site<'_>, &'static str),
    argv: &[String],
    stops: &[&Stop],
    deadline: Option<Instant>,
) {
    let argv = with_addresses(argv, &flow.traffic);
    let program = Program {
        site,
        argv: &argv,
        protocol: flow.traffic.protocol,
        may_be_daemon: side == "server",
        owner: &flow.owner,
        recorder: &flow.recorder,
    };
    let start_ns = flow.recorder.now();
    let ended = program.run(stops, deadline, |stream, text| {
        let stream = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let (traffic, node, t_ns) = (&flow.traffic.name, &site.node.name, flow.recorder.now());
        flow.write(Output {
            traffic,
            node,
            stream,
            t_ns,
            text,
        });
    });
    let end_ns = ended
        .as_ref()
        .map_or_else(|_| flow.recorder.now(), |&(_, end_ns)| end_ns);
    let exit = ended.map(|(exit, _)| exit);
    write_run(
        flow,
        (site, side),
        argv.join(" "),
        (start_ns, end_ns),
        &exit,
    );
    let name = format!("{} on {}", argv.join(" "), site.node.name);
    match exit {
        Ok(Exit::Itself(status)) => {
            flow.event(&format!("{name}: {status}"));
            if !status.success() {
                flow.warn(&format!("{name} failed: {status}"));
            }
        }
        Ok(Exit::Deadline) => flow.event(&format!("{name}: its time was over")),
        Ok(Exit::Stopped) => flow.event(&format!("{name}: ended")),
        Err(error) => flow.warn(&format!("{name} could not be run: {}", describe(&error))),
    }
}

/// Writes how a program's run went.
fn write_run(
    flow: &Flow,
    (site, side): (Site<'_>, &'static str),
    command: String,
    (start_ns, end_ns): (u64, u64),
    exit: &io::Result<Exit>,
) {
    let status = match exit {
        Ok(Exit::Itself(status)) => Some(*status),
        _ => None,
    };
    let row = ProgramRun {
        traffic: &flow.traffic.name,
        node: &site.node.name,
        side,
        command,
        start_ns,
        end_ns,
        ended: match exit {
            Ok(Exit::Itself(_)) => "itself",
            Ok(Exit::Deadline) => "duration",
            Ok(Exit::Stopped) => "stopped",
            Err(_) => "failed",
        },
        status: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        error: exit.as_ref().err().map(describe),
    };
    flow.write(row);
}

/// The arguments with `{server}`, `{source}` and `{port}` replaced.
fn with_addresses(argv: &[String], traffic: &Traffic) -> Vec<String> {
    let source = traffic
        .source
        .map_or_else(String::new, |source: IpAddr| source.to_string());
    let replace = |argument: &String| {
        argument
            .replace("{server}", &traffic.target.to_string())
            .replace("{source}", &source)
            .replace("{port}", &traffic.port.to_string())
    };
    argv.iter().map(replace).collect()
}
