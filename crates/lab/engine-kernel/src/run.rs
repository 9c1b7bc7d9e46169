//! One run in the lab process, from the plan on standard input to the rows on standard output.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_record::{Done, Ready};
use serde::Serialize;

use crate::controller;
use crate::emulator::Summary;
use crate::isolate::{self, Walls};
use crate::network::{self, Links, Network};
use crate::node::Node;
use crate::pause::{Command, Pauser};
use crate::plan::Plan;
use crate::record::Recorder;
use crate::telemetry::{self, NodeContext, Probes};
use crate::timeline;
use crate::traffic::{self, Applications, Context, Ended, Running, Stop};
use crate::translations::Translations;

/// The error of transfers that Ctrl-C ends.
const INTERRUPTED: &str = "interrupted";

/// Runs the plan that stands on the first line of standard input, in namespaces of its
/// own ([`isolate`]), and ends the process. A further line `stop` ends the traffic and keeps what was
/// measured, others are commands to a run that can be paused; the end of standard input ends everything
/// at once. The caller must be single-threaded.
pub fn main() -> ! {
    let status = match run() {
        Ok(()) => 0,
        Err(error) => {
            #[derive(Serialize)]
            struct Failed {
                record: &'static str,
                text: String,
            }
            let failed = Failed {
                record: "failed",
                text: error.to_string(),
            };
            if let Ok(line) = serde_json::to_string(&failed) {
                // The reader may have gone.
                writeln!(io::stdout(), "{line}").ok();
            }
            1
        }
    };
    // SAFETY: ends the process at once; every row has been written.
    unsafe { libc::_exit(status) }
}

fn run() -> io::Result<()> {
    isolate::forget_early_signals()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let plan: Plan = serde_json::from_str(&line)
        .map_err(|error| io::Error::other(format!("the plan cannot be read: {error}")))?;
    let connections = controller::connections_outside(&plan)?;
    let walls = isolate::enter()?;
    let stop = Stop::new()?;
    let commands = follow_stdin(stop.clone())?;

    let begun = Instant::now();
    let plan = Arc::new(plan);
    let network = Network::build(&plan, connections)?;
    let recorder = Recorder::new(Box::new(io::stdout()))?;
    let recorded = record(&plan, network, walls, &recorder, (stop, commands), begun);
    let written = recorder.finish();
    recorded.and(written)
}

/// Runs the plan in its network; `begun` is when building that began.
fn record(
    plan: &Arc<Plan>,
    mut network: Network,
    walls: Walls,
    recorder: &Recorder,
    (stop, commands): (Stop, Receiver<Command>),
    begun: Instant,
) -> io::Result<()> {
    let nodes = Arc::new(std::mem::take(&mut network.nodes));
    let of_nodes = nodes.iter().map(|node| &node.netns);
    let pausable = of_nodes.clone().chain(network.of_controller());
    let pausable: Vec<_> = pausable.cloned().collect();
    let namespaces = of_nodes.chain(network.of_programs());
    walls.guard.entrust(namespaces.cloned().collect())?;
    network::configure(&nodes, plan, recorder)?;
    let context = Context {
        recorder: recorder.clone(),
        nodes: plan
            .nodes
            .iter()
            .zip(nodes.iter())
            .map(|(planned, node)| NodeContext::new(planned, node.netns.clone()))
            .collect(),
        stop,
        seed: plan.seed,
        applications: Applications::default(),
        translations: Translations::default(),
    };
    let prepared = network.prepare(plan, &nodes, &context, walls.reserved)?;
    let traffic = traffic::start(&plan.traffic, &context).map_err(io::Error::other)?;
    traffic.await_servers();
    let probes = Probes::open(&context.nodes, recorder)?;
    recorder.write(ready(plan, &nodes, begun))?;

    // All are ready: the links, the events and the traffic have one zero.
    let links = prepared.begin(recorder)?;
    let pauser = Pauser {
        plan: Arc::clone(plan),
        emulator: links.control().emulator().clone(),
        recorder: recorder.clone(),
        namespaces: pausable,
        halted: None,
    };
    let attend = move || pauser.attend(&commands);
    thread::Builder::new()
        .name("commands".into())
        .spawn(attend)?;
    let ended = drive(plan, &nodes, &links, &context, (traffic, probes));
    let ending = Instant::now();
    // Where the links have failed, that is the cause of whatever else went wrong.
    let mut summary = links.stop(recorder)?;
    let ended = ended?;
    if ended == Ended::Limit {
        recorder.warn("the run was ended by its time limit before all traffic was done");
    }
    drop(nodes);
    for entry in summary.flow_entries.entries.drain(..) {
        recorder.write(entry)?;
    }
    warn_of_lateness(&summary, recorder);
    recorder.write(done(&summary, ending, ended))
}

