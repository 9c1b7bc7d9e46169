//! Accepts clients and gives each to the thread that serves its user.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mptcplab_kernel::event::Events;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::hand::{Options, load_options};
use crate::journal::Journal;
use crate::limits::{Limits, USERS};
use crate::listener::Listener;
use crate::peer::Peer;
use crate::policy::Policy;
use crate::user::{Arrival, Door, User, turn_away};
use crate::{Config, StartError, path_manager};

/// How long to wait for a free descriptor.
const PAUSE: Duration = Duration::from_millis(100);
/// How long threads may take to end.
const PATIENCE: Duration = Duration::from_secs(1);
/// Clients that wait to be turned away.
const MOST_TURNED_AWAY: usize = 256;

/// What all threads know.
pub(crate) struct Shared {
    pub(crate) policy: Arc<Policy>,
    pub(crate) limits: Limits,
    pub(crate) journal: Journal,
    pub(crate) options: Arc<Options>,
}

/// A broker that listens.
pub struct Broker {
    listener: Listener,
    shared: Arc<Shared>,
    users: HashMap<u32, Desk>,
    away: Away,
    /// While nobody is subscribed the kernel resets each subflow that is opened by order.
    _subscription: Events,
}

/// The thread that serves a user, as seen from here.
struct Desk {
    arrivals: Sender<Arrival>,
    bell: Arc<OwnedFd>,
    inside: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

/// A thread that turns clients away. Even to close a client's talk may last for ever: what he sent
/// and nobody received is closed with it.
struct Away {
    clients: Sender<(OwnedFd, &'static str)>,
    waiting: Arc<AtomicUsize>,
}

/// Runs a broker until SIGTERM or SIGINT.
///
/// # Errors
/// Why it cannot start.
pub fn run(config: &Config) -> Result<(), StartError> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    signals.add(Signal::SIGINT);
    // Before any thread is made, which inherit it.
    let stop = signals
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC))
        .map_err(|error| StartError::system("waiting for signals", error))?;
    let broker = Broker::start(config)?;
    broker.serve(stop.as_fd());
    Ok(())
}

