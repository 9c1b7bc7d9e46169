//! Files over FTP (RFC 959): a real server and client, pyftpdlib and ftplib, as programs in their
//! hosts. What they print ([`Message`]) becomes rows.

use std::collections::BTreeMap;
use std::env;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use mptcplab_record::Transfer;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::flow::Flow;
use super::listening::nothing_listens;
use super::payload::Receiver;
use super::process::{Exit, Program, Site, Stream};
use super::stop::Stop;
use crate::plan::Way;
use mptcplab_linux::describe;
use mptcplab_traffic::{Failure, complete};

/// The environment variable with the path of the Python interpreter.
pub(crate) const PYTHON: &str = "MPTCPLAB_PYTHON";

/// Time within which the server must listen: those of a dozen flows start at once, each with an
/// interpreter of its own, on a machine that may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which files go which way.
#[derive(Clone, Copy)]
pub(super) struct Files {
    pub(super) way: Way,
    pub(super) bytes: u64,
    pub(super) count: u32,
}

/// The argument of the client's program.
#[derive(Serialize)]
struct ClientArguments {
    host: String,
    port: u16,
    source: Option<String>,
    way: Way,
    bytes: u64,
    count: u32,
    seed: u64,
}

/// The argument of the server's program.
#[derive(Serialize)]
struct ServerArguments {
    ipv6: bool,
    port: u16,
    seed: u64,
}

/// A line of a program's output. Times are of `CLOCK_MONOTONIC`, in nanoseconds.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Message {
    /// The client is about to open a data connection.
    Start { index: u32, t_ns: u64 },
    /// The data connection stands.
    Connected {
        index: u32,
        t_ns: u64,
        source: SocketAddr,
        target: SocketAddr,
    },
    /// The receiver got payload: times and sizes.
    Delivered {
        index: u32,
        deliveries: Vec<(u64, u64)>,
    },
    /// The receiver got the end of the file; `wrong` is the place of a wrong byte.
    Received { index: u32, wrong: Option<u64> },
    /// The client has closed the data connection, having read its MPTCP_INFO (in hexadecimal).
    End {
        index: u32,
        mptcp_info: Option<String>,
        error: Option<String>,
    },
}

/// Runs the server, and at the flow's time the client. `serving` is dropped when the server listens,
/// or cannot.
pub(super) fn run(flow: &Flow, files: Files, serving: Sender<()>) {
    let (Ok(clients_ended), Ok(server_ended)) = (Stop::new(), Stop::new()) else {
        return flow.warn("no file descriptors are left: nothing was sent");
    };
    let (ipv6, port) = (flow.traffic.target.is_ipv6(), flow.traffic.port);
    let server = ServerArguments {
        ipv6,
        port,
        seed: flow.seed,
    };
    let client = ClientArguments {
        host: flow.traffic.target.to_string(),
        port,
        source: flow.traffic.source.map(|source| source.to_string()),
        way: files.way,
        bytes: files.bytes,
        count: files.count,
        seed: flow.seed,
    };
    let session = &Session::new(flow, files);
    thread::scope(|scope| {
        let stops = [&flow.stop, &clients_ended];
        let ended = &server_ended;
        scope.spawn(move || {
            session.run(flow.server_site(), "ftp_server", &server, &stops);
            ended.request("the server has ended");
        });
        if nothing_listens(flow, PATIENCE, ended) {
            flow.warn(&format!(
                "the FTP server on {} did not listen on TCP port {} within {} s",
                flow.server.name,
                flow.traffic.port,
                PATIENCE.as_secs(),
            ));
        }
        drop(serving);
        if flow.begin() {
            session.run(flow.client_site(), "ftp_client", &client, &[&flow.stop]);
        }
        clients_ended.request("the client has ended");
    });
    session.finish();
}

/// The state of the transfers that are under way.
struct Session<'a> {
    flow: &'a Flow,
    files: Files,
    open: Mutex<BTreeMap<u32, Open<'a>>>,
}

/// A transfer whose end has not been told by both ends.
struct Open<'a> {
    transfer: Transfer<'a>,
    receiver: Receiver<'a>,
    received: bool,
    ended: bool,
    error: Option<Failure>,
}

impl<'a> Session<'a> {
    fn new(flow: &'a Flow, files: Files) -> Self {
        Self {
            flow,
            files,
            open: Mutex::default(),
        }
    }

