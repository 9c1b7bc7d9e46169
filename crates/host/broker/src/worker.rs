//! The thread that serves one user.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use mptcplab_linux::event::Events;
use mptcplab_subflow::Error;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::StartError;
use crate::backend::Kernel;
use crate::limits::{Bucket, TURN_REQUESTS};
use crate::options::Done;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::transport::{RecvBuffer, reject, send_message};
use crate::user_state::UserState;
use crate::wake::WakeFd;

/// Sessions that are served in one turn.
const TURN_SESSIONS: usize = 256;
/// How long events may gather while no session waits for any.
const IDLE: Duration = Duration::from_secs(5);
/// How long to wait before polling again after poll(2) failed.
const PAUSE: Duration = Duration::from_millis(50);

/// A session that was accepted for the user.
pub(crate) struct NewSession {
    pub(crate) socket: OwnedFd,
    pub(crate) peer: Peer,
    /// Index of the rule that names the client.
    pub(crate) rule: usize,
}

/// The thread's end of the channel from the one that accepts clients.
pub(crate) struct WorkerChannel {
    pub(crate) new_sessions: Receiver<NewSession>,
    /// Wakes the thread when there is a new session, or there will be no more.
    pub(crate) wake: Arc<WakeFd>,
    /// Number of sessions, new ones included.
    pub(crate) clients: Arc<AtomicUsize>,
}

/// Serves one user until the channel is closed.
pub(crate) struct Worker {
    channel: WorkerChannel,
    shared: Arc<Shared>,
    state: UserState<Kernel>,
    events: Events,
    /// Results of reading and setting options.
    done: Receiver<Done>,
    /// The epoll instance: sockets that can be read, or sent to.
    ready: OwnedFd,
    sockets: HashMap<u64, ClientSocket>,
    buffer: RecvBuffer,
    bucket: Bucket,
    /// There will be no more sessions.
    is_closing: bool,
}

/// The socket of a session.
struct ClientSocket {
    socket: OwnedFd,
    peer: Peer,
    /// Its send buffer is full; reading is paused.
    is_full: bool,
}

impl Worker {
    /// # Errors
    /// Where the kernel has no room for another user.
    pub(crate) fn new(channel: WorkerChannel, shared: Arc<Shared>) -> Result<Self, StartError> {
        let ready = epoll::create(CreateFlags::CLOEXEC)
            .map_err(|error| StartError::system("epoll_create", error))?;
        let (sender, done) = mpsc::channel();
        let backend = Kernel::new(shared.options.clone(), sender, channel.wake.clone())?;
        let events = Events::open().map_err(|error| StartError::system("subscribing", error))?;
        Ok(Self {
            state: UserState::new(backend, shared.policy.clone(), shared.limits),
            bucket: Bucket::new(shared.limits.requests_per_second),
            sockets: HashMap::new(),
            buffer: RecvBuffer::new(),
            is_closing: false,
            done,
            channel,
            shared,
            events,
            ready,
        })
    }

    /// Serves until the channel is closed.
    pub(crate) fn serve(mut self) {
        while !self.is_closing {
            self.wait();
            self.take_new_sessions();
            for done in self.done.try_iter() {
                self.state.on_option_done(done.ticket, done.result);
            }
            self.read_events();
            self.serve_ready();
            self.state.on_deadline(Instant::now());
            self.send();
        }
        for session in self.sockets.keys().copied().collect::<Vec<_>>() {
            self.close(session);
        }
        self.log_actions();
    }

