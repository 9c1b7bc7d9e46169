//! The thread that serves one user.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use mptcplab_kernel::event::Events;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::StartError;
use crate::desk::Desk;
use crate::hand::Kernel;
use crate::limits::{Bucket, TURN_REQUESTS};
use crate::options::Done;
use crate::peer::Peer;
use crate::post::{Mailbox, deliver, turn_away};
use crate::server::Shared;

/// Sessions that are looked after in one turn.
const TURN_SESSIONS: usize = 256;
/// How long events may gather while nobody waits for them.
const IDLE: Duration = Duration::from_secs(5);
/// How long to wait before asking again whether descriptors are free.
const PAUSE: Duration = Duration::from_millis(50);

/// A client that has come.
pub(crate) struct Arrival {
    pub(crate) session: OwnedFd,
    pub(crate) peer: Peer,
}

/// What the thread has in common with the one that accepts clients.
pub(crate) struct Door {
    pub(crate) arrivals: Receiver<Arrival>,
    /// Counts up when there is an arrival, or there will be no more.
    pub(crate) bell: Arc<OwnedFd>,
    /// Arrivals and sessions.
    pub(crate) inside: Arc<AtomicUsize>,
}

/// Serves one user until there are no more arrivals and nobody is left.
pub(crate) struct User {
    door: Door,
    shared: Arc<Shared>,
    desk: Desk<Kernel>,
    events: Events,
    /// What was done with options.
    done: Receiver<Done>,
    /// Sessions that can be read, or sent to.
    ready: OwnedFd,
    sessions: HashMap<u64, Talk>,
    mailbox: Mailbox,
    bucket: Bucket,
    /// There will be no more arrivals.
    is_closing: bool,
}

struct Talk {
    session: OwnedFd,
    peer: Peer,
    /// Something waits to be sent, and so long nothing is read.
    is_full: bool,
}

impl User {
    /// # Errors
    /// Where the kernel has no room for another user.
    pub(crate) fn new(door: Door, shared: Arc<Shared>) -> Result<Self, StartError> {
        let ready = epoll::create(CreateFlags::CLOEXEC)
            .map_err(|error| StartError::system("epoll_create", error))?;
        let (sender, done) = channel();
        let hand = Kernel::new(shared.options.clone(), sender, door.bell.clone())?;
        let events = Events::open().map_err(|error| StartError::system("subscribing", error))?;
        Ok(Self {
            desk: Desk::new(hand, shared.policy.clone(), shared.limits),
            bucket: Bucket::new(shared.limits.requests_per_second),
            sessions: HashMap::new(),
            mailbox: Mailbox::new(),
            is_closing: false,
            done,
            door,
            shared,
            events,
            ready,
        })
    }

