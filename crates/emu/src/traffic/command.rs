//! Any command, run inside a host.

use std::net::IpAddr;
use std::thread;
use std::time::Instant;

use super::item::Item;
use super::listening::await_listener;
use super::process::{Exit, Program, Site, Stream};
use super::rows::Output;
use super::stop::Stop;
use crate::plan::Traffic;
use mptcplab_kernel::describe;

/// Runs the server's command, if any, and at the item's time the client's.
pub(super) fn run(
    item: &Item,
    argv: &[String],
    server_argv: Option<&[String]>,
    duration_ns: Option<u64>,
) {
    let Ok(clients_ended) = Stop::new() else {
        return item.warn("no file descriptors are left: nothing was run");
    };
    thread::scope(|scope| {
        if let Some(argv) = server_argv {
            let stops = [&item.stop, &clients_ended];
            scope.spawn(move || run_one(item, item.server_site(), argv, &stops, None));
            await_listener(item);
        }
        if item.begin() {
            let deadline = duration_ns.map(|duration| item.instant(item.recorder.now() + duration));
            run_one(item, item.client_site(), argv, &[&item.stop], deadline);
        }
        clients_ended.request("the client has ended");
    });
}

fn run_one(
    item: &Item,
    site: Site<'_>,
    argv: &[String],
    stops: &[&Stop],
    deadline: Option<Instant>,
) {
    let argv = with_addresses(argv, &item.traffic);
    let program = Program {
        site,
        argv: &argv,
        protocol: item.traffic.protocol,
    };
    let exit = program.run(stops, deadline, |stream, text| {
        let stream = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let (traffic, node, t_ns) = (&item.traffic.name, &site.node.name, item.recorder.now());
        item.write(
            "outputs",
            Output {
                traffic,
                node,
                stream,
                t_ns,
                text,
            },
        );
    });
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