    fn wait(&self) {
        let now = Instant::now();
        let rate_limit = self.bucket.wait(now);
        let deadline = self.state.deadline();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
        let idle = self.state.is_idle().then_some(IDLE);
        let timeout = [rate_limit, left, idle].into_iter().flatten().min();
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        // Rate limit reached: requests are not read.
        let read = if rate_limit.is_some() {
            PollFlags::empty()
        } else {
            PollFlags::IN
        };
        let mut waited = vec![
            PollFd::new(&self.channel.wake, PollFlags::IN),
            PollFd::new(&self.ready, read),
        ];
        // Left out while idle: the error of lost events would end each wait at once.
        if !self.state.is_idle() {
            waited.push(PollFd::new(&self.events, PollFlags::IN));
        }
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // The kernel has no memory for it now.
            Err(_) => std::thread::sleep(PAUSE),
        }
    }

    fn take_new_sessions(&mut self) {
        self.channel.wake.clear();
        loop {
            match self.channel.new_sessions.try_recv() {
                Ok(new) => self.open(new),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_closing = true;
                    return;
                }
            }
        }
    }

    fn open(&mut self, new: NewSession) {
        let NewSession { socket, peer, rule } = new;
        let Some(session) = self.state.open_session(rule) else {
            let limit = self.shared.limits.sessions;
            let reason = format!("you have {limit} sessions with the broker");
            reject(&socket, Error::TooMany { reason });
            self.channel.clients.fetch_sub(1, Ordering::Relaxed);
            return;
        };
        let data = EventData::new_u64(session);
        if epoll::add(&self.ready, &socket, data, EventFlags::IN).is_err() {
            self.state.close_session(session);
            self.channel.clients.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let socket = ClientSocket {
            socket,
            peer,
            is_full: false,
        };
        self.sockets.insert(session, socket);
    }

    /// Reads the path manager's events, where a session waits for any.
    fn read_events(&mut self) {
        if self.state.is_idle() {
            // No session waits for them, so they take no memory.
            return self.events.forget();
        }
        let state = &mut self.state;
        if self.events.read(|event| state.on_event(&event)).is_err() {
            state.on_events_lost();
        }
    }

    /// Serves the sessions whose sockets are ready, a few requests of each.
    fn serve_ready(&mut self) {
        let mut ready: Vec<Event> = Vec::with_capacity(TURN_SESSIONS);
        let now = Some(Timespec::default());
        if self.bucket.wait(Instant::now()).is_some()
            || epoll::wait(&self.ready, spare_capacity(&mut ready), now.as_ref()).is_err()
        {
            return;
        }
        for event in ready {
            let (session, flags) = (event.data.u64(), event.flags);
            if flags.contains(EventFlags::OUT) {
                self.send_to(session);
            } else {
                self.read(session);
            }
        }
    }

    fn read(&mut self, session: u64) {
        for _ in 0..TURN_REQUESTS {
            let Some(client) = self.sockets.get(&session) else {
                return;
            };
            let now = Instant::now();
            if client.is_full || self.bucket.wait(now).is_some() {
                return;
            }
            match self.buffer.receive(&client.socket) {
                Ok(Some(datagram)) => {
                    self.bucket.take(now);
                    if self.state.is_idle() {
                        // Events before the request concern no session.
                        self.events.forget();
                    }
                    self.state.request(session, datagram.into(), now);
                    self.send_to(session);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(None) | Err(_) => return self.close(session),
            }
        }
    }

    fn send(&mut self) {
        for session in self.state.take_dirty() {
            self.send_to(session);
        }
        self.log_actions();
    }

    /// Sends what waits for a client, as far as it reads.
    fn send_to(&mut self, session: u64) {
        let Some(client) = self.sockets.get_mut(&session) else {
            return;
        };
        while let Some(message) = self.state.outgoing(session) {
            match send_message(&client.socket, message) {
                Ok(()) => self.state.sent(session),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.close(session),
            }
        }
        if self.state.is_over(session) {
            return self.close(session);
        }
        let is_full = self.state.outgoing(session).is_some();
        if is_full != client.is_full {
            client.is_full = is_full;
            let flags = if is_full {
                EventFlags::OUT
            } else {
                EventFlags::IN
            };
            let data = EventData::new_u64(session);
            if epoll::modify(&self.ready, &client.socket, data, flags).is_err() {
                self.close(session);
            }
        }
    }

    fn close(&mut self, session: u64) {
        self.state.close_session(session);
        self.log_actions();
        if self.sockets.remove(&session).is_some() {
            self.channel.clients.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn log_actions(&mut self) {
        for action in self.state.take_actions() {
            if let Some(client) = self.sockets.get(&action.session) {
                let journal = &self.shared.journal;
                journal.action(&client.peer, action.token, action.command, &action.outcome);
            }
        }
    }
}
