//! Serves one user: what is asked for goes in, with the time and what the kernel tells; messages to
//! clients and orders to a [`Hand`] come out. It does no I/O of its own.

mod carry_out;
mod openings;
mod reply;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use mptcplab_kernel::event::{self, Event};
use mptcplab_subflow::protocol::{Answer, Message, Request};
use mptcplab_subflow::{Error, SubflowEvent};

use self::openings::{Openings, Waiting};
use self::reply::{name, one, protocol};
use crate::hand::Hand;
use crate::limits::Limits;
use crate::policy::{Policy, Who};

/// A message from a client.
pub struct Received<'a, S> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// It was longer than a request may be.
    pub is_cut: bool,
    /// The sockets that came with it.
    pub sockets: Vec<S>,
    /// More came than are here.
    pub sockets_are_cut: bool,
}

/// Something that was done for a client, or refused to him.
#[derive(Clone, Debug)]
pub struct Action {
    /// For whom.
    pub session: u64,
    /// The connection that it was about, where it came so far.
    pub token: Option<u32>,
    /// What was asked for.
    pub order: &'static str,
    /// What came of it.
    pub result: Result<(), Error>,
}

/// The talks, openings and watches of one user.
pub struct Desk<H: Hand> {
    hand: H,
    policy: Arc<Policy>,
    limits: Limits,
    next_session: u64,
    sessions: BTreeMap<u64, Session>,
    openings: Openings<H::Socket>,
    /// Who waits for an option by its ticket, what it was asked for, and how long.
    options: BTreeMap<u64, (Waiting, &'static str, Instant)>,
    next_ticket: u64,
    /// Sessions that watch a connection, by its token.
    watching: HashMap<u32, Vec<u64>>,
    watches: usize,
    touched: BTreeSet<u64>,
    actions: Vec<Action>,
}

/// A talk with a client.
struct Session {
    /// Place of the rule that decides about the client.
    rule: Option<usize>,
    outbox: VecDeque<Vec<u8>>,
    /// Token of the connection that is watched.
    watched: Option<u32>,
    /// Nothing follows what is in the outbox.
    is_over: bool,
}

impl<H: Hand> Desk<H> {
    /// A desk at which nobody is yet.
    pub fn new(hand: H, policy: Arc<Policy>, limits: Limits) -> Self {
        Self {
            hand,
            policy,
            limits,
            next_session: 0,
            sessions: BTreeMap::new(),
            openings: Openings::new(),
            options: BTreeMap::new(),
            next_ticket: 0,
            watching: HashMap::new(),
            watches: 0,
            touched: BTreeSet::new(),
            actions: Vec::new(),
        }
    }

    /// A client comes; its number, or none when the user has too many talks.
    pub fn arrive(&mut self, who: &Who) -> Option<u64> {
        if self.sessions.len() >= self.limits.sessions {
            return None;
        }
        let number = self.next_session;
        self.next_session += 1;
        let session = Session {
            rule: self.policy.place_for(who),
            outbox: VecDeque::new(),
            watched: None,
            is_over: false,
        };
        self.sessions.insert(number, session);
        Some(number)
    }

    /// A client has hung up: nobody waits for its subflows any more.
    pub fn leave(&mut self, session: u64) {
        self.end_watch(session);
        self.sessions.remove(&session);
        self.options
            .retain(|_, (waiting, ..)| waiting.session != session);
        for (waiting, result) in self.openings.leave(&mut self.hand, session) {
            self.actions.push(Action {
                session,
                token: Some(waiting.token),
                order: "open",
                result: result.map(drop),
            });
        }
    }

    /// A client asks for something.
    pub fn request(&mut self, session: u64, received: Received<'_, H::Socket>, now: Instant) {
        let (id, order, asked) = match Request::parse(received.bytes) {
            _ if received.is_cut => (0, "-", Err(protocol("a request is at most 4096 bytes"))),
            Err(error) => (0, "-", Err(error)),
            Ok(Request { id, order, .. }) => (
                id,
                name(&order),
                one(received).map(|socket| (order, socket)),
            ),
        };
        let mut token = None;
        let done = asked.and_then(|(order, socket)| {
            self.carry_out(session, id, order, socket, &mut token, now)
        });
        match done {
            // An opening is answered when it is decided.
            Ok(None) => {}
            Ok(Some(answer)) => self.answer(session, id, token, order, Ok(answer)),
            Err(error) => self.answer(session, id, token, order, Err(error)),
        }
    }

    /// Something happened to a connection.
    pub fn happened(&mut self, event: &Event) {
        let decided = self.openings.happened(event);
        self.answer_openings(decided);
        for session in self.watching.get(&event.token).cloned().unwrap_or_default() {
            self.post(session, &Message::Event(SubflowEvent::of(event)));
            if event.kind == event::EventKind::Closed {
                self.finish_watch(session);
            }
        }
    }

    /// Some of what happened is not known.
    pub fn lost(&mut self) {
        let decided = self.openings.look(&self.hand);
        self.answer_openings(decided);
        for (token, sessions) in self.watching.clone() {
            // Its end may be among what is lost, and another connection may get its token.
            let has_ended = !self.hand.has_connection(token);
            for session in sessions {
                self.post(session, &Message::Lost {});
                if has_ended {
                    self.finish_watch(session);
                }
            }
        }
    }

    /// An option was set or read, or was not.
    pub fn option_done(&mut self, ticket: u64, result: Result<Answer, Error>) {
        // Nobody may wait for it any more.
        if let Some((waiting, order, _)) = self.options.remove(&ticket) {
            let token = Some(waiting.token);
            self.answer(waiting.session, waiting.request, token, order, result);
        }
    }

    /// Time passes: gives up what was not answered in time.
    pub fn pass_time(&mut self, now: Instant) {
        let decided = self.openings.pass_time(&mut self.hand, now);
        self.answer_openings(decided);
        let late = self
            .options
            .iter()
            .filter(|(_, (.., deadline))| *deadline <= now);
        for ticket in late.map(|(&ticket, _)| ticket).collect::<Vec<_>>() {
            let reason = "somebody's sockets hold up options; try again".to_owned();
            self.option_done(ticket, Err(Error::TooMany { reason }));
        }
    }

    /// When time must pass next.
    pub fn deadline(&self) -> Option<Instant> {
        let options = self.options.values().map(|(.., deadline)| *deadline);
        options.chain(self.openings.deadline()).min()
    }

    /// Nobody waits for anything that the kernel tells.
    pub fn is_idle(&self) -> bool {
        self.openings.len() == 0 && self.watches == 0
    }

    /// How many talks there are.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Sessions that have something to send, or are over, since this was last asked.
    pub fn take_touched(&mut self) -> BTreeSet<u64> {
        std::mem::take(&mut self.touched)
    }

    /// What was done since this was last asked.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// The next message for a client.
    pub fn outgoing(&self, session: u64) -> Option<&[u8]> {
        let outbox = &self.sessions.get(&session)?.outbox;
        outbox.front().map(Vec::as_slice)
    }

    /// The next message was sent.
    pub fn sent(&mut self, session: u64) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.outbox.pop_front();
        }
    }

    /// The talk ends when its messages are sent.
    pub fn is_over(&self, session: u64) -> bool {
        let session = self.sessions.get(&session);
        session.is_none_or(|session| session.is_over && session.outbox.is_empty())
    }
}
