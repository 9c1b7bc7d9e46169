//! The accounts of a node's sockets, and which flow each belongs to; without I/O.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mptcplab_link::Nanos;

use super::account::{Account, Pair, Reading};

/// Name of a flow.
pub(crate) type Owner = Arc<str>;

/// Longest time from a program's end to the first message about one of its sockets.
const LINGER_NS: Nanos = 2_000_000_000;

/// A program that ran in the node.
struct Program {
    owner: Owner,
    start_ns: Nanos,
    end_ns: Option<Nanos>,
}

/// The accounts of a node.
#[derive(Default)]
pub(crate) struct Book {
    /// The newest socket of each address pair.
    current: HashMap<Pair, Account>,
    /// Those whose addresses are used again.
    former: Vec<Account>,
    /// Calls of connect(2), by the cookie of the socket: of a plain one or of a connection of MPTCP.
    connects: HashMap<u64, (Owner, Nanos)>,
    /// Connections of MPTCP, by token, whose socket a program closed.
    connections: HashMap<u32, Owner>,
    /// Cookies of connections of MPTCP, by token.
    cookies: HashMap<u32, u64>,
    /// Plain sockets that a program closed.
    closed: HashMap<Pair, (Option<u64>, Owner)>,
    programs: Vec<Program>,
    /// Ports of the flows; none: a flow of which both ends are the lab's own.
    ports: Vec<(u16, Option<Owner>)>,
}

impl Book {
    /// A flow whose server has this port; its ends are programs of `owner`, or the
    /// lab's own.
    pub(crate) fn has_port(&mut self, port: u16, owner: Option<Owner>) {
        self.ports.push((port, owner));
    }

    pub(crate) fn program_started(&mut self, owner: &Owner, t_ns: Nanos) {
        self.programs.push(Program {
            owner: owner.clone(),
            start_ns: t_ns,
            end_ns: None,
        });
    }

    pub(crate) fn program_ended(&mut self, owner: &Owner, t_ns: Nanos) {
        let mut own = self.programs.iter_mut().rev();
        if let Some(program) = own.find(|p| p.owner == *owner && p.end_ns.is_none()) {
            program.end_ns = Some(t_ns);
        }
    }

    /// A program of `owner` is about to connect the socket with this cookie.
    pub(crate) fn connecting(&mut self, cookie: u64, owner: &Owner, t_ns: Nanos) {
        self.connects.entry(cookie).or_insert((owner.clone(), t_ns));
    }

    /// A program of `owner` is about to close a descriptor of a plain socket; that of a connection
    /// of MPTCP that has fallen back has a cookie of its own, which is not known.
    pub(crate) fn closing(&mut self, pair: Pair, cookie: Option<u64>, owner: &Owner) {
        self.closed.insert(pair, (cookie, owner.clone()));
    }

    /// A program of `owner` is about to close a descriptor of a connection of MPTCP.
    pub(crate) fn closing_connection(&mut self, token: u32, cookie: u64, owner: &Owner) {
        self.connections.insert(token, owner.clone());
        self.connection(token, cookie);
    }

    /// A connection of MPTCP has this cookie.
    pub(crate) fn connection(&mut self, token: u32, cookie: u64) {
        self.cookies.insert(token, cookie);
    }

    /// Adds a reading.
    pub(crate) fn take(&mut self, reading: Reading<'_>) {
        // A connection in TIME-WAIT or FIN-WAIT-2 is no full socket any more and has no account.
        if reading.info.state.is_none() {
            return;
        }
        if reading.pair.1.port() == 0 {
            return self.end_disconnected(&reading);
        }
        match self.current.get_mut(&reading.pair) {
            Some(account) if !account.is_before(&reading) => account.take(reading),
            _ => {
                let account = Account::new(reading);
                self.former
                    .extend(self.current.insert(reading.pair, account));
            }
        }
    }

    /// Ends the account of an initial subflow whose addresses and counters the kernel had cleared
    /// before it destroyed it. The number of the port and the peer's address are left; a server's
    /// connections share both, and where no cookie tells them apart, none of several is ended.
    fn end_disconnected(&mut self, reading: &Reading<'_>) {
        if !reading.destroyed {
            return;
        }
        let mut all = self.current.values_mut();
        let known = all.find(|one| one.cookie.is_some() && one.cookie == reading.cookie);
        if let Some(account) = known {
            account.end_ns.get_or_insert(reading.t_ns);
            return;
        }
        let (port, peer) = (reading.pair.0.port(), reading.pair.1.ip());
        let mut own = self.current.values_mut().filter(|account| {
            let (local, remote) = account.pair;
            account.cookie.is_none()
                && account.end_ns.is_none()
                && local.port() == port
                && remote.ip() == peer
        });
        if let (Some(account), None) = (own.next(), own.next()) {
            account.end_ns.get_or_insert(reading.t_ns);
        }
    }

