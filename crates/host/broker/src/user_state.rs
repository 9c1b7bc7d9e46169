//! Sessions, pending subflows and watches of one user, without I/O: requests, events of the path
//! manager and the time go in; messages to clients and calls of a [`PathManagerBackend`] come out.

mod commands;
mod pending;
mod replies;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use mptcplab_linux::event::{self, Event};
use mptcplab_subflow::protocol::{Answer, Message, Request};
use mptcplab_subflow::{Error, SubflowEvent};

use self::pending::{PendingSubflows, Requester};
use self::replies::command_name;
use crate::backend::PathManagerBackend;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::request::{Received, protocol};

/// A command of a client and its outcome, for the journal.
#[derive(Clone, Debug)]
pub struct Action {
    /// Number of the client's session.
    pub session: u64,
    /// Token of the connection, where it was found.
    pub token: Option<u32>,
    /// Name of the command.
    pub command: &'static str,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// It was refused, or failed.
    Failed(Error),
    /// The client hung up before it was decided.
    HungUp,
}

/// The sessions, pending subflows and watches of one user.
pub struct UserState<B: PathManagerBackend> {
    backend: B,
    policy: Arc<Policy>,
    limits: Limits,
    next_session: u64,
    sessions: BTreeMap<u64, Session>,
    pending_subflows: PendingSubflows<B::Socket>,
    /// Options that are being read or set, by ticket.
    pending_options: BTreeMap<u64, PendingOption>,
    next_ticket: u64,
    /// Sessions that watch a connection, by its token.
    watching: HashMap<u32, Vec<u64>>,
    watches: usize,
    /// Sessions that have something to send, or are over.
    dirty: BTreeSet<u64>,
    actions: Vec<Action>,
}

/// A session of a client.
struct Session {
    /// Index of the rule that names the client.
    rule: usize,
    outbox: VecDeque<Vec<u8>>,
    /// Token of the connection that is watched.
    watched: Option<u32>,
    /// Nothing follows the messages in the outbox.
    is_over: bool,
}

/// An option that is being read or set.
struct PendingOption {
    requester: Requester,
    /// Name of the command.
    command: &'static str,
    deadline: Instant,
}

impl<B: PathManagerBackend> UserState<B> {
    /// The state of a user without sessions.
    pub fn new(backend: B, policy: Arc<Policy>, limits: Limits) -> Self {
        Self {
            backend,
            policy,
            limits,
            next_session: 0,
            sessions: BTreeMap::new(),
            pending_subflows: PendingSubflows::new(),
            pending_options: BTreeMap::new(),
            next_ticket: 0,
            watching: HashMap::new(),
            watches: 0,
            dirty: BTreeSet::new(),
            actions: Vec::new(),
        }
    }

    /// Opens a session for a client that the rule at this index names, and gives its number; `None`
    /// when the user has too many.
    pub fn open_session(&mut self, rule: usize) -> Option<u64> {
        if self.sessions.len() >= self.limits.sessions {
            return None;
        }
        let number = self.next_session;
        self.next_session += 1;
        let session = Session {
            rule,
            outbox: VecDeque::new(),
            watched: None,
            is_over: false,
        };
        self.sessions.insert(number, session);
        Some(number)
    }

    /// Closes a session whose client has hung up, and gives up its pending subflows and options.
    pub fn close_session(&mut self, session: u64) {
        self.end_watch(session);
        self.sessions.remove(&session);
        let mut given_up = Vec::new();
        self.pending_options.retain(|_, pending| {
            let stays = pending.requester.session != session;
            if !stays {
                given_up.push((pending.requester, pending.command));
            }
            stays
        });
        let subflows = self.pending_subflows.give_up(&mut self.backend, session);
        given_up.extend(subflows.into_iter().map(|requester| (requester, "open")));
        self.actions
            .extend(given_up.into_iter().map(|(requester, command)| Action {
                session,
                token: Some(requester.token),
                command,
                outcome: Outcome::HungUp,
            }));
    }

