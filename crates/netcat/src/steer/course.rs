//! The thread that looks after the subflows of one connection.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use mptcplab_kernel::changes::NetworkChanges;
use mptcplab_subflow::{Error, EventKind, Interrupt, Managers, Open, Watch, connection};
use nix::poll::{PollFd, PollFlags};

use super::account::{Account, Change, Tracker};
use super::locals::{Local, has_own_route, locals};
use super::path::{State, Step, Way};
use crate::options::{Path, Wishes};
use crate::report::Report;
use crate::stream::Stream;
use crate::waiting::poll_until;

/// Between two readings of the counters.
const READ_EVERY: Duration = Duration::from_millis(100);
/// The same between the end of input and the acknowledgement of its last byte.
const READ_AT_END: Duration = Duration::from_millis(2);
/// How long a peer may take to let a subflow join.
const PATIENCE: Duration = Duration::from_secs(5);

/// How an order ended that was given in a thread of its own.
struct Done {
    way: usize,
    address: IpAddr,
    result: Result<u32, Error>,
}

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
        Err(Error::NotConnected) => return Account::default(),
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
    let (done, results) = channel();
    let (woken, waker) = match UnixStream::pair() {
        Ok(pair) => pair,
        Err(_) => return Account::default(),
    };
    let mut course = Course {
        scope,
        stream,
        managers,
        report,
        follow: wishes.follow,
        tracker: Tracker::new(),
        ways: Vec::new(),
        done,
        results,
        woken,
        waker: Arc::new(waker),
        ending,
        input_ended: false,
        peer_ended: false,
    };
    course.begin(wishes);
    course.attend(&control);
    course.read();
    Account {
        plain: None,
        subflows: course.tracker.account(),
    }
}

struct Course<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    stream: &'env Stream,
    managers: Option<&'env Managers>,
    report: &'env Report,
    /// Paths that come and go are followed.
    follow: bool,
    tracker: Tracker,
    ways: Vec<Way>,
    done: Sender<Done>,
    results: Receiver<Done>,
    /// Where threads say that a result waits.
    woken: UnixStream,
    waker: Arc<UnixStream>,
    ending: Arc<AtomicBool>,
    input_ended: bool,
    peer_ended: bool,
}

