//! The lab process: one run, from the plan on standard input to the rows on standard output.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::emulator::Summary;
use crate::host::Host;
use crate::isolate::{self, Guard};
use crate::network::{self, Links, Network};
use crate::plan::Plan;
use crate::realtime::ReservedThread;
use crate::record::Recorder;
use crate::telemetry::{self, NodeContext};
use crate::timeline;
use crate::traffic::{self, Applications, Context, Ended, Running, Stop};

/// The reason of a transfer that Ctrl-C ended.
const INTERRUPTED: &str = "interrupted";

/// Runs the plan that stands on the first line of standard input, inside walls of its own
/// ([`isolate`]), and ends the process. A further line `stop` ends the traffic and keeps what was
/// measured; the end of standard input ends everything at once. The caller must be single-threaded.
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
                // Without a reader there is nobody to tell.
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
    let (reserved, guard) = isolate::enter()?;
    let stop = Stop::new()?;
    obey_stdin(stop.clone())?;

    let begun = Instant::now();
    let plan = Arc::new(plan);
    let network = Network::build(&plan)?;
    let recorder = Recorder::new(Box::new(io::stdout()))?;
    let recorded = record(&plan, network, (reserved, guard), &recorder, stop, begun);
    let written = recorder.finish();
    recorded.and(written)
}

/// Runs the plan in its network; `begun` is when building that began.
fn record(
    plan: &Arc<Plan>,
    mut network: Network,
    (reserved, guard): (ReservedThread, Guard),
    recorder: &Recorder,
    stop: Stop,
    begun: Instant,
) -> io::Result<()> {
    let hosts = Arc::new(std::mem::take(&mut network.hosts));
    guard.entrust(hosts.iter().map(|host| host.netns.clone()).collect())?;
    network::configure(&hosts, plan, recorder)?;
    let context = Context {
        recorder: recorder.clone(),
        nodes: plan
            .nodes
            .iter()
            .zip(hosts.iter())
            .map(|(node, host)| NodeContext::new(node, host.netns.clone()))
            .collect(),
        stop: stop.clone(),
        seed: plan.seed,
        applications: Applications::default(),
    };
    let traffic = traffic::start(&plan.traffic, &context).map_err(io::Error::other)?;
    recorder.write("ready", Ready::new(plan, &hosts, begun))?;

    // Everybody is ready: the links, the events and the traffic have one zero.
    let zero = recorder.begin();
    let failed = move || stop.request("the links failed");
    let links = network.start(plan, reserved, zero, failed)?;
    let ended = drive(plan, &hosts, &links, &context, traffic);
    let ending = Instant::now();
    // Where the links have failed, that is the cause of whatever else went wrong.
    let summary = links.stop(recorder)?;
    let ended = ended?;
    if ended == Ended::Limit {
        recorder.warn("the run was ended by its time limit before all traffic was done");
    }
    drop(hosts);
    warn_of_the_emulator(&summary, recorder);
    recorder.write("done", Done::new(&summary, ending, ended))
}

/// Telemetry and events, until the traffic has ended.
fn drive(
    plan: &Arc<Plan>,
    hosts: &Arc<Vec<Host>>,
    links: &Links,
    context: &Context,
    traffic: Running,
) -> io::Result<Ended> {
    let switchboard = links.switchboard();
    let events = timeline::start(plan, switchboard.clone(), hosts, context)?;
    let sample_links = {
        let plan = Arc::clone(plan);
        move |recorder: &Recorder| switchboard.sample(&plan, recorder)
    };
    let interval = Duration::from_nanos(plan.sample_interval_ns);
    let recorder = context.recorder.clone();
    let sampler = telemetry::start(&context.nodes, sample_links, interval, recorder)?;
    let ended = traffic.wait(plan.time_limit_ns);
    drop(events);
    sampler.stop()?;
    Ok(ended)
}

/// Says so where the links did not do what the plan asks, for want of processor time.
fn warn_of_the_emulator(summary: &Summary, recorder: &Recorder) {
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

/// Follows standard input: `stop` ends the traffic. Its end ends the process, which is for the
/// guard to do ([`isolate::Guard`]).
fn obey_stdin(stop: Stop) -> io::Result<()> {
    thread::Builder::new().name("stdin".into()).spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if line == "stop" {
                stop.request(INTERRUPTED);
            }
        }
    })?;
    Ok(())
}

#[derive(Serialize)]
struct Ready<'a> {
    setup_ns: u64,
    nodes: BTreeMap<&'a str, i32>,
}

impl<'a> Ready<'a> {
    fn new(plan: &'a Plan, hosts: &[Host], begun: Instant) -> Self {
        let names = plan.nodes.iter().map(|node| node.name.as_str());
        Self {
            setup_ns: begun.elapsed().as_nanos() as u64,
            nodes: names.zip(hosts.iter().map(|host| host.thread_id)).collect(),
        }
    }
}

#[derive(Serialize)]
struct Done {
    interrupted: bool,
    teardown_ns: u64,
    realtime: bool,
    packets: u64,
    overruns: u64,
    lateness_p50_ns: Option<u64>,
    lateness_p99_ns: Option<u64>,
    lateness_max_ns: u64,
}

impl Done {
    fn new(summary: &Summary, ending: Instant, ended: Ended) -> Self {
        let lateness = &summary.lateness;
        Self {
            interrupted: matches!(ended, Ended::Stopped(_)),
            teardown_ns: ending.elapsed().as_nanos() as u64,
            realtime: summary.realtime,
            packets: lateness.count(),
            overruns: summary.overruns,
            lateness_p50_ns: lateness.quantile_ns(0.5),
            lateness_p99_ns: lateness.quantile_ns(0.99),
            lateness_max_ns: lateness.max_ns(),
        }
    }
}
