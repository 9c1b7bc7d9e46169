//! Clients that do anything, at a desk whose kernel answers anything: no panic, one reply to each
//! request, no queue beyond its limit, and no socket held when all have gone.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mptcplab_broker::Limits;
use mptcplab_broker::desk::{Desk, Received};
use mptcplab_broker::hand::Hand;
use mptcplab_broker::options::Wanted;
use mptcplab_broker::policy::{Announce, Named, Policy, Rule, Who};
use mptcplab_kernel::event::{Event, EventKind};
use mptcplab_subflow::Error;
use mptcplab_subflow::orders::{Open, Opening};
use mptcplab_subflow::protocol::{Answer, Message, Order, Request, VERSION};

/// The most messages that a client who does not read has waiting, as documented.
const MOST_WAITING: usize = 128;
/// Steps of a script; more would only take time.
const MOST_STEPS: usize = 3000;

/// A socket of a script: the token of its connection, and a count of those that are held.
struct Socket {
    token: u32,
    held: Rc<Cell<usize>>,
}

impl Socket {
    fn new(token: u8, held: &Rc<Cell<usize>>) -> Self {
        held.set(held.get() + 1);
        Self {
            token: token.into(),
            held: held.clone(),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.held.set(self.held.get() - 1);
    }
}

/// A kernel that answers by what sockets and orders look like.
struct Kernel {
    next_id: u32,
    opened: BTreeSet<u32>,
    /// Options that are being set, and their sockets.
    tickets: Tickets,
}

type Tickets = Rc<RefCell<Vec<(u64, Socket)>>>;

fn refusal(token: u32) -> Option<Error> {
    match token % 8 {
        5 => Some(Error::NotMptcp),
        6 => Some(Error::ForeignNamespace),
        7 => Some(Error::NotConnected),
        _ => None,
    }
}

fn answer<T>(token: u32, value: T) -> Result<T, Error> {
    refusal(token).map_or(Ok(value), Err)
}

impl Hand for Kernel {
    type Socket = Socket;

    fn connection(&self, socket: &Socket) -> Result<(u32, usize), Error> {
        answer(socket.token, (socket.token, (socket.token / 8) as usize))
    }

    fn interfaces(&mut self, address: IpAddr) -> Result<Vec<String>, Error> {
        Ok(match address {
            IpAddr::V4(v4) if v4.octets()[3] < 128 => vec!["eth0".to_owned()],
            IpAddr::V4(_) => vec!["eth0".to_owned(), "wlan0".to_owned()],
            IpAddr::V6(_) => vec![],
        })
    }

    fn interface_name(&mut self, name: &str) -> Result<Option<String>, Error> {
        Ok((name != "wlan1").then(|| name.to_owned()))
    }

    fn open(&mut self, socket: &Socket, order: &Open) -> Result<Opening, Error> {
        match order.local.port() % 4 {
            0 => return Err(Error::NotEstablished),
            1 => {
                let address = order.local;
                return Err(Error::NotLocal { address });
            }
            _ => {}
        }
        self.next_id += 1;
        self.opened.insert(self.next_id);
        Ok(Opening {
            token: socket.token,
            id: self.next_id,
            local: order.local,
            remote: order.remote.unwrap_or(order.local),
        })
    }

    fn look(&self, opening: &Opening, _: &Socket) -> Option<Result<u32, Error>> {
        opening.id.is_multiple_of(2).then_some(Ok(opening.id))
    }

    fn abandon(&mut self, opening: &Opening) {
        assert!(self.opened.remove(&opening.id), "abandoned twice");
    }

    fn close(&mut self, socket: &Socket, id: u32) -> Result<(), Error> {
        match id % 2 {
            0 => answer(socket.token, ()),
            _ => Err(Error::NoSuchSubflow { id }),
        }
    }

    fn set_backup(&mut self, socket: &Socket, _: u32, _: bool) -> Result<(), Error> {
        answer(socket.token, ())
    }

    fn announce(&mut self, socket: &Socket, _: SocketAddr) -> Result<u8, Error> {
        answer(socket.token, 1)
    }

    fn withdraw(&mut self, _: &Socket, id: u8) -> Result<(), Error> {
        Err(Error::NoSuchAddress { id })
    }

    fn begin_option(&mut self, ticket: u64, socket: Socket, wanted: Wanted) -> Result<(), Error> {
        if wanted.subflow.is_multiple_of(3) {
            let reason = "no BPF".to_owned();
            return Err(Error::NeedsBpf { reason });
        }
        self.tickets.borrow_mut().push((ticket, socket));
        Ok(())
    }

