//! Traffic over real sockets, between the namespaces of the nodes.

mod applications;
mod bulk;
mod command;
mod conversation;
mod datagrams;
mod failure;
mod flow;
mod ftp;
mod http;
mod lines;
mod listening;
mod notification;
mod payload;
mod ping;
mod process;
mod rendezvous;
mod request_response;
mod rows;
mod shim;
mod socket;
mod sockets;
mod stop;
mod stream;
mod verdict;
mod watch;
mod workload;

use std::env;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mptcplab_link::Nanos;
use mptcplab_traffic::splitmix64;
use socket2::Socket;
use thiserror::Error;

pub use self::applications::Applications;
use self::flow::Flow;
pub(crate) use self::ftp::PYTHON;
pub(crate) use self::process::{piped, read_lines};
pub use self::stop::Stop;
pub(crate) use self::stop::{Wake, wait};
use self::verdict::Counters;
use crate::plan::{Protocol, Traffic, Workload};
use crate::record::Recorder;
use crate::telemetry::NodeContext;
use crate::telemetry::accounts::{Accounts, Keeper};
use crate::translations::Translations;

/// State that all traffic of a run shares.
#[derive(Clone)]
pub struct Context {
    /// The writer of rows.
    pub recorder: Recorder,
    /// The nodes of the plan, in its order.
    pub nodes: Vec<NodeContext>,
    /// Ends all traffic early; every transfer is recorded with what it got so far, and the
    /// reason of the stop as its error.
    pub stop: Stop,
    /// The run's seed.
    pub seed: u64,
    /// The applications that open and close their own subflows.
    pub applications: Applications,
    /// Translations by middleboxes of the addresses of clients.
    pub translations: Translations,
}

