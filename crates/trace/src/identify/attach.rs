//! Connections and subflows begin.

use mptcplab_wire::option::MptcpOption;

use super::arrive::{Arrival, is_openers, joined_token};
use super::connection::Connection;
use super::flow::Bits;
use super::registry::{Registry, Seen};
use super::spell::spell_all;
use super::tokens::Owner;
use crate::{Event, Segment, Side};

impl Registry {
    /// A connection of its own. `from_low`: the segment's sender is the low end.
    pub(super) fn open(&mut self, segment: &Segment, from_low: bool, inferred: bool) -> Arrival {
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
        let is_join = |option: &MptcpOption| matches!(option, MptcpOption::Join(_));
        arrival.join = first.options.mptcp.iter().any(is_join);
        self.attach(index, arrival);
        if let Some(token) = token {
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

    /// Tells that a connection or a subflow was opened.
    pub(super) fn tell_opened(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let ends = self.ends(seen.index);
        let number = self.flows[seen.index as usize].number;
        let connection = &self.connections[seen.connection as usize];
        let subflow = &mut self.subflows[seen.index as usize];
        let opener = subflow.opener;
        let target = ends[opener.other()];
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
