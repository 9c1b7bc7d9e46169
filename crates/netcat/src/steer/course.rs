//! The thread that looks after the subflows of one connection.

use std::io::Read;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use mptcplab_kernel::changes::NetworkChanges;
use mptcplab_subflow::{Error, EventKind, Managers, Watch, connection};
use nix::poll::PollFlags;

use super::account::{Account, Change, Tracker};
use super::orders::Orders;
use super::path::Way;
use crate::options::Wishes;
use crate::report::Report;
use crate::stream::Stream;
use crate::waiting::Poll;

/// Between two readings of the counters.
const READ_EVERY: Duration = Duration::from_millis(100);
/// The same between the end of input and the acknowledgement of its last byte.
const READ_AT_END: Duration = Duration::from_millis(2);

/// Runs until the other end of `control` closes, and gives the account.
pub(super) fn run<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    stream: &'env Stream,
    wishes: &'env Wishes,
    managers: Option<&'env Managers>,
    report: &'env Report,
    control: UnixStream,
    ending: Arc<AtomicBool>,
) -> Account {
    let plain = match connection(stream) {
        Ok(_) => None,
        // It was over before anybody looked.
        Err(Error::NotConnected) => {
            if wishes.any() {
                report.say("no subflows: the transfer was over before one could be opened");
            }
            return Account::default();
        }
        // The socket asked for MPTCP.
        Err(Error::NotMptcp) => {
            Some("the peer does not speak MPTCP, or something between takes it away".to_owned())
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(reason) = plain {
        if wishes.any() {
            report.say(&format!("no subflows: {reason}"));
        } else {
            report.told(&reason);
        }
        return Account {
            plain: Some(reason),
            subflows: Vec::new(),
        };
    }
    let orders = managers
        .map(|managers| Orders::new(scope, stream, managers, Arc::clone(&ending)))
        .transpose();
    let orders = orders.unwrap_or_else(|error| {
        report.say(&format!("no subflows: {error}"));
        None
    });
    let mut course = Course {
        stream,
        report,
        follow: wishes.follow,
        tracker: Tracker::new(),
        ways: Vec::new(),
        orders,
        ending,
        input_ended: false,
        peer_ended: false,
    };
    course.read();
    if course.orders.is_some() {
        course.begin(wishes);
    }
    course.attend(&control);
    course.read();
    course.tell_too_late();
    Account {
        plain: None,
        subflows: course.tracker.account(),
    }
}

pub(super) struct Course<'scope, 'env> {
    pub(super) stream: &'env Stream,
    pub(super) report: &'env Report,
    /// Paths that come and go are followed.
    pub(super) follow: bool,
    pub(super) tracker: Tracker,
    pub(super) ways: Vec<Way>,
    /// None where nobody opens subflows: then there are no paths either.
    pub(super) orders: Option<Orders<'scope, 'env>>,
    ending: Arc<AtomicBool>,
    input_ended: bool,
    peer_ended: bool,
}

impl Course<'_, '_> {
    /// Waits for what happens, until the connection's copying has ended.
    fn attend(&mut self, control: &UnixStream) {
        let mut changes = match self.follow {
            true => NetworkChanges::open().ok(),
            false => None,
        };
        let mut watch = self.orders.as_ref().and_then(|orders| orders.watch().ok());
        loop {
            let until = self.next_look();
            let mut poll = Poll::default();
            let handle = poll.add(control.as_fd(), PollFlags::POLLIN);
            let peer_ends = PollFlags::from_bits_retain(libc::POLLRDHUP);
            let peer = poll.add_if(!self.peer_ended, self.stream.as_fd(), peer_ends);
            let mut add = |descriptor| poll.add(descriptor, PollFlags::POLLIN);
            let done = self.orders.as_ref().map(|orders| add(orders.as_fd()));
            let changed = changes.as_ref().map(|changes| add(changes.as_fd()));
            let told = watch.as_ref().map(|watch| add(watch.as_fd()));
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
            if let Some(orders) = self.orders.as_ref().filter(|_| polled.any(done)) {
                orders.awake();
            }
            self.peer_ended |= polled.any(peer);
            if polled.any(told) {
                self.hear(&mut watch);
            }
            self.read();
            self.take_results();
            if polled.any(changed) {
                let drained = changes.as_mut().map(NetworkChanges::drain);
                if drained.is_some_and(|drained| drained.is_err()) {
                    changes = None;
                }
                self.ways.iter_mut().for_each(Way::refresh);
            }
            if self.follow {
                self.look();
            }
        }
    }

    /// When there is something to do at the latest.
    fn next_look(&self) -> Instant {
        let unsent = self.input_ended && self.stream.unacknowledged().unwrap_or(0) > 0;
        let reading = Instant::now() + if unsent { READ_AT_END } else { READ_EVERY };
        let due = self.ways.iter().filter_map(Way::due).min();
        due.map_or(reading, |due| due.min(reading))
    }

    /// Reads the counters, and tells what has changed.
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
                    self.report.told(&format!("{subflow} is open"));
                }
                Change::Closed(id) => self.closed(id),
            }
        }
    }

    fn closed(&mut self, id: u32) {
        let (subflow, reason) = (self.tracker.describe(id), self.tracker.reason(id));
        self.report.told(&format!("{subflow} is closed{reason}"));
        self.lost(id);
    }

    /// What the kernel or the broker tell.
    fn hear(&mut self, watch: &mut Option<Watch>) {
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