impl<'env> Course<'_, 'env> {
    /// Finds out what is wished, and what is there already.
    fn begin(&mut self, wishes: &Wishes) {
        self.read();
        let Some(initial) = self.initial() else {
            return;
        };
        let here = self.locals();
        let mut paths = wishes.paths.clone();
        if wishes.all {
            for local in &here {
                let other = local.address != initial.1 && self.is_of_family(local.address);
                let named = paths.iter().any(|path| {
                    path.from == local.interface || path.from == local.address.to_string()
                });
                if other && !named && has_own_route(local, self.peer()) {
                    paths.push(Path {
                        name: local.interface.clone(),
                        from: local.address.to_string(),
                        backup: false,
                    });
                }
            }
        }
        for path in paths {
            let mut way = Way::new(path);
            let local = way.local(&here, self.peer());
            if local.is_some_and(|local| local.address == initial.1) {
                way.state = State::Open(initial.0, initial.1);
                self.tracker.name(initial.0, &way.path.name);
                if way.path.backup {
                    self.make_backup(initial.0, &way.path.name);
                }
            } else if local.is_none() && !self.follow {
                let Path { name, from, .. } = &way.path;
                self.report.say(&format!(
                    "no subflow over {name}: {from} is not there, or down, or has no address of \
                     the connection's family"
                ));
                way.state = State::GivenUp;
            }
            self.ways.push(way);
        }
        if self.follow {
            self.follow_initial(initial, &here);
        }
        self.look();
    }

    /// The path that the connection began on is followed like those that were wished.
    fn follow_initial(&mut self, (id, address): (u32, IpAddr), here: &[Local]) {
        let known = |way: &Way| matches!(way.state, State::Open(open, _) if open == id);
        let Some(local) = here.iter().find(|local| local.address == address) else {
            return;
        };
        if !self.ways.iter().any(known) {
            let mut way = Way::new(Path {
                name: local.interface.clone(),
                from: address.to_string(),
                backup: false,
            });
            way.state = State::Open(id, address);
            self.tracker.name(id, &way.path.name);
            self.ways.push(way);
        }
    }

    /// Waits for what happens, until the connection's copying has ended.
    fn attend(&mut self, control: &UnixStream) {
        let mut changes = match self.follow {
            true => NetworkChanges::open().ok(),
            false => None,
        };
        let mut watch = self.managers.and_then(|managers| {
            let watched = managers.order(None, |manager| manager.events(self.stream));
            watched.ok()
        });
        loop {
            let until = self.next_look();
            let mut fds = vec![
                PollFd::new(control.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.woken.as_fd(), PollFlags::POLLIN),
            ];
            let mut add = |descriptor, events| {
                fds.push(PollFd::new(descriptor, events));
                fds.len() - 1
            };
            let stream = self.stream.as_fd();
            let peer_ends = PollFlags::from_bits_retain(libc::POLLRDHUP);
            let peer = (!self.peer_ended).then(|| add(stream, peer_ends));
            let changed = changes.as_ref();
            let changed = changed.map(|one| add(one.as_fd(), PollFlags::POLLIN));
            let told = watch.as_ref();
            let told = told.map(|one| add(one.as_fd(), PollFlags::POLLIN));
            let Ok(flags) = poll_until(&mut fds, Some(until)) else {
                return;
            };
            drop(fds);
            let any = |at: Option<usize>| at.is_some_and(|at| !flags[at].is_empty());
            if flags[0].contains(PollFlags::POLLIN) {
                drain(control);
                self.input_ended = true;
            }
            if self.ending.load(Ordering::Relaxed) || flags[0].contains(PollFlags::POLLHUP) {
                return;
            }
            if !flags[1].is_empty() {
                drain(&self.woken);
            }
            self.peer_ended |= any(peer);
            if any(told) {
                self.hear(&mut watch);
            }
            self.read();
            self.take_results();
            if any(changed) {
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
    fn read(&mut self) {
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

    /// Gives a subflow the name of its path, before the thread that opened it has told.
    fn recognise(&mut self, id: u32) {
        let Some(local) = self.tracker.local(id) else {
            return;
        };
        let mut ways = self.ways.iter();
        let way = ways.find(|way| way.state == State::Opening(local));
        if let Some(name) = way.map(|way| way.path.name.clone()) {
            self.tracker.name(id, &name);
        }
    }

    fn closed(&mut self, id: u32) {
        let (subflow, reason) = (self.tracker.describe(id), self.tracker.reason(id));
        self.report.told(&format!("{subflow} is closed{reason}"));
        for way in &mut self.ways {
            if matches!(way.state, State::Open(open, _) if open == id) {
                if self.follow {
                    way.postpone(Instant::now());
                } else {
                    way.state = State::GivenUp;
                }
            }
            way.stale = way.stale.filter(|&stale| stale != id);
        }
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

    /// Does what is due about each path.
    fn look(&mut self) {
        let (here, peer, now) = (self.locals(), self.peer(), Instant::now());
        for number in 0..self.ways.len() {
            match self.ways[number].step(&here, peer, now) {
                Step::Rest => {}
                Step::Open(local) => self.open(number, &local),
                Step::Close(id) => self.leave(number, id),
            }
        }
    }

    /// Has a subflow opened, in a thread of its own.
    fn open(&mut self, number: usize, local: &Local) {
        let way = &mut self.ways[number];
        let Some(managers) = self.managers else {
            way.state = State::GivenUp;
            return;
        };
        let address = local.address;
        way.state = State::Opening(address);
        let order = Open {
            backup: way.path.backup,
            interface: way.is_interface().then(|| local.interface.clone()),
            timeout: PATIENCE,
            ..Open::from(SocketAddr::new(address, 0))
        };
        let (done, waker, stream) = (self.done.clone(), Arc::clone(&self.waker), self.stream);
        let ending = Arc::clone(&self.ending);
        let interrupt: Interrupt = Arc::new(move || ending.load(Ordering::Relaxed));
        self.scope.spawn(move || {
            let result = managers.order(Some(interrupt), |manager| {
                manager.open_subflow(stream, &order)
            });
            // Where nobody waits for it any more, the connection has ended.
            let _ = done.send(Done {
                way: number,
                address,
                result,
            });
            wake(&waker);
        });
    }

    fn take_results(&mut self) {
        while let Ok(done) = self.results.try_recv() {
            match done.result {
                Ok(id) => self.opened(done.way, id, done.address),
                Err(Error::Interrupted) => {}
                // The peer has not answered yet: it will, once there is data.
                Err(Error::NotEstablished) => {
                    self.ways[done.way].state = State::None;
                    if !self.follow {
                        self.look();
                    }
                }
                Err(error) => {
                    let way = &mut self.ways[done.way];
                    let name = way.path.name.clone();
                    let address = done.address;
                    self.report
                        .say(&format!("no subflow over {name} ({address}): {error}"));
                    if self.follow {
                        way.postpone(Instant::now());
                    } else {
                        way.state = State::GivenUp;
                    }
                }
            }
        }
    }

    fn opened(&mut self, number: usize, id: u32, address: IpAddr) {
        let way = &mut self.ways[number];
        way.state = State::Open(id, address);
        way.refresh();
        let stale: Vec<_> = self
            .ways
            .iter_mut()
            .filter_map(|way| way.stale.take())
            .collect();
        let name = self.ways[number].path.name.clone();
        self.tracker.name(id, &name);
        self.read();
        for id in stale {
            self.close(id);
        }
    }

    /// The address of a path has gone: its subflow is closed at once, if there is another.
    fn leave(&mut self, number: usize, id: u32) {
        let name = self.ways[number].path.name.clone();
        self.ways[number].state = State::None;
        self.ways[number].refresh();
        self.tracker.because(id, format!("{name} has gone"));
        self.read();
        if self.tracker.open() > 1 {
            self.close(id);
        } else {
            self.report
                .told(&format!("{name} has gone, and there is no other subflow"));
            self.ways[number].stale = Some(id);
        }
    }

    fn close(&mut self, id: u32) {
        let Some(managers) = self.managers else {
            return;
        };
        let stream = self.stream;
        match managers.order(None, |manager| manager.close_subflow(stream, id)) {
            Ok(()) | Err(Error::NoSuchSubflow { .. }) => self.read(),
            Err(error) => self
                .report
                .say(&format!("subflow {id} cannot be closed: {error}")),
        }
    }

    fn make_backup(&self, id: u32, name: &str) {
        let Some(managers) = self.managers else {
            return;
        };
        let stream = self.stream;
        let made = managers.order(None, |manager| manager.set_backup(stream, id, true));
        if let Err(error) = made {
            self.report
                .say(&format!("{name} cannot be made a backup: {error}"));
        }
    }

    /// Id and address of the subflow that the connection began with.
    fn initial(&self) -> Option<(u32, IpAddr)> {
        let connection = connection(self.stream).ok()?;
        let first = connection.subflows.first()?;
        Some((first.id, first.local.ip().to_canonical()))
    }

    fn peer(&self) -> IpAddr {
        let peer = self.stream.socket.peer_addr().ok();
        let peer = peer.and_then(|peer| peer.as_socket());
        peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip().to_canonical())
    }

    fn is_of_family(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.peer().is_ipv4()
    }

    fn locals(&self) -> Vec<Local> {
        locals().unwrap_or_default()
    }
}

/// Says that there is something to be taken.
fn wake(mut waker: &UnixStream) {
    use std::io::Write;
    // A full buffer wakes as well.
    let _ = waker.write(b".");
}

/// Takes one notice.
fn drain(mut stream: &UnixStream) {
    use std::io::Read;
    let _ = stream.read(&mut [0; 64]);
}