impl Broker {
    /// Listens, in the calling thread's network namespace, and gives connections that are opened
    /// from now on to orders.
    ///
    /// # Errors
    /// Why it cannot start.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        let subscription = Events::open().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StartError::NoMptcp,
            io::ErrorKind::PermissionDenied => StartError::NotPrivileged,
            _ => StartError::system("subscribing to the path manager's events", error),
        })?;
        let options = load_options();
        let listener = Listener::open(&config.socket, config.mode)?;
        if !config.leave_path_manager {
            path_manager::by_orders()?;
        }
        let shared = Shared {
            policy: Arc::new(config.policy.clone()),
            limits: config.limits.within(most_descriptors()),
            journal: Journal::new(config.quiet),
            options: Arc::new(options),
        };
        shared.journal.write(&format!(
            "listening at {}, options of single subflows: {}",
            config.socket.display(),
            match &*shared.options {
                Ok(_) => "yes",
                Err(reason) => reason,
            }
        ));
        Ok(Self {
            listener,
            shared: Arc::new(shared),
            users: HashMap::new(),
            away: Away::new()?,
            _subscription: subscription,
        })
    }

    /// Serves clients until `stop` can be read.
    pub fn serve(mut self, stop: BorrowedFd<'_>) {
        while !self.wait(stop) {
            loop {
                match self.listener.accept() {
                    Ok(Some(session)) => self.admit(session),
                    Ok(None) => break,
                    Err(_) => {
                        // Somebody's descriptors will be closed.
                        thread::sleep(PAUSE);
                        break;
                    }
                }
            }
        }
        if let Err(error) = self.listener.remove_file() {
            let journal = &self.shared.journal;
            journal.write(&format!("the socket's file stays: {error}"));
        }
        self.end();
    }

    /// Waits for a client, or for the end: then true.
    fn wait(&self, stop: BorrowedFd<'_>) -> bool {
        let mut waited = [
            PollFd::new(&self.listener, PollFlags::IN),
            PollFd::from_borrowed_fd(stop, PollFlags::IN),
        ];
        // Interrupted or not, clients are looked for.
        let _ = poll(&mut waited, None::<&Timespec>);
        !waited[1].revents().is_empty()
    }

    fn admit(&mut self, session: OwnedFd) {
        let Ok(peer) = Peer::of(&session) else {
            return self
                .away
                .send(session, "the kernel does not tell who you are");
        };
        let uid = peer.who.uid;
        if !self.users.get(&uid).is_some_and(Desk::is_served) {
            self.users.remove(&uid);
            if self.users.len() >= USERS {
                self.users.retain(|_, desk| desk.is_occupied());
            }
            if self.users.len() >= USERS {
                return self
                    .away
                    .send(session, "other users take all of the broker's threads");
            }
            match Desk::open(uid, &self.shared) {
                Ok(desk) => drop(self.users.insert(uid, desk)),
                Err(_) => return self.away.send(session, "the broker can start no thread"),
            }
        }
        let Some(desk) = self.users.get(&uid) else {
            return;
        };
        // A thread that is stuck takes in nobody.
        if desk.inside.load(Ordering::Relaxed) > 2 * self.shared.limits.sessions {
            return self
                .away
                .send(session, "you have too many talks with the broker");
        }
        desk.send(Arrival { session, peer });
    }

    /// Ends the threads, but waits for none that is stuck.
    fn end(&mut self) {
        let threads: Vec<_> = self.users.drain().map(|(_, desk)| desk.end()).collect();
        let deadline = Instant::now() + PATIENCE;
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Desk {
    fn open(uid: u32, shared: &Arc<Shared>) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let inside = Arc::new(AtomicUsize::new(0));
        let (sender, arrivals) = channel();
        let door = Door {
            arrivals,
            bell: bell.clone(),
            inside: inside.clone(),
        };
        let shared = shared.clone();
        let serve = move || match User::new(door, shared.clone()) {
            Ok(user) => user.serve(),
            Err(error) => shared.journal.write(&error.to_string()),
        };
        let thread = thread::Builder::new()
            .name(format!("user {uid}"))
            .spawn(serve)?;
        Ok(Self {
            arrivals: sender,
            bell,
            inside,
            thread,
        })
    }

    /// Its thread lives.
    fn is_served(&self) -> bool {
        !self.thread.is_finished()
    }

    fn is_occupied(&self) -> bool {
        self.is_served() && self.inside.load(Ordering::Relaxed) > 0
    }

    fn send(&self, arrival: Arrival) {
        self.inside.fetch_add(1, Ordering::Relaxed);
        // Where the thread has just ended, the talk is closed and the client comes again.
        let _ = self.arrivals.send(arrival);
        self.ring();
    }

    fn ring(&self) {
        // It is full only when the thread has much to hear already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Tells the thread that nobody comes any more.
    fn end(self) -> JoinHandle<()> {
        drop(self.arrivals);
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        self.thread
    }
}

impl Away {
    fn new() -> Result<Self, StartError> {
        let (clients, arrivals) = channel::<(OwnedFd, &str)>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = waiting.clone();
        let serve = move || {
            for (session, reason) in arrivals {
                turn_away(&session, reason.to_owned());
                drop(session);
                left.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let made = thread::Builder::new().name("away".to_owned()).spawn(serve);
        made.map_err(|error| StartError::system("starting a thread", error))?;
        Ok(Self { clients, waiting })
    }

    fn send(&self, session: OwnedFd, reason: &'static str) {
        // Where so many wait, somebody holds them up; better not to accept than to be held up, too.
        while self.waiting.load(Ordering::Relaxed) >= MOST_TURNED_AWAY {
            thread::sleep(PAUSE);
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // The thread ends with the broker.
        let _ = self.clients.send((session, reason));
    }
}

/// Raises the limit of descriptors as far as it goes; what it is then.
fn most_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Who may not has what there is.
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
