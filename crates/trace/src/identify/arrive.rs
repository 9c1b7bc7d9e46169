//! A packet whose addresses and ports are new, or used again: to which connection does it belong?

use std::net::{IpAddr, SocketAddr};

use mptcplab_wire::option::{Join, MptcpOption};

use super::connection::Connection;
use super::evidence::Numbers;
use super::flow::{Bits, Flow, PENDING};
use super::registry::{Incoming, Registry, Seen};
use super::spell::spell_all;
use super::subflow::{Phase, Subflow};
use super::tokens::Owner;
use crate::{Event, Segment, Side};

/// Subflows of a connection that are asked whether they share an address with a new one.
const SUBFLOWS_ASKED: usize = 16;

/// How a flow comes to its connection.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) connection: u32,
    /// The connection's client is the low end of the flow's key.
    pub(super) client_low: bool,
    pub(super) join: bool,
    pub(super) opener: Side,
    pub(super) inferred: bool,
}

impl Registry {
    /// Whether a segment of a known flow begins another with the same addresses and ports: a SYN
    /// with another sequence number, after the end of the flow, beyond what was sent in it (RFC
    /// 9293, section 3.6.1), or where the handshake was never completed. A SYN/ACK whose SYN was
    /// not captured likewise, but not before the handshake is complete: a server without memory of
    /// the SYN (RFC 4987) answers a repeated one with another number.
    pub(super) fn begins_anew(&self, index: u32, incoming: &Incoming) -> bool {
        let flow = &self.flows[index as usize];
        let segment = incoming.segment;
        if !segment.flags.syn || flow.connection == PENDING {
            return false;
        }
        let subflow = &self.subflows[index as usize];
        let from = flow.side(incoming.from_low);
        if subflow.initial[from] == Some(segment.sequence) {
            return false;
        }
        let is_over = flow.bits.is_over();
        let has_sent = flow.bits.any(Bits::sent(from));
        let is_beyond = segment.sequence.wrapping_sub(flow.next[from]) as i32 >= 0;
        let is_open = subflow.phase == Phase::Open;
        if segment.flags.ack {
            has_sent && (is_over || (is_open && is_beyond))
        } else {
            let in_vain = !is_open && subflow.initial[from].is_some();
            is_over || (has_sent && (is_beyond || in_vain))
        }
    }

    /// Begins a flow. Its connection is [`PENDING`] where it must wait.
    pub(super) fn arrive(&mut self, incoming: &Incoming) -> u32 {
        let segment = incoming.segment;
        let index = self.flows.len() as u32;
        self.flows.push(Flow::new(incoming.key));
        self.subflows.push(Subflow::new(segment.at));
        self.table.insert(incoming.hash, index, &self.flows);
        let arrival = if !segment.flags.syn || segment.flags.ack {
            self.arrive_in_the_middle(incoming)
        } else if let Some(token) = joined_token(segment) {
            self.by_token(token, segment, incoming.from_low)
        } else {
            Some(self.open(segment, incoming.from_low, false))
        };
        match arrival {
            Some(arrival) => self.attach(index, arrival),
            None if self.held.has_room() => self.held.begin(index, segment.at),
            None => self.attach_alone(index, segment, incoming.from_low),
        }
        index
    }

    /// The connection of a flow whose beginning was not captured; `None`: wait for more.
    fn arrive_in_the_middle(&mut self, incoming: &Incoming) -> Option<Arrival> {
        let Incoming {
            segment, from_low, ..
        } = *incoming;
        let is_first = |option: &MptcpOption| matches!(option, MptcpOption::Capable(_));
        let options = &segment.options.mptcp;
        if options.is_empty() || options.iter().any(is_first) {
            return Some(self.open(segment, from_low, true));
        }
        let mut numbers = Numbers::default();
        numbers.take(segment, from_low);
        if let Some(arrival) = self.by_numbers(&numbers, segment, from_low) {
            return Some(arrival);
        }
        let may_tell_more = !numbers.are_enough()
            && (numbers.is_empty() || self.evidence.knows(addresses(segment)));
        (!may_tell_more).then(|| self.open(segment, from_low, true))
    }

    /// By the token of a MP_JOIN. Where several connections have it, one that shares an address.
    pub(super) fn by_token(&self, token: u32, syn: &Segment, from_low: bool) -> Option<Arrival> {
        let mut owners = self.tokens.owners(token, &self.connections);
        let newest = owners.next()?;
        let owner = std::iter::once(newest)
            .chain(owners)
            .find(|&owner| self.shares_address(owner, syn))
            .unwrap_or(newest);
        let opener = owner.side.other();
        Some(Arrival {
            connection: owner.connection,
            client_low: (opener == Side::Client) == from_low,
            join: true,
            opener,
            inferred: false,
        })
    }

    /// By data sequence numbers.
    pub(super) fn by_numbers(
        &self,
        numbers: &Numbers,
        segment: &Segment,
        from_low: bool,
    ) -> Option<Arrival> {
        let addresses = addresses(segment);
        let (connection, client_low) = self.evidence.find(numbers, addresses, &self.connections)?;
        let from = if client_low == from_low {
            Side::Client
        } else {
            Side::Server
        };
        Some(Arrival {
            connection,
            client_low,
            join: true,
            opener: if is_openers(segment) {
                from
            } else {
                from.other()
            },
            inferred: true,
        })
    }

