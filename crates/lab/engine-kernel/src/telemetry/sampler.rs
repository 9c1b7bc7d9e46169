//! One thread that asks every node in turn, on a schedule that does not drift.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mptcplab_record::Counter;
use mptcplab_traffic::verdict::Mib;

use super::NodeContext;
use super::interfaces;
use super::mib;
use super::rows::{connection_sample, subflow_sample};
use crate::record::Recorder;
use mptcplab_linux::dump::Dumper;
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::sock_diag;

/// The cost of sampling.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Rounds over all nodes.
    pub rounds: u32,
    /// Time of all rounds.
    pub total: Duration,
    /// Time of the longest round.
    pub longest: Duration,
}

/// A running sampler.
pub struct Sampler {
    stop: Sender<()>,
    thread: JoinHandle<io::Result<Cost>>,
}

/// The sockets through which the nodes are asked.
pub struct Probes(Vec<Probe>);

impl Probes {
    /// Opens them and takes the first sample, before the run begins: it would take the processors
    /// from the programs in the moment in which they begin.
    ///
    /// # Errors
    /// When a node's namespace cannot be entered or gives no netlink socket, or the reader of the
    /// rows has gone.
    pub fn open(nodes: &[NodeContext], recorder: &Recorder) -> io::Result<Self> {
        let mut probes = nodes
            .iter()
            .map(Probe::open)
            .collect::<io::Result<Vec<_>>>()?;
        for probe in &mut probes {
            probe.sample(recorder)?;
        }
        Ok(Self(probes))
    }
}

/// Starts to sample nodes every `interval` from the run's zero on; `links` writes its own rows each
/// time, and at once.
///
/// # Errors
/// When the thread cannot be started.
pub fn start(
    Probes(mut probes): Probes,
    mut links: impl FnMut(&Recorder) -> io::Result<()> + Send + 'static,
    interval: Duration,
    recorder: Recorder,
) -> io::Result<Sampler> {
    let (stop, stopped) = channel();
    let thread = thread::Builder::new()
        .name("sampler".into())
        .spawn(move || {
            let mut cost = Cost::default();
            links(&recorder)?;
            let clock = recorder.clock();
            let mut due = clock.zero() + interval;
            loop {
                let end = clock.receive_by(&stopped, due) != Err(RecvTimeoutError::Timeout);
                let begin = Instant::now();
                for probe in &mut probes {
                    probe.sample(&recorder)?;
                }
                links(&recorder)?;
                let taken = begin.elapsed();
                cost.rounds += 1;
                cost.total += taken;
                cost.longest = cost.longest.max(taken);
                if end {
                    break;
                }
                // A round that is late is left out, so that the others stay on the grid.
                while due <= clock.instant() {
                    due += interval;
                }
            }
            for probe in &probes {
                probe.write_counters(&recorder)?;
            }
            Ok(cost)
        })?;
    Ok(Sampler { stop, thread })
}

impl Sampler {
    /// Takes a last sample and writes the counters' differences since the start.
    ///
    /// # Errors
    /// When the reader of the rows has gone.
    pub fn stop(self) -> io::Result<Cost> {
        // The thread has gone already where it failed to write; its result tells.
        let _ = self.stop.send(());
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The sockets through which one node is asked.
struct Probe {
    node: NodeContext,
    sockets: Dumper,
    interfaces: Interfaces,
    /// Lists that failed, and are not asked for again.
    refused: BTreeSet<&'static str>,
    before: Mib,
}

impl Probe {
    fn open(node: &NodeContext) -> io::Result<Self> {
        let (sockets, interfaces, before) = node.netns.run(|| {
            let sockets = Dumper::open(libc::NETLINK_SOCK_DIAG)?;
            io::Result::Ok((sockets, Interfaces::open()?, mib::read()?))
        })??;
        Ok(Self {
            node: node.clone(),
            sockets,
            interfaces,
            refused: BTreeSet::new(),
            before,
        })
    }

    fn sample(&mut self, recorder: &Recorder) -> io::Result<()> {
        self.list("interfaces", recorder, |probe, write| {
            let t_ns = recorder.now();
            let node = &probe.node.name;
            interfaces::interfaces(&mut probe.interfaces, (t_ns, node), |row| {
                write(recorder.write(row));
            })
        })?;
        self.list("TCP sockets", recorder, |probe, write| {
            let when = (recorder.now(), false);
            sock_diag::tcp_sockets(&mut probe.sockets, |socket| {
                probe.node.accounts.take_socket(when.0, &socket);
                let row = subflow_sample(
                    when,
                    &probe.node,
                    (socket.local, socket.remote),
                    socket.mptcp.unwrap_or_default(),
                    socket.congestion_control.as_deref(),
                    (&socket.info, socket.memory),
                );
                write(recorder.write(row));
            })
        })?;
        self.list("MPTCP sockets", recorder, |probe, write| {
            let when = (recorder.now(), false);
            sock_diag::mptcp_sockets_by_cookie(&mut probe.sockets, |cookie, info, memory| {
                probe.node.accounts.take_connection(info.token, cookie);
                let row = connection_sample(when, &probe.node, (&info, memory));
                write(recorder.write(row));
            })
        })
    }

    /// Reads one list; where the kernel refuses it, says so once and does not ask again.
    fn list(
        &mut self,
        what: &'static str,
        recorder: &Recorder,
        read: impl FnOnce(&mut Self, &mut dyn FnMut(io::Result<()>)) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.refused.contains(what) {
            return Ok(());
        }
        let mut written = Ok(());
        let result = read(self, &mut |row| {
            if written.is_ok() {
                written = row;
            }
        });
        if let Err(error) = result {
            self.refused.insert(what);
            let node = &self.node.name;
            recorder.warn(&format!("telemetry of {node} goes without {what}: {error}"));
        }
        written
    }

    fn write_counters(&self, recorder: &Recorder) -> io::Result<()> {
        let after = self.node.netns.run(mib::read)??;
        for (name, &value) in &mib::differences(&self.before, &after) {
            recorder.write(Counter {
                node: &self.node.name,
                name,
                value,
            })?;
        }
        Ok(())
    }
}