/// The reason for which traffic cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The kernel does not have a congestion control that the plan names.
    #[error(
        "traffic {traffic}: this kernel has no congestion control {name:?}; it has {available}"
    )]
    CongestionControl {
        /// The flow.
        traffic: String,
        /// The name that is unknown.
        name: String,
        /// The names that are known.
        available: String,
    },
    /// The Python that runs the FTP server and client is not given.
    #[error(
        "traffic {traffic}: FTP needs the environment variable {PYTHON}, the path of the Python interpreter that mptcplab is installed in"
    )]
    NoPython {
        /// The flow.
        traffic: String,
    },
    /// The server's socket or the telemetry of a flow could not be opened.
    #[error("traffic {traffic}: {what}: {source}")]
    Io {
        /// The flow.
        traffic: String,
        /// The operation.
        what: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

/// The end of a run's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every flow has ended.
    All,
    /// The limit of time came first.
    Limit,
    /// A stop was requested, for this reason.
    Stopped(&'static str),
}

/// Traffic that has started.
pub struct Running {
    flows: Vec<JoinHandle<()>>,
    ended: Receiver<()>,
    /// Closed when no server of the flows is still being started.
    serving: Receiver<()>,
    recorder: Recorder,
    stop: Stop,
    /// Ended after all traffic.
    _keepers: Vec<Keeper>,
}

/// Opens the servers of every flow and starts its clients, each at its time once the run has begun
/// ([`Recorder::begin`]).
///
/// # Errors
/// When the plan names a congestion control that this kernel lacks, or a server cannot listen.
/// Nothing has been sent then.
pub fn start(flows: &[Traffic], context: &Context) -> Result<Running, StartError> {
    let keepers = keep_accounts(flows, context)?;
    let prepared = (1..)
        .zip(flows)
        .map(|(number, traffic)| prepare(traffic, context, splitmix64(context.seed, number)))
        .collect::<Result<Vec<_>, _>>()?;
    let (end, ended) = channel();
    let (starting, serving) = channel();
    let spawn = |Prepared {
                     flow,
                     listener,
                     before,
                 }: Prepared| {
        let (end, starting) = (end.clone(), starting.clone());
        let name = flow.traffic.name.clone();
        thread::Builder::new()
            .name(name.clone())
            .spawn(move || {
                workload::run(&flow, listener, before, starting);
                // The receiver may have gone.
                let _ = end.send(());
            })
            .map_err(|source| StartError::Io {
                traffic: name,
                what: "start a thread",
                source,
            })
    };
    let flows = prepared
        .into_iter()
        .map(spawn)
        .collect::<Result<Vec<_>, _>>()?;
    let (recorder, stop) = (context.recorder.clone(), context.stop.clone());
    Ok(Running {
        flows,
        ended,
        serving,
        recorder,
        stop,
        _keepers: keepers,
    })
}

/// Keeps the accounts of the nodes in which programs run.
fn keep_accounts(flows: &[Traffic], context: &Context) -> Result<Vec<Keeper>, StartError> {
    let runs_programs = |flow: &Traffic| {
        matches!(
            flow.workload,
            Workload::Command { .. } | Workload::Ftp { .. }
        )
    };
    let mut keepers = Vec::new();
    for flow in flows {
        let owner = runs_programs(flow).then(|| flow.name.as_str().into());
        for node in [flow.client, flow.server].map(|number| &context.nodes[number]) {
            node.accounts
                .book(|book| book.has_port(flow.port, owner.clone()));
            if runs_programs(flow) {
                let kept = Accounts::keep(node, &context.recorder);
                keepers.extend(kept.map_err(|source| StartError::Io {
                    traffic: flow.name.clone(),
                    what: "keep accounts of sockets",
                    source,
                })?);
            }
        }
    }
    Ok(keepers)
}

impl Running {
    /// Returns when the servers that this project brings as programs listen: they take time to start,
    /// which is not the run's. Those of commands start with the run.
    pub fn await_servers(&self) {
        // Nothing is sent: every flow closes its end.
        let _ = self.serving.recv();
    }

    /// Returns when every flow has ended: by itself, because of a stop, or because `limit`
    /// (nanoseconds since the run's zero) has come, which stops them.
    ///
    /// # Panics
    /// When a thread of the traffic did.
    pub fn wait(self, limit: Nanos) -> Ended {
        let clock = self.recorder.clock();
        let limit = clock.zero() + Duration::from_nanos(limit);
        let mut end = Ended::All;
        for _ in &self.flows {
            if clock.receive_by(&self.ended, limit) == Err(RecvTimeoutError::Timeout) {
                end = Ended::Limit;
                break;
            }
        }
        if let Some(reason) = self.stop.reason() {
            end = Ended::Stopped(reason);
        }
        if end == Ended::Limit {
            self.stop.request("the time limit of the run was reached");
        }
        for flow in self.flows {
            if let Err(panic) = flow.join() {
                std::panic::resume_unwind(panic);
            }
        }
        end
    }
}

/// A flow that can start.
struct Prepared {
    flow: Flow,
    listener: Option<Socket>,
    /// The kernel's counters before it, where subflows are expected.
    before: Option<io::Result<Counters>>,
}

/// Checks a flow and opens its server.
fn prepare(traffic: &Traffic, context: &Context, seed: u64) -> Result<Prepared, StartError> {
    let name = || traffic.name.clone();
    let io = |what| {
        move |source| StartError::Io {
            traffic: name(),
            what,
            source,
        }
    };
    let available = socket::congestion_controls().map_err(io("list the congestion controls"))?;
    let wanted = [
        &traffic.congestion_control,
        &traffic.server_congestion_control,
    ];
    if let Some(unknown) = wanted.into_iter().find(|name| !available.contains(name)) {
        return Err(StartError::CongestionControl {
            traffic: name(),
            name: unknown.clone(),
            available: available.join(", "),
        });
    }
    if matches!(traffic.workload, Workload::Ftp { .. }) && env::var_os(PYTHON).is_none() {
        return Err(StartError::NoPython { traffic: name() });
    }
    let flow = Flow::new(traffic, context, seed).map_err(io("listen to the path manager"))?;
    let listens = matches!(
        traffic.workload,
        Workload::Bulk { .. }
            | Workload::Http { .. }
            | Workload::RequestResponse(_)
            | Workload::Stream { .. }
    );
    let listen = || socket::listen(traffic);
    let listener = listens
        .then(|| flow.server.netns.run(listen).and_then(|socket| socket))
        .transpose()
        .map_err(io("listen"))?;
    let expects = traffic.protocol == Protocol::Mptcp && traffic.expected_joins > 0;
    let before = expects.then(|| Counters::read(&flow.client, &flow.server));
    Ok(Prepared {
        flow,
        listener,
        before,
    })
}
