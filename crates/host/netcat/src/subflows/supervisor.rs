//! The thread that opens, closes and measures the subflows of one connection.

use std::io::Read;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use mptcplab_linux::changes::NetworkChanges;
use mptcplab_subflow::{Error, EventKind, Managers, Watch, connection};
use nix::poll::PollFlags;

use super::commands::Commands;
use super::path::PathState;
use super::tracker::{Change, Tracker};
use crate::account::SubflowAccount;
use crate::options::SubflowOptions;
use crate::report::Report;
use crate::stream::Stream;
use crate::waiting::Poll;

/// Interval between two readings of the counters.
const READ_EVERY: Duration = Duration::from_millis(100);
/// The same between the end of input and the acknowledgement of its last byte.
const READ_AT_END: Duration = Duration::from_millis(2);

/// Runs until the other end of `control` closes, and gives the account.
pub(super) fn run<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    stream: &'env Stream,
    options: &'env SubflowOptions,
    managers: Option<&'env Managers>,
    report: &'env Report,
    control: UnixStream,
    ending: Arc<AtomicBool>,
) -> SubflowAccount {
    let plain = match connection(stream) {
        Ok(_) => None,
        // It was over before this thread began.
        Err(Error::NotConnected) => {
            if options.any() {
                report.info("no subflows: the transfer was over before one could be opened");
            }
            return SubflowAccount::default();
        }
        // The socket asked for MPTCP.
        Err(Error::NotMptcp) => {
            Some("the peer does not speak MPTCP, or something between takes it away".to_owned())
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(reason) = plain {
        if options.any() {
            report.info(&format!("no subflows: {reason}"));
        } else {
            report.verbose(&reason);
        }
        return SubflowAccount {
            plain: Some(reason),
            subflows: Vec::new(),
        };
    }
    let commands = managers
        .map(|managers| Commands::new(scope, stream, managers, Arc::clone(&ending)))
        .transpose();
    let commands = commands.unwrap_or_else(|error| {
        report.info(&format!("no subflows: {error}"));
        None
    });
    let mut supervisor = Supervisor {
        stream,
        report,
        follow: options.follow,
        tracker: Tracker::new(),
        paths: Vec::new(),
        commands,
        ending,
        input_ended: false,
        peer_ended: false,
    };
    supervisor.read();
    if supervisor.commands.is_some() {
        supervisor.begin(options);
    }
    supervisor.run_until_end(&control);
    supervisor.read();
    supervisor.tell_too_late();
    SubflowAccount {
        plain: None,
        subflows: supervisor.tracker.account(),
    }
}

pub(super) struct Supervisor<'scope, 'env> {
    pub(super) stream: &'env Stream,
    pub(super) report: &'env Report,
    /// Paths that come and go are followed.
    pub(super) follow: bool,
    pub(super) tracker: Tracker,
    pub(super) paths: Vec<PathState>,
    /// `None` where no subflows can be opened: then there are no paths either.
    pub(super) commands: Option<Commands<'scope, 'env>>,
    ending: Arc<AtomicBool>,
    input_ended: bool,
    peer_ended: bool,
}

impl Supervisor<'_, '_> {
    /// Handles events until the connection's copying has ended.
    fn run_until_end(&mut self, control: &UnixStream) {
        let mut changes = match self.follow {
            true => NetworkChanges::open().ok(),
            false => None,
        };
        let mut watch = self
            .commands
            .as_ref()
            .and_then(|commands| commands.watch().ok());
        loop {
            let until = self.next_deadline();
            let mut poll = Poll::default();
            let handle = poll.add(control.as_fd(), PollFlags::POLLIN);
            let peer_ends = PollFlags::from_bits_retain(libc::POLLRDHUP);
            let peer = poll.add_if(!self.peer_ended, self.stream.as_fd(), peer_ends);
            let mut add = |descriptor| poll.add(descriptor, PollFlags::POLLIN);
            let done = self.commands.as_ref().map(|commands| add(commands.as_fd()));
            let changed = changes.as_ref().map(|changes| add(changes.as_fd()));
            let watched = watch.as_ref().map(|watch| add(watch.as_fd()));
            let Ok(polled) = poll.until(Some(until)) else {
                return;
            };
            if polled.flags(handle).contains(PollFlags::POLLIN) {
                let _ = (&*control).read(&mut [0; 64]);
                self.input_ended = true;
            }
            let hung_up = polled.flags(handle).contains(PollFlags::POLLHUP);
            if self.ending.load(Ordering::Relaxed) || hung_up {
                return;
            }
            if let Some(commands) = self.commands.as_ref().filter(|_| polled.any(done)) {
                commands.clear_wake();
            }
            self.peer_ended |= polled.any(peer);
            if polled.any(watched) {
                self.read_events(&mut watch);
            }
            self.read();
            self.take_results();
            if polled.any(changed) {
                let drained = changes.as_mut().map(NetworkChanges::drain);
                if drained.is_some_and(|drained| drained.is_err()) {
                    changes = None;
                }
                self.paths.iter_mut().for_each(PathState::refresh);
            }
            if self.follow {
                self.act();
            }
        }
    }

    /// When something is due at the latest.
    fn next_deadline(&self) -> Instant {
        let unsent = self.input_ended && self.stream.unacknowledged().unwrap_or(0) > 0;
        let reading = Instant::now() + if unsent { READ_AT_END } else { READ_EVERY };
        let due = self.paths.iter().filter_map(PathState::retry_at).min();
        due.map_or(reading, |due| due.min(reading))
    }

    /// Reads the counters, and reports what has changed.
    pub(super) fn read(&mut self) {
        let Ok(connection) = connection(self.stream) else {
            return;
        };
        let sent = self.input_ended && self.stream.unacknowledged().unwrap_or(1) == 0;
        if sent && self.peer_ended {
            self.tracker.is_over();
        }
        for change in self.tracker.take(&connection) {
            match change {
                Change::Opened(id) => {
                    self.recognise(id);
                    let subflow = self.tracker.describe(id);
                    self.report.verbose(&format!("{subflow} is open"));
                }
                Change::Closed(id) => self.closed(id),
            }
        }
    }

    fn closed(&mut self, id: u32) {
        let (subflow, reason) = (self.tracker.describe(id), self.tracker.reason(id));
        self.report.verbose(&format!("{subflow} is closed{reason}"));
        self.lost(id);
    }

    /// Reads the events of the kernel, or the broker.
    fn read_events(&mut self, watch: &mut Option<Watch>) {
        loop {
            let Some(watching) = watch else {
                return;
            };
            match watching.next_within(Some(Duration::ZERO)) {
                Ok(Some(event)) => {
                    if event.kind == EventKind::SubflowClosed
                        && let (Some(id), Some(reason)) = (event.subflow, event.reason)
                    {
                        self.tracker.because(id, reason);
                    }
                }
                Ok(None) if watching.has_ended() => *watch = None,
                // Lost events are made up for by the readings.
                Ok(None) | Err(Error::TooMany { .. }) => return,
                Err(_) => *watch = None,
            }
        }
    }

    pub(super) fn peer(&self) -> IpAddr {
        let peer = self.stream.socket.peer_addr().ok();
        let peer = peer.and_then(|peer| peer.as_socket());
        peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip().to_canonical())
    }
}