    /// Serves until there are no more arrivals.
    pub(crate) fn serve(mut self) {
        while !self.is_closing {
            self.wait();
            self.admit();
            for done in self.done.try_iter() {
                self.desk.option_done(done.ticket, done.result);
            }
            self.hear();
            self.look_after();
            self.desk.pass_time(Instant::now());
            self.send();
        }
        for session in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.dismiss(session);
        }
        self.record();
    }

    fn wait(&self) {
        let now = Instant::now();
        let hurry = self.bucket.wait(now);
        let deadline = self.desk.deadline();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
        let idle = self.desk.is_idle().then_some(IDLE);
        let timeout = [hurry, left, idle].into_iter().flatten().min();
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        // Who is too fast waits.
        let read = if hurry.is_some() {
            PollFlags::empty()
        } else {
            PollFlags::IN
        };
        let mut waited = vec![
            PollFd::new(&self.door.bell, PollFlags::IN),
            PollFd::new(&self.ready, read),
        ];
        // Lost events wake up whoever looks at their socket, whatever he waits for.
        if !self.desk.is_idle() {
            waited.push(PollFd::new(&self.events, PollFlags::IN));
        }
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without memory for it there is nothing better to do.
            Err(_) => std::thread::sleep(PAUSE),
        }
    }

    fn admit(&mut self) {
        let mut rings = [0; 8];
        // Arrivals are looked for in any case.
        let _ = rustix::io::read(&self.door.bell, &mut rings);
        loop {
            match self.door.arrivals.try_recv() {
                Ok(arrival) => self.admit_one(arrival),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_closing = true;
                    return;
                }
            }
        }
    }

    fn admit_one(&mut self, Arrival { session, peer }: Arrival) {
        let Some(number) = self.desk.arrive(&peer.who) else {
            let limit = self.shared.limits.sessions;
            turn_away(&session, format!("you have {limit} talks with the broker"));
            self.door.inside.fetch_sub(1, Ordering::Relaxed);
            return;
        };
        let data = EventData::new_u64(number);
        if epoll::add(&self.ready, &session, data, EventFlags::IN).is_err() {
            self.desk.leave(number);
            self.door.inside.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let talk = Talk {
            session,
            peer,
            is_full: false,
        };
        self.sessions.insert(number, talk);
    }

    /// Takes what the kernel tells, when somebody waits for it.
    fn hear(&mut self) {
        if self.desk.is_idle() {
            // Nobody waits for them; so they take no memory.
            return self.events.forget();
        }
        let desk = &mut self.desk;
        if self.events.read(|event| desk.happened(&event)).is_err() {
            desk.lost();
        }
    }

    /// Takes what clients ask for, a few requests of each.
    fn look_after(&mut self) {
        let mut ready: Vec<Event> = Vec::with_capacity(TURN_SESSIONS);
        let now = Some(Timespec::default());
        if self.bucket.wait(Instant::now()).is_some()
            || epoll::wait(&self.ready, spare_capacity(&mut ready), now.as_ref()).is_err()
        {
            return;
        }
        for event in ready {
            let (number, flags) = (event.data.u64(), event.flags);
            if flags.contains(EventFlags::OUT) {
                self.send_to(number);
            } else {
                self.read(number);
            }
        }
    }

    fn read(&mut self, number: u64) {
        for _ in 0..TURN_REQUESTS {
            let Some(talk) = self.sessions.get(&number) else {
                return;
            };
            let now = Instant::now();
            if talk.is_full || self.bucket.wait(now).is_some() {
                return;
            }
            match self.mailbox.receive(&talk.session) {
                Ok(Some(letter)) => {
                    self.bucket.take(now);
                    if self.desk.is_idle() {
                        // What happened before is nobody's concern.
                        self.events.forget();
                    }
                    self.desk.request(number, letter.into(), now);
                    self.send_to(number);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(None) | Err(_) => return self.dismiss(number),
            }
        }
    }

    fn send(&mut self) {
        for number in self.desk.take_touched() {
            self.send_to(number);
        }
        self.record();
    }

    /// Sends what waits for a client, as far as it reads.
    fn send_to(&mut self, number: u64) {
        let Some(talk) = self.sessions.get_mut(&number) else {
            return;
        };
        while let Some(message) = self.desk.outgoing(number) {
            match deliver(&talk.session, message) {
                Ok(()) => self.desk.sent(number),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.dismiss(number),
            }
        }
        if self.desk.is_over(number) {
            return self.dismiss(number);
        }
        let is_full = self.desk.outgoing(number).is_some();
        if is_full != talk.is_full {
            talk.is_full = is_full;
            let flags = if is_full {
                EventFlags::OUT
            } else {
                EventFlags::IN
            };
            let data = EventData::new_u64(number);
            if epoll::modify(&self.ready, &talk.session, data, flags).is_err() {
                self.dismiss(number);
            }
        }
    }

    fn dismiss(&mut self, number: u64) {
        self.desk.leave(number);
        self.record();
        if self.sessions.remove(&number).is_some() {
            self.door.inside.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn record(&mut self) {
        for action in self.desk.take_actions() {
            if let Some(talk) = self.sessions.get(&action.session) {
                let journal = &self.shared.journal;
                journal.action(&talk.peer, action.token, action.order, &action.result);
            }
        }
    }
}
