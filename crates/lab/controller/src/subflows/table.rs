//! The table of connections, of bounded size.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::shares::{Class, Shares};
use super::{Flow, Pace};
use crate::paths::{BothWays, Path};
use crate::place::PortRef;

/// The kind of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Multipath,
    /// TCP, or MPTCP that fell back to it.
    Tcp,
    /// Packets of one direction of another protocol.
    Other,
}

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) kind: Kind,
    /// Whether SYNs of its first subflow go on without MP_CAPABLE.
    pub(crate) falls_back: bool,
    /// The first subflow's addresses and ports, from the opener.
    pub(crate) flow: Flow,
    /// The port of the opener's host.
    pub(crate) opener_at: PortRef,
    pub(crate) opened_ns: u64,
    /// Bytes of its transfer, where known when it began.
    pub(crate) expected_bytes: Option<u64>,
    /// The time before which its transfer, the size of which was told, is not over.
    pub(crate) over_from_ns: Option<u64>,
    /// Whether all of a transfer was carried whose size was told.
    pub(crate) is_carried: bool,
    /// When its counters were last asked for, to know that.
    pub(crate) asked_ns: Option<u64>,
    /// Tokens of the opener and of the other end, once their keys were seen.
    pub(crate) tokens: [Option<u32>; 2],
    pub(crate) subflows: Vec<u64>,
    pub(crate) class: Class,
    /// The time at which it is forgotten, if it has no rules.
    pub(crate) forget_ns: Option<u64>,
    /// Bytes of data from the opener and to it, as switches have told at the end of rules.
    pub(crate) bytes: [u64; 2],
    /// The time at which the counters of its rules are read, if they are.
    pub(crate) count_ns: Option<u64>,
    /// Whether its end was told.
    pub(crate) is_over: bool,
    /// The bytes that it had carried, since when, while silence is to show that its transfer is over.
    pub(crate) watched: Option<(u64, u64)>,
    /// The size that was learned from it.
    pub(crate) learned_bytes: Option<u64>,
    /// The time before which its subflows keep their paths, as one of them was moved to a better one.
    pub(crate) settled_ns: u64,
}

/// The state of a subflow's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Switches have not confirmed them all.
    Installing,
    /// All switches have them.
    Active,
    /// They are gone.
    Idle,
}

/// A subflow.
#[derive(Clone, Debug)]
pub(crate) struct Subflow {
    pub(crate) connection: u64,
    pub(crate) flow: Flow,
    pub(crate) path: Path,
    /// Ways round the links of the path that switches have rules for.
    pub(crate) detours: BothWays,
    /// The ports of the opener's host and of the other end's.
    pub(crate) ends: [PortRef; 2],
    pub(crate) state: State,
    /// Packets of which the first switch of each direction still sends a copy to the controller, which
    /// waits for keys: from the opener, to it.
    pub(crate) copies: [u8; 2],
    /// Whether the counters of each direction were told since its rules went.
    pub(crate) counted: [bool; 2],
    /// Bytes of data of each direction when the counters of its rules were last read.
    pub(crate) read_bytes: [u64; 2],
    /// The same of frames.
    pub(crate) read_frames: [u64; 2],
    pub(crate) pace: Pace,
}

/// All connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The last number given, to a connection or a subflow.
    last: u64,
    connections: BTreeMap<u64, Connection>,
    subflows: BTreeMap<u64, Subflow>,
    /// Subflows by the packets of both directions (of TCP), and whether these are the opener's.
    by_flow: HashMap<Flow, (u64, bool)>,
    by_token: HashMap<u32, Vec<(u64, usize)>>,
    shares: Shares,
}

impl Table {
    pub(crate) fn connection(&self, number: u64) -> Option<&Connection> {
        self.connections.get(&number)
    }

    pub(crate) fn connection_mut(&mut self, number: u64) -> Option<&mut Connection> {
        self.connections.get_mut(&number)
    }

    pub(crate) fn subflow(&self, number: u64) -> Option<&Subflow> {
        self.subflows.get(&number)
    }

    pub(crate) fn subflow_mut(&mut self, number: u64) -> Option<&mut Subflow> {
        self.subflows.get_mut(&number)
    }

    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Entries of all tables together.
    pub(crate) fn entries(&self) -> usize {
        let tokens: usize = self.by_token.values().map(Vec::len).sum();
        self.connections.len() + self.subflows.len() + self.by_flow.len() + tokens
    }

    /// Numbers of all subflows, in the order in which they came.
    pub(crate) fn subflow_numbers(&self) -> Vec<u64> {
        self.subflows.keys().copied().collect()
    }

    /// All connections with their numbers, in the order in which they came.
    pub(crate) fn connections(&self) -> impl DoubleEndedIterator<Item = (u64, &Connection)> {
        let all = self.connections.iter();
        all.map(|(number, connection)| (*number, connection))
    }

