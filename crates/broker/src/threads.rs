//! The threads that serve users, as the one that accepts clients sees them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use crate::StartError;
use crate::post::turn_away;
use crate::server::Shared;
use crate::user::{Arrival, Door, User};

/// The thread that serves a user, as seen from here. It ends once this is dropped.
pub(crate) struct UserThread {
    // Dropped in this order: the bell rings when nobody comes any more.
    arrivals: Sender<Arrival>,
    bell: Bell,
    inside: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

/// Rings when it is dropped.
struct Bell(Arc<OwnedFd>);

/// A thread that turns clients away. Even to close a client's talk may last for ever: what he sent
/// and nobody received is closed with it.
pub(crate) struct Away {
    clients: Sender<(OwnedFd, &'static str)>,
    waiting: Arc<AtomicUsize>,
    /// How many may wait.
    most: usize,
}

impl Drop for Bell {
    fn drop(&mut self) {
        ring(&self.0);
    }
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
            bell: Bell(bell),
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

    /// Lets somebody in; gives his talk back where the thread has just ended.
    pub(crate) fn send(&self, arrival: Arrival) -> Result<(), OwnedFd> {
        self.inside.fetch_add(1, Ordering::Relaxed);
        let sent = self.arrivals.send(arrival);
        ring(&self.bell.0);
        sent.map_err(|unheard| unheard.0.session)
    }

    /// Tells the thread that nobody comes any more.
    pub(crate) fn end(self) -> JoinHandle<()> {
        self.thread
    }
}

impl Away {
    /// One for whom so many clients may wait.
    ///
    /// # Errors
    /// Where no thread can be made.
    pub(crate) fn new(most: usize) -> Result<Self, StartError> {
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
        Ok(Self {
            clients,
            waiting,
            most,
        })
    }

    /// So many wait that somebody must hold them up: better not to accept any more.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.most
    }

    pub(crate) fn send(&self, session: OwnedFd, reason: &'static str) {
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