    fn run(&self, site: Site<'_>, module: &str, arguments: &impl Serialize, stops: &[&Stop]) {
        let python = env::var(PYTHON).unwrap_or_default();
        let module = format!("mptcplab.engine.kernel.{module}");
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        let argv = [python, "-m".to_owned(), module, arguments];
        let program = Program {
            site,
            argv: &argv,
            protocol: self.flow.traffic.protocol,
            may_be_daemon: false,
            owner: &self.flow.owner,
            recorder: &self.flow.recorder,
        };
        let complaint = Mutex::new(String::new());
        let exit = program.run(stops, None, |stream, line| {
            match (stream, serde_json::from_str(line)) {
                (Stream::Stdout, Ok(message)) => self.take(message),
                // A traceback's last line says what is wrong.
                _ => line.clone_into(&mut complaint.lock().unwrap_or_else(PoisonError::into_inner)),
            }
        });
        let complaint = complaint
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match exit {
            Ok((Exit::Itself(status), _)) if !status.success() => {
                self.flow.warn(&format!(
                    "FTP on {} failed: {status}: {complaint}",
                    site.node.name
                ));
            }
            Ok(_) => {}
            Err(error) => {
                self.flow.warn(&format!(
                    "FTP on {} could not be run: {}",
                    site.node.name,
                    describe(&error)
                ));
            }
        }
    }

    fn take(&self, message: Message) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, now_ns) = (Instant::now(), monotonic_ns());
        let since_zero = |t_ns: u64| -> Nanos {
            let ago = Duration::from_nanos(now_ns.saturating_sub(t_ns));
            self.flow
                .recorder
                .clock()
                .at(now.checked_sub(ago).unwrap_or(now))
        };
        let index = match &message {
            Message::Start { index, .. }
            | Message::Connected { index, .. }
            | Message::Delivered { index, .. }
            | Message::Received { index, .. }
            | Message::End { index, .. } => *index,
        };
        let this = open
            .entry(index)
            .or_insert_with(|| Open::new(self.flow, self.files.way, index));
        match message {
            Message::Start { t_ns, .. } => this.transfer.start_ns = since_zero(t_ns),
            Message::Connected {
                t_ns,
                source,
                target,
                ..
            } => {
                this.transfer.connected_ns = Some(since_zero(t_ns));
                this.transfer.source = Some(source);
                this.transfer.target = target;
            }
            Message::Delivered { deliveries, .. } => {
                for (t_ns, bytes) in deliveries {
                    this.receiver.account(since_zero(t_ns), bytes);
                }
            }
            Message::Received { wrong, .. } => {
                this.received = true;
                if let Some(place) = wrong {
                    let sentence = format!("byte {place} is not the one that was sent");
                    this.error.get_or_insert(Failure::Other(sentence));
                }
            }
            Message::End {
                mptcp_info, error, ..
            } => {
                this.ended = true;
                this.error = error.map(Failure::Other).or(this.error.take());
                let info = mptcp_info.as_deref().and_then(from_hexadecimal);
                self.flow
                    .write_final_connection(&mut this.transfer, info.as_deref());
            }
        }
        let done = this.ended && (this.received || this.error.is_some());
        if let Some(this) = done.then(|| open.remove(&index)).flatten() {
            self.write(this);
        }
    }

    /// Writes what the ended programs left open.
    fn finish(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for mut this in open.into_values() {
            let reason = self
                .flow
                .stop
                .reason()
                .unwrap_or("the FTP client or server ended early");
            this.error.get_or_insert(Failure::Stopped(reason));
            self.write(this);
        }
    }

    fn write(&self, this: Open<'_>) {
        let Open {
            mut transfer,
            receiver,
            error,
            ..
        } = this;
        let bytes = receiver.bytes();
        receiver.finish(&mut transfer);
        let result = error.map_or_else(|| complete(bytes, self.files.bytes), Err);
        self.flow.write_transfer(transfer, result);
    }
}

impl<'a> Open<'a> {
    fn new(flow: &'a Flow, way: Way, index: u32) -> Self {
        let transfer = flow.transfer("ftp", index, way);
        let receiver = Receiver::new(&transfer, flow, None);
        Self {
            transfer,
            receiver,
            received: false,
            ended: false,
            error: None,
        }
    }
}

/// `CLOCK_MONOTONIC`, by which the programs tell times.
fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
    })
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    Some(
        digits?
            .chunks_exact(2)
            .map(|pair| (pair[0] << 4 | pair[1]) as u8)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_read_and_anything_else_refused() {
        assert_eq!(from_hexadecimal("00ff1a"), Some(vec![0, 255, 26]));
        assert_eq!(from_hexadecimal("0g"), None);
    }
}
