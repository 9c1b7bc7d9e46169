//! Any command, run inside a host.

use std::io;
use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Instant;

use super::item::Item;
use super::listening::await_listener;
use super::process::{Exit, Program, Site, Stream};
use super::sockets;
use super::stop::Stop;
use crate::plan::Traffic;
use mptcplab_linux::describe;
use mptcplab_record::{Output, ProgramRun};

/// Runs the server's command, if any, and at the item's time the client's. Gives whether one of them
/// had a TCP socket that was to be connected to another host.
pub(super) fn run(
    item: &Item,
    argv: &[String],
    server_argv: Option<&[String]>,
    duration_ns: Option<u64>,
) -> bool {
    let Ok(clients_ended) = Stop::new() else {
        item.warn("no file descriptors are left: nothing was run");
        return false;
    };
    thread::scope(|scope| {
        if let Some(argv) = server_argv {
            let stops = [&item.stop, &clients_ended];
            let site = item.server_site();
            scope.spawn(move || run_one(item, (site, "server"), argv, &stops, None));
            await_listener(item);
        }
        if item.begin() {
            let deadline = duration_ns.map(|duration| item.instant(item.recorder.now() + duration));
            run_one(
                item,
                (item.client_site(), "client"),
                argv,
                &[&item.stop],
                deadline,
            );
            sockets::await_sent(item);
        }
        clients_ended.request("the client has ended");
    });
    sockets::write(item) > 0
}

fn run_one(
    item: &Item,
    (site, side): (Site<'_>, &'static str),
    argv: &[String],
    stops: &[&Stop],
    deadline: Option<Instant>,
) {
    let argv = with_addresses(argv, &item.traffic);
    let program = Program {
        site,
        argv: &argv,
        protocol: item.traffic.protocol,
        may_be_daemon: side == "server",
        owner: &item.owner,
        recorder: &item.recorder,
    };
    let start_ns = item.recorder.now();
    let ended = program.run(stops, deadline, |stream, text| {
        let stream = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let (traffic, node, t_ns) = (&item.traffic.name, &site.node.name, item.recorder.now());
        item.write(Output {
            traffic,
            node,
            stream,
            t_ns,
            text,
        });
    });
    let end_ns = ended
        .as_ref()
        .map_or_else(|_| item.recorder.now(), |&(_, end_ns)| end_ns);
    let exit = ended.map(|(exit, _)| exit);
    write_run(
        item,
        (site, side),
        argv.join(" "),
        (start_ns, end_ns),
        &exit,
    );
    let name = format!("{} on {}", argv.join(" "), site.node.name);
    match exit {
        Ok(Exit::Itself(status)) => {
            item.event(&format!("{name}: {status}"));
            if !status.success() {
                item.warn(&format!("{name} failed: {status}"));
            }
        }
        Ok(Exit::Deadline) => item.event(&format!("{name}: its time was over")),
        Ok(Exit::Stopped) => item.event(&format!("{name}: ended")),
        Err(error) => item.warn(&format!("{name} could not be run: {}", describe(&error))),
    }
}

/// Writes how a program's run went.
fn write_run(
    item: &Item,
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
        traffic: &item.traffic.name,
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
    item.write(row);
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
