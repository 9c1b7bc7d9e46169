//! Accepts clients and gives each to the thread that serves its user.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_kernel::charge::Charge;
use mptcplab_kernel::event::Events;
use mptcplab_subflow::options::Options as SubflowOptions;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Identity;
use crate::hand::Options;
use crate::journal::Journal;
use crate::limits::{Limits, USERS};
use crate::listener::Listener;
use crate::options::Job;
use crate::peer::Peer;
use crate::policy::Policy;
use crate::threads::{Away, UserThread};
use crate::user::Arrival;
use crate::{Config, StartError, confine, options};

/// How long to wait for a free descriptor, or for somebody to be turned away.
const PAUSE: Duration = Duration::from_millis(100);
/// Clients that are accepted before it is looked whether to stop.
const TURN_CLIENTS: usize = 64;
/// How long threads may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// What all threads know.
pub(crate) struct Shared {
    pub(crate) policy: Arc<Policy>,
    pub(crate) limits: Limits,
    pub(crate) journal: Journal,
    pub(crate) options: Options,
}

/// A broker that listens.
pub struct Broker {
    listener: Listener,
    shared: Arc<Shared>,
    users: HashMap<u32, UserThread>,
    /// For the thread that sets options of single subflows, where there is one.
    jobs: Option<(SubflowOptions, Receiver<Job>)>,
    /// While nobody is subscribed the kernel resets each subflow that is opened by order.
    _subscription: Events,
    /// What the namespace was set to is put back at the end.
    _charge: Option<Charge>,
}

/// Runs a broker until SIGTERM or SIGINT, and then ends the process. The process must have a single
/// thread: it gives up all that it does not need, and threads that it has would not.
///
/// # Errors
/// Why it cannot start.
pub fn run(config: &Config) -> Result<Infallible, StartError> {
    let threads = fs::read_dir("/proc/self/task")
        .map_err(|error| StartError::system("counting threads in /proc/self/task", error))?
        .count();
    if threads != 1 {
        return Err(StartError::Threads(threads));
    }
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    signals.add(Signal::SIGINT);
    // Before any thread is made, which inherit it.
    let stop = signals
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC))
        .map_err(|error| StartError::system("waiting for signals", error))?;
    let broker = Broker::start(config)?;
    broker.confine(config.user)?;
    broker.serve(stop.as_fd())?;
    // What holds for the process from now on allows no more than this.
    std::process::exit(0)
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
        let (sender, jobs) = channel();
        let (options, jobs) = match SubflowOptions::load() {
            Ok(loaded) => (Ok(sender), Some((loaded, jobs))),
            Err(error) => (Err(error), None),
        };
        let listener = Listener::open(config)?;
        let charge = match config.leave_setting {
            true => None,
            false => Some(Charge::take().map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => StartError::NoMptcp,
                _ => StartError::system(
                    "setting net.mptcp.path_manager=userspace (--leave-setting leaves it)",
                    error,
                ),
            })?),
        };
        let shared = Shared {
            policy: Arc::new(config.policy.clone()),
            limits: config.limits.within(most_descriptors()),
            journal: Journal::new(config.quiet),
            options,
        };
        shared.journal.write(&format!(
            "listening at {}, options of single subflows: {}",
            config.socket.display(),
            match &shared.options {
                Ok(_) => "yes".to_owned(),
                Err(error) => format!("no, {error}"),
            }
        ));
        Ok(Self {
            listener,
            shared: Arc::new(shared),
            users: HashMap::new(),
            jobs,
            _subscription: subscription,
            _charge: charge,
        })
    }

    /// Gives up, for the calling thread and those that it makes from now on, all that serving does
    /// not need.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn confine(&self, user: Option<Identity>) -> Result<(), StartError> {
        confine::confine(user, self.listener.folder(), self.shared.options.is_ok())
    }

    /// Serves clients until `stop` can be read.
    ///
    /// # Errors
    /// Where no thread can be made.
    pub fn serve(mut self, stop: BorrowedFd<'_>) -> Result<(), StartError> {
        // Each holds a descriptor.
        let away = Away::new(self.shared.limits.sessions)?;
        if let Some((options, jobs)) = self.jobs.take() {
            let thread = thread::Builder::new().name("options".to_owned());
            let made = thread.spawn(move || options::serve(options, &jobs));
            made.map_err(|error| StartError::system("starting a thread", error))?;
        }
        while !self.wait(stop, &away) {
            for _ in 0..TURN_CLIENTS {
                if away.is_full() {
                    break;
                }
                match self.listener.accept() {
                    Ok(Some(session)) => self.admit(session, &away),
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
            journal.write(&format!(
                "the socket's file stays for the next broker to replace: {error}"
            ));
        }
        self.end();
        Ok(())
    }

    /// Waits for a client whom there is room for, or for the end: then true.
    fn wait(&self, stop: BorrowedFd<'_>, away: &Away) -> bool {
        let mut waited = vec![PollFd::from_borrowed_fd(stop, PollFlags::IN)];
        let mut timeout = None;
        if away.is_full() {
            timeout = Timespec::try_from(PAUSE).ok();
        } else {
            waited.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        // Interrupted or not, clients are looked for.
        let _ = poll(&mut waited, timeout.as_ref());
        !waited[0].revents().is_empty()
    }

    fn admit(&mut self, session: OwnedFd, away: &Away) {
        let Ok(peer) = Peer::of(&session) else {
            return away.send(session, "the kernel does not tell who you are");
        };
        let uid = peer.who.uid;
        if !self.users.get(&uid).is_some_and(UserThread::is_served) {
            self.users.remove(&uid);
            if self.users.len() >= USERS {
                self.users.retain(|_, desk| desk.is_occupied());
            }
            if self.users.len() >= USERS {
                return away.send(session, "other users take all of the broker's threads");
            }
            match UserThread::open(uid, &self.shared) {
                Ok(desk) => drop(self.users.insert(uid, desk)),
                Err(_) => return away.send(session, "the broker can start no thread"),
            }
        }
        let Some(desk) = self.users.get(&uid) else {
            return;
        };
        // A thread that is stuck takes in nobody.
        if desk.inside() > 2 * self.shared.limits.sessions {
            return away.send(session, "you have too many talks with the broker");
        }
        if let Err(session) = desk.send(Arrival { session, peer }) {
            away.send(
                session,
                "the thread that serves you has just ended; try again",
            );
        }
    }

    /// Ends the threads, but waits for none that is stuck.
    fn end(self) {
        let mut threads: Vec<_> = self.users.into_values().map(UserThread::end).collect();
        // Those whom nobody has accepted are closed with it, and what they sent.
        let listener = self.listener;
        let closing = thread::Builder::new().name("closing".to_owned());
        threads.extend(closing.spawn(move || drop(listener)));
        let deadline = Instant::now() + PATIENCE;
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
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
