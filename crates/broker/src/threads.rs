//! The threads that serve users, as the one that accepts clients sees them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use crate::StartError;
use crate::post::turn_away;
use crate::server::Shared;
use crate::user::{Arrival, Door, User};

/// How long to wait until somebody is turned away.
const PAUSE: Duration = Duration::from_millis(100);
/// Clients that wait to be turned away.
const MOST_TURNED_AWAY: usize = 256;

/// The thread that serves a user, as seen from here.
pub(crate) struct UserThread {
    arrivals: Sender<Arrival>,
    bell: Arc<OwnedFd>,
    inside: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

/// A thread that turns clients away. Even to close a client's talk may last for ever: what he sent
/// and nobody received is closed with it.
pub(crate) struct Away {
    clients: Sender<(OwnedFd, &'static str)>,
    waiting: Arc<AtomicUsize>,
}

impl UserThread {
    pub(crate) fn open(uid: u32, shared: &Arc<Shared>) -> io::Result<Self> {
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
    pub(crate) fn is_served(&self) -> bool {
        !self.thread.is_finished()
    }

    pub(crate) fn is_occupied(&self) -> bool {
        self.is_served() && self.inside() > 0
    }

    /// How many clients there are, and have come.
    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::Relaxed)
    }

    pub(crate) fn send(&self, arrival: Arrival) {
        self.inside.fetch_add(1, Ordering::Relaxed);
        // Where the thread has just ended, the talk is closed and the client comes again.
        let _ = self.arrivals.send(arrival);
        ring(&self.bell);
    }

    /// Tells the thread that nobody comes any more.
    pub(crate) fn end(self) -> JoinHandle<()> {
        drop(self.arrivals);
        ring(&self.bell);
        self.thread
    }
}

impl Away {
    pub(crate) fn new() -> Result<Self, StartError> {
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

    pub(crate) fn send(&self, session: OwnedFd, reason: &'static str) {
        // Where so many wait, somebody holds them up; better not to accept than to be held up, too.
        while self.waiting.load(Ordering::Relaxed) >= MOST_TURNED_AWAY {
            thread::sleep(PAUSE);
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // The thread ends with the broker.
        let _ = self.clients.send((session, reason));
    }
}

/// Wakes up who waits for a bell.
pub(crate) fn ring(bell: &OwnedFd) {
    // It is full only when there is much to hear already.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}