/// Runs telemetry and events until the traffic has ended.
fn drive(
    plan: &Arc<Plan>,
    nodes: &Arc<Vec<Node>>,
    links: &Links,
    context: &Context,
    (traffic, probes): (Running, Probes),
) -> io::Result<Ended> {
    let control = links.control();
    let events = timeline::start(plan, control.clone(), nodes, context)?;
    let sample_links = {
        let plan = Arc::clone(plan);
        move |recorder: &Recorder| control.sample(&plan, recorder)
    };
    let interval = Duration::from_nanos(plan.sample_interval_ns);
    let recorder = context.recorder.clone();
    let sampler = telemetry::start(probes, sample_links, interval, recorder)?;
    let ended = traffic.wait(plan.time_limit_ns);
    drop(events);
    sampler.stop()?;
    Ok(ended)
}

/// Warns where the links lacked processor time to do as the plan asks.
fn warn_of_lateness(summary: &Summary, recorder: &Recorder) {
    const TOLERABLE_NS: u64 = 1_000_000;
    if summary.overruns > 0 {
        recorder.warn(&format!(
            "the emulator lost {} frames that no link dropped: this machine is too slow or too \
             busy for these rates; lower them, or repeat when it is idle",
            summary.overruns
        ));
    }
    if let Some(late_ns) = summary
        .lateness
        .quantile_ns(0.99)
        .filter(|ns| *ns > TOLERABLE_NS)
    {
        recorder.warn(&format!(
            "1 % of the packets left the links {:.1} ms late or later: this machine is too busy \
             for exact delays; repeat when it is idle{}",
            late_ns as f64 / 1e6,
            if summary.realtime {
                ""
            } else {
                ", or with real-time priority (as root)"
            },
        ));
    }
}

/// Follows standard input: `stop` ends the traffic, other lines are commands, which are passed on. At
/// its end the guard ends the process ([`isolate::Guard`]).
fn follow_stdin(stop: Stop) -> io::Result<Receiver<Command>> {
    let (pass, commands) = channel();
    thread::Builder::new().name("stdin".into()).spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let command = match line.as_str() {
                "stop" => {
                    stop.request(INTERRUPTED);
                    Some(Command::GoOn)
                }
                line => Command::read(line),
            };
            // A run that is over obeys none.
            command.map(|command| pass.send(command).ok());
        }
    })?;
    Ok(commands)
}

fn ready<'a>(plan: &'a Plan, nodes: &[Node], begun: Instant) -> Ready<'a> {
    let names = plan.nodes.iter().map(|node| node.name.as_str());
    let threads = nodes.iter().map(|node| Some(node.thread_id));
    Ready {
        setup_ns: Some(begun.elapsed().as_nanos() as u64),
        nodes: names.zip(threads).collect(),
    }
}

fn done(summary: &Summary, ending: Instant, ended: Ended) -> Done {
    let lateness = &summary.lateness;
    Done {
        interrupted: matches!(ended, Ended::Stopped(_)),
        teardown_ns: Some(ending.elapsed().as_nanos() as u64),
        realtime: Some(summary.realtime),
        packets: lateness.count(),
        overruns: summary.overruns,
        lateness_p50_ns: lateness.quantile_ns(0.5),
        lateness_p99_ns: lateness.quantile_ns(0.99),
        lateness_max_ns: Some(lateness.max_ns()),
        flow_entries_left_out: Some(summary.flow_entries.left_out).filter(|count| *count > 0),
    }
}