    /// Token of the connection that a socket belongs to, as far as it is known.
    pub(crate) fn token(&self, pair: Pair) -> Option<u32> {
        self.current.get(&pair)?.token
    }

    /// Accounts of a flow, in the order in which they were first heard of, each with the time at
    /// which its program called connect(2): of a plain socket, or of the connection of which it is
    /// the first subflow.
    pub(crate) fn of(&self, owner: &Owner) -> Vec<(&Account, Option<Nanos>)> {
        let all = self.current.values().chain(&self.former);
        let mut own: Vec<_> = all
            .filter(|account| self.owner(account).as_ref() == Some(owner))
            .collect();
        own.sort_by_key(|account| (account.first_ns, account.pair));
        let mut tokens = HashSet::new();
        own.into_iter()
            .map(|account| {
                let cookie = match account.token {
                    None => account.cookie,
                    Some(token) if tokens.insert(token) => self.cookies.get(&token).copied(),
                    Some(_) => None,
                };
                let connect = cookie.and_then(|cookie| self.connects.get(&cookie));
                (account, connect.map(|&(_, t_ns)| t_ns))
            })
            .collect()
    }

    /// Sockets that may belong to this flow or to another one.
    pub(crate) fn doubtful(&self, owner: &Owner) -> usize {
        let all = self.current.values().chain(&self.former);
        all.filter(|account| {
            let candidates = self.candidates(account);
            self.known_owner(account).is_none()
                && candidates.len() > 1
                && candidates.contains(&owner)
        })
        .count()
    }