    /// The subflow of packets, and whether they are from its opener.
    pub(crate) fn find(&self, flow: &Flow) -> Option<(u64, bool)> {
        self.by_flow.get(flow).copied()
    }

    /// The connection that is to be given up before another one is opened.
    pub(crate) fn first_to_go(&self) -> Option<u64> {
        self.shares.first_to_go()
    }

    /// Opens a connection, and returns its number.
    pub(crate) fn open(
        &mut self,
        now_ns: u64,
        kind: Kind,
        flow: Flow,
        opener_at: PortRef,
        expected_bytes: Option<u64>,
    ) -> u64 {
        self.last += 1;
        let class = Class::HalfOpen;
        let connection = Connection {
            kind,
            falls_back: false,
            flow,
            opener_at,
            opened_ns: now_ns,
            expected_bytes,
            over_from_ns: None,
            is_carried: false,
            asked_ns: None,
            tokens: [None; 2],
            subflows: Vec::new(),
            class,
            forget_ns: None,
            bytes: [0; 2],
            count_ns: None,
            is_over: false,
            watched: None,
            learned_bytes: None,
            settled_ns: 0,
        };
        self.connections.insert(self.last, connection);
        self.shares.add(opener_at, class, self.last);
        self.last
    }

    /// Adds a subflow to its connection, and returns its number.
    pub(crate) fn add(&mut self, subflow: Subflow) -> u64 {
        self.last += 1;
        let number = self.last;
        self.by_flow.insert(subflow.flow, (number, true));
        if subflow.flow.is_tcp() {
            self.by_flow
                .insert(subflow.flow.reversed(), (number, false));
        }
        if let Some(connection) = self.connections.get_mut(&subflow.connection) {
            connection.subflows.push(number);
        }
        self.subflows.insert(number, subflow);
        number
    }

    /// Takes a subflow away, and its connection if it was the last one.
    pub(crate) fn remove_subflow(&mut self, number: u64) -> Option<Subflow> {
        let subflow = self.subflows.remove(&number)?;
        for flow in [subflow.flow, subflow.flow.reversed()] {
            if self
                .by_flow
                .get(&flow)
                .is_some_and(|(own, _)| *own == number)
            {
                self.by_flow.remove(&flow);
            }
        }
        if let Some(connection) = self.connections.get_mut(&subflow.connection) {
            connection.subflows.retain(|own| *own != number);
            if connection.subflows.is_empty() {
                self.remove_connection(subflow.connection);
            }
        }
        Some(subflow)
    }

    /// Forgets a connection that has no subflows any more.
    fn remove_connection(&mut self, number: u64) {
        let Some(connection) = self.connections.remove(&number) else {
            return;
        };
        self.shares
            .remove(connection.opener_at, connection.class, number);
        for token in connection.tokens.into_iter().flatten() {
            if let Some(own) = self.by_token.get_mut(&token) {
                own.retain(|(other, _)| *other != number);
                if own.is_empty() {
                    self.by_token.remove(&token);
                }
            }
        }
    }

    /// Puts a connection into another class.
    pub(crate) fn set_class(&mut self, number: u64, class: Class) {
        if let Some(connection) = self.connections.get_mut(&number)
            && connection.class != class
        {
            let port = connection.opener_at;
            self.shares.remove(port, connection.class, number);
            self.shares.add(port, class, number);
            connection.class = class;
        }
    }

    /// Whether the key of an end of a connection is still to come.
    pub(crate) fn waits_for_key(&self, number: u64, end: usize) -> bool {
        self.connections.get(&number).is_some_and(|connection| {
            connection.kind == Kind::Multipath && connection.tokens[end].is_none()
        })
    }

    /// Takes the token of an end (0: the opener), and says whether it was not known before.
    pub(crate) fn set_token(&mut self, number: u64, end: usize, token: u32) -> bool {
        let Some(connection) = self.connections.get_mut(&number) else {
            return false;
        };
        let place = &mut connection.tokens[end];
        if place.is_some() {
            return false;
        }
        *place = Some(token);
        self.by_token.entry(token).or_default().push((number, end));
        true
    }

    /// The connection of a MP_JOIN with a token. Ends of several hosts may have the same token:
    /// then it is the one whose address the MP_JOIN goes to, or the first.
    pub(crate) fn find_token(&self, token: u32, to: IpAddr) -> Option<u64> {
        let found = self.by_token.get(&token)?;
        let goes_to = |(number, end): &&(u64, usize)| {
            let flow = self.connections.get(number).map(|one| one.flow);
            let ends = flow.map(|flow| [flow.source, flow.destination]);
            ends.is_some_and(|ends| ends[*end] == to)
        };
        let exact = found.iter().find(goes_to);
        exact.or(found.first()).map(|(number, _)| *number)
    }
}