    /// A connection of its own. `from_low`: the segment's sender is the low end.
    fn open(&mut self, segment: &Segment, from_low: bool, inferred: bool) -> Arrival {
        let connection = self.connections.len() as u32;
        self.connections.push(Connection::new(segment.at, inferred));
        Arrival {
            connection,
            client_low: is_openers(segment) == from_low,
            join: false,
            opener: Side::Client,
            inferred,
        }
    }

    /// A connection of its own for a flow of MPTCP whose connection nothing tells; other flows with
    /// the same token will join it.
    pub(super) fn attach_alone(&mut self, index: u32, first: &Segment, from_low: bool) {
        let mut arrival = self.open(first, from_low, true);
        let token = joined_token(first);
        arrival.join = token.is_some();
        self.attach(index, arrival);
        if let Some(token) = token {
            // Who joins has opened before.
            self.connections[arrival.connection as usize].confirmed = true;
            let owner = Owner {
                connection: arrival.connection,
                side: Side::Server,
            };
            self.own_token(owner, token);
        }
    }

    /// Makes the flow a subflow of its connection.
    pub(super) fn attach(&mut self, index: u32, arrival: Arrival) {
        let flow = &mut self.flows[index as usize];
        let subflow = &mut self.subflows[index as usize];
        let connection = &mut self.connections[arrival.connection as usize];
        flow.connection = arrival.connection;
        flow.number = connection.subflows;
        flow.bits.set(Bits::CLIENT_LOW, arrival.client_low);
        subflow.join = arrival.join;
        subflow.opener = arrival.opener;
        subflow.inferred = arrival.inferred;
        if !arrival.join && !arrival.inferred {
            subflow.be_first();
        }
        if connection.subflows == 0 {
            connection.first = index;
        } else {
            self.subflows[connection.last as usize].following = index;
        }
        connection.last = index;
        connection.subflows += 1;
        if arrival.join {
            self.meet(index);
        }
    }

    /// Remembers that the connection was seen at the addresses of a flow.
    pub(super) fn meet(&mut self, index: u32) {
        let flow = &self.flows[index as usize];
        for low in [true, false] {
            self.evidence.met(flow.key.end(low).ip(), flow.connection);
        }
    }

    /// Whether a MP_JOIN to a connection goes to an address of the token's owner, or comes from one
    /// of the other end.
    fn shares_address(&self, owner: Owner, syn: &Segment) -> bool {
        let connection = &self.connections[owner.connection as usize];
        let announced = connection.announced.as_ref();
        announced.is_some_and(|known| known.contains(owner.side, syn.destination))
            || self
                .indices(connection)
                .take(SUBFLOWS_ASKED)
                .map(|index| self.ends(index))
                .any(|ends| {
                    ends[owner.side].ip() == syn.destination.ip()
                        || ends[owner.side.other()].ip() == syn.source.ip()
                })
    }

    /// Tells that a connection or a subflow was opened.
    pub(super) fn tell_opened(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let ends = self.ends(seen.index);
        let number = self.flows[seen.index as usize].number;
        let connection = &self.connections[seen.connection as usize];
        let subflow = &mut self.subflows[seen.index as usize];
        let opener = subflow.opener;
        let target: SocketAddr = ends[opener.other()];
        let is_syn = seen.segment.flags.syn && !seen.segment.flags.ack;
        let announced = connection.announced.as_ref();
        subflow.announced =
            subflow.join && announced.is_some_and(|known| known.contains(opener.other(), target));
        let mut text = format!("{} > {}", ends[opener], target);
        if !seen.segment.options.mptcp.is_empty() {
            text.push_str(": ");
            spell_all(&seen.segment.options.mptcp, &mut text);
        }
        if subflow.announced {
            text.push_str(", to an announced address");
        }
        if subflow.inferred && !is_syn {
            text.push_str(", begun before it was captured");
        } else if subflow.inferred && number > 0 {
            text.push_str(", attached by its data sequence numbers");
        } else if subflow.inferred {
            text.push_str(", to a connection that began before it was captured");
        }
        let kind = if number == 0 {
            "connection_opened"
        } else {
            "subflow_opened"
        };
        self.tell(seen, kind, text, events);
    }
}

/// Token in a MP_JOIN of a SYN.
pub(super) fn joined_token(segment: &Segment) -> Option<u32> {
    let is_syn = segment.flags.syn && !segment.flags.ack;
    segment
        .options
        .mptcp
        .iter()
        .find_map(|option| match option {
            MptcpOption::Join(Join::Syn { token, .. }) if is_syn => Some(*token),
            _ => None,
        })
}

/// Whether the segment was sent by the end that opened the flow, by the best evidence there is:
/// SYN and SYN/ACK say it, and so do the options that only one end sends; else the end with the
/// lower port is the one that was connected to. Equal ports tell nothing: then the sender of the
/// first packet counts as opener.
fn is_openers(segment: &Segment) -> bool {
    if segment.flags.syn {
        return !segment.flags.ack;
    }
    let told = segment
        .options
        .mptcp
        .iter()
        .find_map(|option| match option {
            MptcpOption::Capable(capable) => Some(capable.receiver_key.is_some()),
            MptcpOption::Join(join) => Some(!matches!(join, Join::SynAck { .. })),
            _ => None,
        });
    told.unwrap_or(segment.source.port() >= segment.destination.port())
}

fn addresses(segment: &Segment) -> [IpAddr; 2] {
    [segment.source.ip(), segment.destination.ip()]
}
