//! The threads that serve users, as the one that accepts clients sees them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use crate::shared::Shared;
use crate::wake::{WakeFd, WakeOnDrop};
use crate::worker::{NewSession, Worker, WorkerChannel};

/// Handle of the thread that serves a user. The thread ends once this is dropped.
pub(crate) struct UserThread {
    // Dropped in this order: the thread wakes when the channel is closed.
    new_sessions: Sender<NewSession>,
    wake: WakeOnDrop,
    clients: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl UserThread {
    pub(crate) fn start(uid: u32, shared: &Arc<Shared>) -> io::Result<Self> {
        let wake = Arc::new(WakeFd::new()?);
        let clients = Arc::new(AtomicUsize::new(0));
        let (sender, new_sessions) = channel();
        let channel = WorkerChannel {
            new_sessions,
            wake: wake.clone(),
            clients: clients.clone(),
        };
        let shared = shared.clone();
        let serve = move || match Worker::new(channel, shared.clone()) {
            Ok(worker) => worker.serve(),
            Err(error) => shared.journal.write(error.to_string()),
        };
        let thread = thread::Builder::new()
            .name(format!("user {uid}"))
            .spawn(serve)?;
        Ok(Self {
            new_sessions: sender,
            wake: WakeOnDrop(wake),
            clients,
            thread,
        })
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    pub(crate) fn is_occupied(&self) -> bool {
        self.is_running() && self.clients() > 0
    }

    /// Number of clients, those included that the thread has not taken yet.
    pub(crate) fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    /// Gives a session to the thread; gives its socket back where the thread has just ended.
    pub(crate) fn send(&self, new: NewSession) -> Result<(), OwnedFd> {
        self.clients.fetch_add(1, Ordering::Relaxed);
        let sent = self.new_sessions.send(new);
        self.wake.0.wake();
        sent.map_err(|unsent| unsent.0.socket)
    }

    /// Tells the thread that no more sessions come.
    pub(crate) fn end(self) -> JoinHandle<()> {
        self.thread
    }
}
