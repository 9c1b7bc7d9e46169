//! Accepts clients and gives each to the thread that serves its user.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_linux::event::Events;
use mptcplab_linux::userspace_pm::UserspacePm;
use mptcplab_subflow::options::Options as SubflowOptions;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::admission::Admission;
use crate::config::Identity;
use crate::journal::Journal;
use crate::listener::Listener;
use crate::options::Job;
use crate::saved_setting::SavedSetting;
use crate::shared::Shared;
use crate::{Config, StartError, confine, options};

/// Pause before accepting again where there was no descriptor.
const PAUSE: Duration = Duration::from_millis(100);
/// Pause before closing rejected sessions again where there was no thread.
const PAUSE_REJECTED: Duration = Duration::from_millis(10);
/// Clients that are accepted before the next look whether to stop.
const TURN_CLIENTS: usize = 64;
/// How long threads may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// A listening broker.
pub struct Broker {
    listener: Listener,
    shared: Arc<Shared>,
    admission: Admission,
    /// For the thread that reads and sets options of single subflows, where there is one.
    jobs: Option<(SubflowOptions, Receiver<Job>)>,
    /// Without a subscriber the kernel resets each subflow that is opened by command.
    _subscription: Events,
    /// Restores the namespace's path manager when it is dropped.
    _userspace_pm: Option<UserspacePm>,
    // Dropped after it: until then it may be needed.
    _saved_setting: Option<SavedSetting>,
}

/// Runs a broker until SIGTERM or SIGINT, and then ends the process. The process must have a single
/// thread: it gives up all that it does not need, which other threads would keep.
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
    // Nothing else is allowed to a confined process.
    std::process::exit(0)
}

impl Broker {
    /// Listens, in the calling thread's network namespace, and leaves connections that are opened
    /// from now on to commands.
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
        let journal = Journal::new(config.detail());
        let (userspace_pm, saved_setting) = match config.leave_setting {
            true => (None, None),
            false => select_userspace_pm(&listener, &journal)?,
        };
        let shared = Shared {
            policy: Arc::new(config.policy.clone()),
            limits: config.limits.within(most_descriptors()),
            journal,
            options,
        };
        shared.journal.write(format!(
            "listening at {}, options of single subflows: {}",
            config.socket.display(),
            match &shared.options {
                Ok(_) => "yes".to_owned(),
                Err(error) => format!("no, {error}"),
            }
        ));
        let shared = Arc::new(shared);
        let admission = Admission::new(shared.clone(), listener.as_fd());
        let admission =
            admission.map_err(|error| StartError::system("opening a descriptor", error))?;
        Ok(Self {
            listener,
            admission,
            shared,
            jobs,
            _subscription: subscription,
            _userspace_pm: userspace_pm,
            _saved_setting: saved_setting,
        })
    }

    /// Gives up all that serving does not need, for the calling thread and those that it starts from
    /// now on.
    ///
    /// # Errors
    /// Restrictions that the kernel refuses.
    pub fn confine(&self, user: Option<Identity>) -> Result<(), StartError> {
        confine::confine(user, self.listener.folder(), self.shared.options.is_ok())
    }

    /// Serves clients until `stop` can be read.
    ///
    /// # Errors
    /// Where no thread can be made.
    pub fn serve(mut self, stop: BorrowedFd<'_>) -> Result<(), StartError> {
        let shared = self.shared.clone();
        start_thread("journal", move || shared.journal.write_out(io::stderr()))?;
        if let Some((options, jobs)) = self.jobs.take() {
            start_thread("options", move || options::serve(options, &jobs))?;
        }
        while !self.wait(stop) {
            for _ in 0..TURN_CLIENTS {
                if self.admission.is_full() {
                    break;
                }
                match self.listener.accept() {
                    Ok(Some(session)) => self.admission.admit(session),
                    Ok(None) => break,
                    Err(_) => {
                        // Descriptors become free when clients leave.
                        thread::sleep(PAUSE);
                        break;
                    }
                }
            }
            self.admission.close_rejected(self.listener.as_fd());
        }
        if let Err(error) = self.listener.remove_file() {
            let journal = &self.shared.journal;
            journal.write(format!(
                "the socket's file stays for the next broker to replace: {error}"
            ));
        }
        self.end();
        Ok(())
    }

    /// Waits for a client for which there is room, or for the end: then true.
    fn wait(&self, stop: BorrowedFd<'_>) -> bool {
        let mut waited = vec![PollFd::from_borrowed_fd(stop, PollFlags::IN)];
        if !self.admission.is_full() {
            waited.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        let pause = self.admission.is_behind().then_some(PAUSE_REJECTED);
        let timeout = pause.and_then(|pause| Timespec::try_from(pause).ok());
        // Where it fails, accepting is tried all the same.
        let _ = poll(&mut waited, timeout.as_ref());
        !waited[0].revents().is_empty()
    }

    /// Ends the threads, without waiting for those that are stuck.
    fn end(self) {
        let (mut threads, rejections) = self.admission.end();
        // Closes those in its backlog, too, and what they sent, which may take long.
        let listener = self.listener;
        let closing = thread::Builder::new().name("closing".to_owned());
        threads.extend(closing.spawn(move || drop((listener, rejections))));
        let deadline = Instant::now() + END_TIMEOUT;
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        self.shared.journal.end(deadline);
    }
}

/// Leaves connections that are opened from now on to commands, and saves the setting there was.
fn select_userspace_pm(
    listener: &Listener,
    journal: &Journal,
) -> Result<(Option<UserspacePm>, Option<SavedSetting>), StartError> {
    let selected = match listener.path() {
        Some(path) => SavedSetting::select_userspace_pm(&path),
        None => UserspacePm::select().map(|userspace_pm| (userspace_pm, Ok(None))),
    };
    let (userspace_pm, saved) = selected.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StartError::NoMptcp,
        _ => StartError::system(
            "setting net.mptcp.path_manager=userspace (--leave-setting leaves it)",
            error,
        ),
    })?;
    let saved = saved.unwrap_or_else(|error| {
        journal.write(format!(
            "net.mptcp.path_manager is put back, unless the broker is killed: what it was cannot be \
             noted beside the socket: {error}"
        ));
        None
    });
    Ok((Some(userspace_pm), saved))
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StartError> {
    let made = thread::Builder::new().name(name.to_owned()).spawn(work);
    made.map(drop)
        .map_err(|error| StartError::system("starting a thread", error))
}

/// Raises the limit of descriptors as far as it goes, and gives it.
fn most_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Without permission the current limit stays.
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
