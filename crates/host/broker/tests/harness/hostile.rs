//! Clients that do anything, in front of a kernel that answers anything: no panic, one reply to each
//! request, no queue beyond its limit, and no socket held when all have gone.

mod kernel;
mod script;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mptcplab_broker::Limits;
use mptcplab_broker::policy::{Announce, Named, Policy, Rule};
use mptcplab_broker::request::Received;
use mptcplab_broker::user_state::UserState;
use mptcplab_subflow::protocol::{Answer, Message, Request, VERSION};

use self::kernel::{Kernel, Socket, Tickets};
use self::script::Script;

/// The most messages that a client that does not read has waiting, as documented.
const MOST_WAITING: usize = 128;
/// Steps of a script; more would only take time.
const MOST_STEPS: usize = 3000;

fn rule(place: &str, users: Named) -> Rule {
    Rule {
        place: place.to_owned(),
        users,
        groups: Named::These(vec![]),
        interfaces: vec!["eth*".to_owned()],
        max_subflows: 20,
        backup: true,
        announce: Announce::Own,
        options: vec![(6, 13)],
        congestion_controls: None,
    }
}

/// Requests of a client without an answer.
#[derive(Default)]
struct Client {
    unanswered: BTreeSet<u64>,
    unread: u64,
}

struct Play {
    state: UserState<Kernel>,
    clients: BTreeMap<u64, Client>,
    now: Instant,
    next_request: u64,
    held: Rc<Cell<usize>>,
    tickets: Tickets,
}

impl Play {
    /// The client at this place, and its session.
    fn client(&mut self, place: u8) -> Option<u64> {
        let count = self.clients.len().max(1);
        self.clients.keys().nth(usize::from(place) % count).copied()
    }

    fn ask(&mut self, script: &mut Script<'_>, is_garbage: bool) {
        let Some(session) = self.client(script.byte()) else {
            return;
        };
        let shape = script.byte();
        let count = if shape < 200 {
            1
        } else {
            usize::from(shape % 4)
        };
        let sockets = (0..count).map(|_| Socket::new(script.byte(), &self.held));
        let sockets = sockets.collect();
        self.next_request += 1;
        let id = self.next_request;
        let client = self.clients.get_mut(&session).expect("a client");
        let bytes = if is_garbage {
            let length = usize::from(script.byte()).min(script.0.len());
            let (garbage, rest) = script.0.split_at(length);
            script.0 = rest;
            // Garbage that reads as a request all the same has a number of its own.
            match Request::parse(garbage) {
                Ok(request) if client.unanswered.insert(request.id) => {}
                Ok(_) => return,
                Err(_) => client.unread += 1,
            }
            garbage.to_vec()
        } else {
            let version = VERSION;
            let command = script.command();
            client.unanswered.insert(id);
            let request = Request {
                version,
                id,
                command,
            };
            request.to_bytes()
        };
        let received = Received {
            bytes: &bytes,
            is_cut: false,
            sockets,
            sockets_are_cut: shape == 255,
        };
        self.state.request(session, received, self.now);
    }

    /// The client reads what waits for it.
    fn read(&mut self, session: u64) {
        let client = self.clients.get_mut(&session).expect("a client");
        let mut waiting = 0;
        while let Some(message) = self.state.outgoing(session) {
            waiting += 1;
            assert!(waiting <= MOST_WAITING, "more waits than may");
            match Message::parse(message).expect("a message can be read") {
                Message::Done { id, .. } => assert!(client.unanswered.remove(&id), "{id}"),
                Message::Failed { id: 0, .. } => {
                    client.unread = client.unread.checked_sub(1).expect("one reply each");
                }
                Message::Failed { id, .. } => assert!(client.unanswered.remove(&id), "{id}"),
                Message::Event(_) | Message::Lost {} => {}
            }
            self.state.sent(session);
        }
        if self.state.is_over(session) {
            self.state.close_session(session);
            self.clients.remove(&session);
        }
    }

    fn step(&mut self, script: &mut Script<'_>) {
        match script.byte() % 16 {
            0 | 1 => {
                let rule = usize::from(script.byte() % 2);
                if let Some(session) = self.state.open_session(rule) {
                    self.clients.insert(session, Client::default());
                }
            }
            2 => {
                if let Some(session) = self.client(script.byte()) {
                    self.state.close_session(session);
                    self.clients.remove(&session);
                }
            }
            3 => self.ask(script, true),
            4 | 5 => {
                let event = script.event();
                self.state.on_event(&event);
            }
            6 => self.state.on_events_lost(),
            7 => {
                self.now += Duration::from_millis(script.byte().into());
                self.state.on_deadline(self.now);
            }
            8 | 9 => {
                if let Some(session) = self.client(script.byte()) {
                    self.read(session);
                }
            }
            10 => {
                let place = usize::from(script.byte());
                let mut tickets = self.tickets.borrow_mut();
                if let Some(ticket) = tickets.get(place).map(|(ticket, _)| *ticket) {
                    tickets.swap_remove(place);
                    let value = Answer::Value(vec![script.byte()]);
                    self.state.on_option_done(ticket, Ok(value));
                }
            }
            _ => self.ask(script, false),
        }
        self.state.take_actions();
    }
}

/// Plays a script.
pub(crate) fn play(script: &[u8]) {
    let policy = Policy {
        rules: vec![
            rule("first", Named::These(vec![0, 1])),
            rule("second", Named::These(vec![2])),
        ],
    };
    let tickets = Tickets::default();
    let kernel = Kernel::new(tickets.clone());
    let limits = Limits {
        sessions: 6,
        opens: 8,
        watches: 3,
        requests_per_second: 1,
    };
    let mut play = Play {
        state: UserState::new(kernel, Arc::new(policy), limits),
        clients: BTreeMap::new(),
        now: Instant::now(),
        next_request: 1 << 32,
        held: Rc::default(),
        tickets,
    };
    let mut script = Script(script);
    for _ in 0..MOST_STEPS {
        if script.0.is_empty() {
            break;
        }
        play.step(&mut script);
    }
    // However long a client wanted to wait, all is decided by now.
    play.now += Duration::from_secs(3600);
    play.state.on_deadline(play.now);
    assert_eq!(play.state.deadline(), None);
    play.tickets.borrow_mut().clear();
    assert_eq!(play.held.get(), 0, "a socket is held for nothing");
    for session in play.clients.keys().copied().collect::<Vec<_>>() {
        play.read(session);
        if let Some(client) = play.clients.get(&session) {
            assert!(client.unanswered.is_empty(), "{:?}", client.unanswered);
            assert_eq!(client.unread, 0);
            play.state.close_session(session);
        }
    }
    assert!(play.state.is_idle());
    assert_eq!(play.state.sessions(), 0);
}