    fn has_connection(&mut self, token: u32) -> bool {
        token.is_multiple_of(2)
    }
}

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

/// A script's bytes, one after the other; zeros at the end.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            None => 0,
            Some((&byte, rest)) => {
                self.0 = rest;
                byte
            }
        }
    }

    fn address(&mut self) -> SocketAddr {
        let (last, port) = (self.byte(), self.byte());
        match port {
            250.. => SocketAddr::from(([0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)], port.into())),
            _ => SocketAddr::from(([10, 0, 0, last], port.into())),
        }
    }

    fn order(&mut self) -> Order {
        let subflow = u32::from(self.byte());
        let (level, option) = if subflow < 128 { (6, 13) } else { (1, 36) };
        match self.byte() % 10 {
            0 => Order::Close { subflow },
            1 => Order::SetBackup {
                subflow,
                backup: true,
            },
            2 => Order::Announce {
                address: self.address(),
            },
            3 => Order::Withdraw {
                address_id: subflow as u8,
            },
            4 => Order::GetOption {
                subflow,
                level,
                option,
                length: usize::from(self.byte()) * 2,
            },
            5 => Order::SetOption {
                subflow,
                level,
                option,
                value: vec![7; self.byte().into()],
            },
            6 => Order::Watch {},
            _ => Order::Open(Open {
                local: self.address(),
                remote: None,
                backup: false,
                interface: (subflow % 16 == 0).then(|| "wlan0".to_owned()),
                timeout: match self.byte() {
                    255 => Duration::MAX,
                    milliseconds => Duration::from_millis(milliseconds.into()),
                },
            }),
        }
    }

    fn event(&mut self) -> Event {
        let kind = match self.byte() % 4 {
            0 => EventKind::Closed,
            1 => EventKind::SubflowClosed,
            2 => EventKind::SubflowEstablished,
            _ => EventKind::Announced,
        };
        let address = self.address();
        Event {
            kind,
            token: self.byte().into(),
            local: Some(address),
            remote: Some(address),
            local_id: None,
            remote_id: None,
            backup: None,
            error: Some(self.byte()),
            reset_reason: None,
            interface: None,
            server_side: None,
        }
    }
}

/// What a client has not been answered.
#[derive(Default)]
struct Client {
    unanswered: BTreeSet<u64>,
    unread: u64,
}

struct Play {
    desk: Desk<Kernel>,
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
            // What reads as a request all the same has a number of its own.
            match Request::parse(garbage) {
                Ok(request) if client.unanswered.insert(request.id) => {}
                Ok(_) => return,
                Err(_) => client.unread += 1,
            }
            garbage.to_vec()
        } else {
            let version = VERSION;
            let order = script.order();
            client.unanswered.insert(id);
            let request = Request { version, id, order };
            request.to_bytes()
        };
        let received = Received {
            bytes: &bytes,
            is_cut: false,
            sockets,
            sockets_are_cut: shape == 255,
        };
        self.desk.request(session, received, self.now);
    }

    /// The client reads what waits for it.
    fn read(&mut self, session: u64) {
        let client = self.clients.get_mut(&session).expect("a client");
        let mut waiting = 0;
        while let Some(message) = self.desk.outgoing(session) {
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
            self.desk.sent(session);
        }
        if self.desk.is_over(session) {
            self.desk.leave(session);
            self.clients.remove(&session);
        }
    }

    fn step(&mut self, script: &mut Script<'_>) {
        match script.byte() % 16 {
            0 | 1 => {
                let uid = u32::from(script.byte() % 4);
                let who = Who {
                    uid,
                    groups: vec![],
                };
                if let Some(session) = self.desk.arrive(&who) {
                    self.clients.insert(session, Client::default());
                }
            }
            2 => {
                if let Some(session) = self.client(script.byte()) {
                    self.desk.leave(session);
                    self.clients.remove(&session);
                }
            }
            3 => self.ask(script, true),
            4 | 5 => {
                let event = script.event();
                self.desk.happened(&event);
            }
            6 => self.desk.lost(),
            7 => {
                self.now += Duration::from_millis(script.byte().into());
                self.desk.pass_time(self.now);
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
                    self.desk.option_done(ticket, Ok(value));
                }
            }
            _ => self.ask(script, false),
        }
        self.desk.take_actions();
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
    let kernel = Kernel {
        next_id: 0,
        opened: BTreeSet::new(),
        tickets: tickets.clone(),
    };

    let limits = Limits {
        sessions: 6,
        opens: 8,
        watches: 3,
        requests_per_second: 1,
    };
    let mut play = Play {
        desk: Desk::new(kernel, Arc::new(policy), limits),
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
    play.desk.pass_time(play.now);
    assert_eq!(play.desk.deadline(), None);
    play.tickets.borrow_mut().clear();
    assert_eq!(play.held.get(), 0, "a socket is held for nothing");
    for session in play.clients.keys().copied().collect::<Vec<_>>() {
        play.read(session);
        if let Some(client) = play.clients.get(&session) {
            assert!(client.unanswered.is_empty(), "{:?}", client.unanswered);
            assert_eq!(client.unread, 0);
            play.desk.leave(session);
        }
    }
    assert!(play.desk.is_idle());
    assert_eq!(play.desk.sessions(), 0);
}