    /// Carries out or refuses a client's request.
    pub fn request(&mut self, session: u64, received: Received<'_, B::Socket>, now: Instant) {
        let (id, name, parsed) = match Request::parse(received.bytes) {
            _ if received.is_cut => (0, "-", Err(protocol("a request is at most 4096 bytes"))),
            _ if received.bytes.is_empty() => (0, "-", Err(protocol("the message is empty"))),
            Err(error) => (0, "-", Err(error)),
            Ok(Request { id, command, .. }) => (
                id,
                command_name(&command),
                received.into_socket().map(|socket| (command, socket)),
            ),
        };
        let mut token = None;
        let done = parsed.and_then(|(command, socket)| {
            self.carry_out(session, id, command, socket, &mut token, now)
        });
        match done {
            // The reply follows when the result is there.
            Ok(None) => {}
            Ok(Some(answer)) => self.answer(session, id, token, name, Ok(answer)),
            Err(error) => self.answer(session, id, token, name, Err(error)),
        }
    }

    /// Handles an event of the path manager.
    pub fn on_event(&mut self, event: &Event) {
        let results = self.pending_subflows.on_event(event);
        self.answer_opens(results);
        for session in self.watching.get(&event.token).cloned().unwrap_or_default() {
            self.push_message(session, &Message::Event(SubflowEvent::of(event)));
            if event.kind == event::EventKind::Closed {
                self.finish_watch(session);
            }
        }
    }

    /// Handles the loss of events: asks the sockets for the results, and tells the watches.
    pub fn on_events_lost(&mut self) {
        let results = self.pending_subflows.ask_sockets(&self.backend);
        self.answer_opens(results);
        for (token, sessions) in self.watching.clone() {
            // Its end may be among the lost events, and another connection may get its token.
            let has_ended = !self.backend.has_connection(token);
            for session in sessions {
                self.push_message(session, &Message::Lost {});
                if has_ended {
                    self.finish_watch(session);
                }
            }
        }
    }

    /// Handles the result of an option that was read or set.
    pub fn on_option_done(&mut self, ticket: u64, result: Result<Answer, Error>) {
        // It may have been given up.
        if let Some(pending) = self.pending_options.remove(&ticket) {
            let Requester {
                session,
                request,
                token,
            } = pending.requester;
            self.answer(session, request, Some(token), pending.command, result);
        }
    }

    /// Gives up what has not been answered by its deadline.
    pub fn on_deadline(&mut self, now: Instant) {
        let results = self.pending_subflows.on_deadline(&mut self.backend, now);
        self.answer_opens(results);
        let pending = self.pending_options.iter();
        let late = pending.filter(|(_, pending)| pending.deadline <= now);
        for ticket in late.map(|(&ticket, _)| ticket).collect::<Vec<_>>() {
            let reason =
                "sockets that their owners keep locked hold up options; try again".to_owned();
            self.on_option_done(ticket, Err(Error::TooMany { reason }));
        }
    }

    /// When [`Self::on_deadline`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        let options = self
            .pending_options
            .values()
            .map(|pending| pending.deadline);
        options.chain(self.pending_subflows.deadline()).min()
    }

    /// No session waits for an event.
    pub fn is_idle(&self) -> bool {
        self.pending_subflows.len() == 0 && self.watches == 0
    }

    /// Number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Takes the numbers of the sessions that have something to send, or are over, since the last
    /// call.
    pub fn take_dirty(&mut self) -> BTreeSet<u64> {
        std::mem::take(&mut self.dirty)
    }

    /// Takes the actions since the last call.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// The next message for a client.
    pub fn outgoing(&self, session: u64) -> Option<&[u8]> {
        let outbox = &self.sessions.get(&session)?.outbox;
        outbox.front().map(Vec::as_slice)
    }

    /// Removes the next message, which was sent.
    pub fn sent(&mut self, session: u64) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.outbox.pop_front();
        }
    }

    /// The session is to be closed: it has ended, and all its messages are sent.
    pub fn is_over(&self, session: u64) -> bool {
        let session = self.sessions.get(&session);
        session.is_none_or(|session| session.is_over && session.outbox.is_empty())
    }
}
