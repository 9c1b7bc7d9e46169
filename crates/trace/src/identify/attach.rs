//! Creation of connections and subflows.

use mptcplab_wire::option::MptcpOption;

use super::classify::{Attachment, is_from_opener, joined_token};
use super::connection::Connection;
use super::flow::Bits;
use super::format_option::format_options;
use super::registry::{Registry, Seen};
use super::tokens::Owner;
use crate::{Event, Segment, Side};

impl Registry {
    /// Creates a connection. `from_low`: the segment's sender is the low end.
    pub(super) fn open(&mut self, segment: &Segment, from_low: bool, inferred: bool) -> Attachment {
        let connection = self.connections.len() as u32;
        self.connections.push(Connection::new(segment.at, inferred));
        Attachment {
            connection,
            client_low: is_from_opener(segment) == from_low,
            join: false,
            opener: Side::Client,
            inferred,
        }
    }

    /// Attaches a flow of MPTCP without known connection to a new one; other flows with the same
    /// token will join it.
    pub(super) fn attach_alone(&mut self, index: u32, first: &Segment, from_low: bool) {
        let mut attachment = self.open(first, from_low, true);
        let token = joined_token(first);
        let is_join = |option: &MptcpOption| matches!(option, MptcpOption::Join(_));
        attachment.join = first.options.mptcp.iter().any(is_join);
        self.attach(index, attachment);
        if let Some(token) = token {
            let owner = Owner {
                connection: attachment.connection,
                side: Side::Server,
            };
            self.own_token(owner, token);
        }
    }

    /// Makes the flow a subflow of its connection.
    pub(super) fn attach(&mut self, index: u32, attachment: Attachment) {
        let flow = &mut self.flows[index as usize];
        let subflow = &mut self.subflows[index as usize];
        let connection = &mut self.connections[attachment.connection as usize];
        flow.connection = attachment.connection;
        flow.number = connection.subflows;
        flow.bits.set(Bits::CLIENT_LOW, attachment.client_low);
        subflow.join = attachment.join;
        subflow.opener = attachment.opener;
        subflow.inferred = attachment.inferred;
        if !attachment.join && !attachment.inferred {
            subflow.be_first();
        }
        if connection.subflows == 0 {
            connection.first = index;
        } else {
            self.subflows[connection.last as usize].following = index;
        }
        connection.last = index;
        connection.subflows += 1;
        if attachment.join {
            self.index_addresses(index);
        }
    }

    /// Indexes the connection by the addresses of a flow.
    pub(super) fn index_addresses(&mut self, index: u32) {
        let flow = &self.flows[index as usize];
        for low in [true, false] {
            self.dsn_index
                .add_address(flow.key.end(low).ip(), flow.connection);
        }
    }

    /// Adds the event that a connection or a subflow was opened.
    pub(super) fn report_opened(&mut self, seen: Seen, events: &mut Vec<Event>) {
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
            format_options(&seen.segment.options.mptcp, &mut text);
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
        self.report(seen, kind, text, events);
    }
}