    fn owner(&self, account: &Account) -> Option<Owner> {
        if let Some(owner) = self.known_owner(account) {
            return owner;
        }
        match self.candidates(account)[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// By the system calls of a program, else by the port of a flow. `Some(None)`: the lab's own.
    fn known_owner(&self, account: &Account) -> Option<Option<Owner>> {
        let connect = |cookie: u64| self.connects.get(&cookie).map(|(owner, _)| owner);
        let by_call = match account.token {
            Some(token) => self
                .connections
                .get(&token)
                .or_else(|| connect(*self.cookies.get(&token)?)),
            None => account.cookie.and_then(connect),
        };
        let by_call = by_call.or_else(|| {
            let (cookie, owner) = self.closed.get(&account.pair)?;
            let differ = |own| cookie.is_some_and(|cookie| cookie != own);
            (!account.cookie.is_some_and(differ)).then_some(owner)
        });
        if let Some(owner) = by_call {
            return Some(Some(owner.clone()));
        }
        let ends = [account.pair.0.port(), account.pair.1.port()];
        let mut by_port = self.ports.iter().filter(|(port, _)| ends.contains(port));
        let (_, owner) = by_port.next()?;
        by_port
            .all(|(_, other)| other == owner)
            .then(|| owner.clone())
    }

    /// The flows whose programs lived while the socket did.
    fn candidates(&self, account: &Account) -> Vec<&Owner> {
        let lived = self.programs.iter().filter(|program| {
            program.start_ns <= account.last_ns
                && program
                    .end_ns
                    .is_none_or(|end| account.first_ns <= end.saturating_add(LINGER_NS))
        });
        let mut owners: Vec<_> = lived.map(|program| &program.owner).collect();
        owners.sort();
        owners.dedup();
        owners
    }
}

#[cfg(test)]
mod tests {
    use mptcplab_linux::TcpInfo;

    use super::*;

    fn pair(local: u16, remote: u16) -> Pair {
        let end = |host: u8, port| ([10, 0, 1, host], port).into();
        (end(2, local), end(1, remote))
    }

    fn take(book: &mut Book, t_ns: Nanos, pair: Pair, cookie: Option<u64>, token: Option<u32>) {
        let info = TcpInfo {
            state: Some("ESTABLISHED"),
            ..TcpInfo::default()
        };
        book.take(Reading {
            t_ns,
            pair,
            cookie,
            token,
            destroyed: false,
            info: &info,
        });
    }

    /// The kernel destroys an initial subflow that it had disconnected before.
    fn disconnect(book: &mut Book, t_ns: Nanos, local_port: u16) {
        let info = TcpInfo {
            state: Some("CLOSED"),
            ..TcpInfo::default()
        };
        book.take(Reading {
            t_ns,
            pair: (([0, 0, 0, 0], local_port).into(), ([10, 0, 1, 1], 0).into()),
            cookie: Some(5),
            token: None,
            destroyed: true,
            info: &info,
        });
    }

    fn owner(name: &str) -> Owner {
        Owner::from(name)
    }

    fn ports(book: &Book, name: &str) -> Vec<(u16, Option<Nanos>)> {
        let own = book.of(&owner(name));
        own.iter()
            .map(|(account, start)| (account.pair.0.port(), *start))
            .collect()
    }

    #[test]
    fn a_socket_belongs_to_the_flow_whose_program_connected_it() {
        let mut book = Book::default();
        for name in ["a", "b"] {
            book.program_started(&owner(name), 0);
        }
        book.connecting(7, &owner("a"), 5);
        take(&mut book, 10, pair(40000, 80), Some(7), None);
        take(&mut book, 11, pair(40001, 80), Some(8), None);
        assert_eq!(ports(&book, "a"), [(40000, Some(5))]);
        assert_eq!(ports(&book, "b"), [], "either may have it: none has");
        assert_eq!(book.doubtful(&owner("b")), 1);
        book.closing(pair(40001, 80), Some(8), &owner("b"));
        assert_eq!(ports(&book, "b"), [(40001, None)]);
        assert_eq!(book.doubtful(&owner("b")), 0);
    }

    #[test]
    fn the_subflows_of_a_connection_are_its_program_s() {
        let mut book = Book::default();
        for name in ["a", "b"] {
            book.program_started(&owner(name), 0);
        }
        book.connecting(7, &owner("b"), 5);
        book.connection(99, 7);
        take(&mut book, 10, pair(40000, 80), Some(20), Some(99));
        take(&mut book, 11, pair(40001, 80), Some(21), Some(99));
        assert_eq!(ports(&book, "b"), [(40000, Some(5)), (40001, None)]);
        assert_eq!(ports(&book, "a"), []);
    }

    #[test]
    fn the_port_of_a_flow_tells_before_the_time_does() {
        let mut book = Book::default();
        book.has_port(5001, Some(owner("a")));
        book.has_port(5002, None);
        book.program_started(&owner("a"), 0);
        book.program_started(&owner("b"), 50);
        take(&mut book, 60, pair(40000, 5001), Some(1), None);
        take(&mut book, 60, pair(40001, 5002), Some(2), None);
        assert_eq!(ports(&book, "a"), [(40000, None)]);
        assert_eq!(
            ports(&book, "b"),
            [],
            "the lab's own sockets are no program's"
        );
        assert_eq!(book.doubtful(&owner("a")), 0);
    }

    #[test]
    fn a_program_that_is_alone_has_every_socket_of_its_time() {
        let mut book = Book::default();
        book.program_started(&owner("a"), 0);
        book.program_ended(&owner("a"), 10);
        book.program_started(&owner("b"), 10_000_000_000);
        take(&mut book, 20, pair(40000, 80), Some(1), None);
        take(&mut book, 10_000_000_001, pair(40001, 80), Some(2), None);
        assert_eq!(ports(&book, "a"), [(40000, None)]);
        assert_eq!(ports(&book, "b"), [(40001, None)]);
    }

    #[test]
    fn the_end_of_a_subflow_that_was_disconnected_is_known_by_its_port() {
        let mut book = Book::default();
        book.program_started(&owner("a"), 0);
        take(&mut book, 1, pair(40000, 80), None, Some(99));
        disconnect(&mut book, 2, 40000);
        let own = book.of(&owner("a"));
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].0.end_ns, Some(2));
    }

    #[test]
    fn none_of_several_connections_to_a_server_ends_in_place_of_another() {
        let mut book = Book::default();
        book.program_started(&owner("a"), 0);
        for (port, token) in [(40000, 98), (40001, 99)] {
            take(&mut book, 1, pair(5001, port), None, Some(token));
        }
        disconnect(&mut book, 2, 5001);
        let own = book.of(&owner("a"));
        assert!(own.iter().all(|(account, _)| account.end_ns.is_none()));
    }

    #[test]
    fn a_cookie_tells_which_of_several_connections_to_a_server_has_ended() {
        let mut book = Book::default();
        book.program_started(&owner("a"), 0);
        take(&mut book, 1, pair(5001, 40000), Some(5), Some(98));
        take(&mut book, 1, pair(5001, 40001), None, Some(99));
        disconnect(&mut book, 2, 5001);
        let ends: Vec<_> = book
            .of(&owner("a"))
            .iter()
            .map(|(account, _)| account.end_ns)
            .collect();
        assert_eq!(ends, [Some(2), None]);
    }

    #[test]
    fn what_is_left_in_time_wait_changes_nothing() {
        let mut book = Book::default();
        book.program_started(&owner("a"), 0);
        take(&mut book, 1, pair(40000, 80), Some(1), None);
        book.take(Reading {
            t_ns: 2,
            pair: pair(40000, 80),
            cookie: Some(2),
            token: None,
            destroyed: false,
            info: &TcpInfo::default(),
        });
        assert_eq!(ports(&book, "a"), [(40000, None)]);
    }
}
