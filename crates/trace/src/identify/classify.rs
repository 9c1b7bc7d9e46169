//! Connection of a packet with new or reused addresses and ports.

use std::net::IpAddr;

use mptcplab_wire::option::{Join, MptcpOption};

use super::dsn_match::SeenDsns;
use super::flow::{Bits, Flow, PENDING};
use super::keys;
use super::registry::{Incoming, Registry};
use super::subflow::{Phase, Subflow};
use super::tokens::Owner;
use crate::{Segment, Side};

/// Most subflows of a connection that are compared by address with a new one.
const SUBFLOWS_COMPARED: usize = 16;

/// Connection of a flow, and the flow's role in it.
#[derive(Clone, Copy)]
pub(super) struct Attachment {
    pub(super) connection: u32,
    /// The connection's client is the low end of the flow's key.
    pub(super) client_low: bool,
    pub(super) join: bool,
    pub(super) opener: Side,
    pub(super) inferred: bool,
}

impl Registry {
    /// Returns whether a segment of a known flow begins another with the same addresses and ports:
    /// a SYN with another sequence number, after the end of the flow, beyond what was sent in it
    /// (RFC 9293, section 3.6.1), or where the handshake was never completed. A SYN/ACK whose SYN
    /// was not captured likewise, but not before the handshake is complete: a server without memory
    /// of the SYN (RFC 4987) answers a repeated one with another number.
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

    /// Creates a flow and finds its connection, which is [`PENDING`] where that is not known yet.
    pub(super) fn classify(&mut self, incoming: &Incoming) -> u32 {
        let segment = incoming.segment;
        let index = self.flows.len() as u32;
        self.flows.push(Flow::new(incoming.key));
        self.subflows.push(Subflow::new(segment.at));
        self.table.insert(incoming.hash, index, &self.flows);
        let attachment = if !segment.flags.syn || segment.flags.ack {
            self.classify_midstream(incoming)
        } else if let Some(token) = joined_token(segment) {
            self.match_token(token, segment, incoming.from_low)
        } else {
            Some(self.open(segment, incoming.from_low, false))
        };
        match attachment {
            Some(attachment) => self.attach(index, attachment),
            None if self.pending.has_room() => self.pending.add_flow(index, segment.at),
            None => self.attach_alone(index, segment, incoming.from_low),
        }
        index
    }

    /// Finds the connection of a flow without captured beginning; `None`: more segments are needed.
    fn classify_midstream(&mut self, incoming: &Incoming) -> Option<Attachment> {
        let Incoming {
            segment, from_low, ..
        } = *incoming;
        let is_first = |option: &MptcpOption| matches!(option, MptcpOption::Capable(_));
        let options = &segment.options.mptcp;
        if options.is_empty() || options.iter().any(is_first) {
            return Some(self.open(segment, from_low, true));
        }
        let mut numbers = SeenDsns::default();
        numbers.take(segment, from_low);
        if let Some(attachment) = self.match_numbers(&numbers, segment, from_low) {
            return Some(attachment);
        }
        if let Some(token) = named_token(segment)
            && let Some(attachment) = self.match_token(token, segment, from_low)
        {
            return Some(attachment);
        }
        let is_own = numbers.are_sufficient();
        is_own.then(|| self.open(segment, from_low, true))
    }

    /// Finds the connection by a token in a segment. Of several with the token, one that shares an
    /// address is preferred.
    pub(super) fn match_token(
        &self,
        token: u32,
        segment: &Segment,
        from_low: bool,
    ) -> Option<Attachment> {
        let mut owners = self.tokens.owners(token, &self.connections);
        let newest = owners.next()?;
        let owner = std::iter::once(newest)
            .chain(owners)
            .find(|&owner| self.shares_address(owner, segment))
            .unwrap_or(newest);
        let from = owner.side.other();
        Some(Attachment {
            connection: owner.connection,
            client_low: (from == Side::Client) == from_low,
            join: true,
            opener: opener(segment, from),
            inferred: joined_token(segment).is_none(),
        })
    }

    /// Finds the connection by data sequence numbers.
    pub(super) fn match_numbers(
        &self,
        numbers: &SeenDsns,
        segment: &Segment,
        from_low: bool,
    ) -> Option<Attachment> {
        let addresses = addresses(segment);
        let (connection, client_low) =
            self.dsn_index.find(numbers, addresses, &self.connections)?;
        let from = if client_low == from_low {
            Side::Client
        } else {
            Side::Server
        };
        Some(Attachment {
            connection,
            client_low,
            join: true,
            opener: opener(segment, from),
            inferred: true,
        })
    }

    /// Returns whether a segment with a token goes to an address of the token's owner, or comes
    /// from one of the other end.
    fn shares_address(&self, owner: Owner, segment: &Segment) -> bool {
        let connection = &self.connections[owner.connection as usize];
        let announced = connection.announced.as_ref();
        announced.is_some_and(|known| known.contains(owner.side, segment.destination))
            || self
                .indices(connection)
                .take(SUBFLOWS_COMPARED)
                .map(|index| self.ends(index))
                .any(|ends| {
                    ends[owner.side].ip() == segment.destination.ip()
                        || ends[owner.side.other()].ip() == segment.source.ip()
                })
    }
}

/// Returns the token in a MP_JOIN of a SYN.
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

/// Returns the receiver's token in a segment: in MP_JOIN, or by the key of version 1 in
/// MP_FASTCLOSE.
pub(super) fn named_token(segment: &Segment) -> Option<u32> {
    joined_token(segment).or_else(|| {
        segment
            .options
            .mptcp
            .iter()
            .find_map(|option| match option {
                MptcpOption::FastClose { receiver_key } => Some(keys::token(1, *receiver_key)),
                _ => None,
            })
    })
}

/// Returns the end that opened a flow of which `from` sent a segment.
fn opener(segment: &Segment, from: Side) -> Side {
    if is_from_opener(segment) {
        from
    } else {
        from.other()
    }
}

/// Returns whether the segment was sent by the end that opened the flow, by the best evidence:
/// SYN and SYN/ACK, then the options that only one end sends, then the ports: the end with the
/// lower one was connected to. With equal ports the sender of the first packet counts as opener.
pub(super) fn is_from_opener(segment: &Segment) -> bool {
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
