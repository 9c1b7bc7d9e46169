//! Rules: the table in which routes of packets are looked up, and packets that have none.

use std::io;
use std::net::{IpAddr, SocketAddr};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::IpProtocol;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage, RulePortRange};

use super::{Rtnetlink, family, host_bits, is_absent};

/// Connections by TCP that are not to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Their address here.
    pub source: IpAddr,
    /// Where they would go; of the same family.
    pub destination: SocketAddr,
}

impl Rtnetlink {
    /// Looks up routes of packets from `source` in `table`; a rule that exists already is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_source_rule(&mut self, source: IpAddr, table: u32) -> io::Result<()> {
        self.add_rule(rule_message(source, table))
    }

    /// Takes the rule of [`Rtnetlink::add_source_rule`] away; none there is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn delete_source_rule(&mut self, source: IpAddr, table: u32) -> io::Result<()> {
        self.delete_rule(rule_message(source, table))
    }

    /// Lets connections of TCP from an address to a place find no route: connect(2) fails, and no
    /// subflow of MPTCP is opened. No other packet is concerned. A rule that exists already is no
    /// error.
    ///
    /// # Errors
    /// The kernel's: without CAP_NET_ADMIN over the namespace, and before Linux 4.17.
    pub fn add_unreachable_rule(&mut self, connections: &Unreachable) -> io::Result<()> {
        self.add_rule(unreachable_message(connections))
    }

    /// Takes the rule of [`Rtnetlink::add_unreachable_rule`] away; none there is no error.
    ///
    /// # Errors
    /// The kernel's.
    pub fn delete_unreachable_rule(&mut self, connections: &Unreachable) -> io::Result<()> {
        self.delete_rule(unreachable_message(connections))
    }

    fn add_rule(&mut self, message: RuleMessage) -> io::Result<()> {
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        match self.0.request(RouteNetlinkMessage::NewRule(message), flags) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    fn delete_rule(&mut self, message: RuleMessage) -> io::Result<()> {
        match self.0.request(RouteNetlinkMessage::DelRule(message), 0) {
            Err(error) if is_absent(&error) => Ok(()),
            other => other,
        }
    }
}

fn rule_message(source: IpAddr, table: u32) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family(source);
    message.header.src_len = host_bits(source);
    message.header.action = RuleAction::ToTable;
    message.attributes.push(RuleAttribute::Source(source));
    message.attributes.push(RuleAttribute::Table(table));
    // Source rules of one namespace share a priority; the kernel tells them apart by source.
    message.attributes.push(RuleAttribute::Priority(100));
    message
}

/// Ahead of all rules but that of local addresses.
fn unreachable_message(connections: &Unreachable) -> RuleMessage {
    let Unreachable {
        source,
        destination,
    } = *connections;
    let port = destination.port();
    let mut message = RuleMessage::default();
    message.header.family = family(source);
    message.header.src_len = host_bits(source);
    message.header.dst_len = host_bits(destination.ip());
    message.header.action = RuleAction::Unreachable;
    message.attributes = vec![
        RuleAttribute::Source(source),
        RuleAttribute::Destination(destination.ip()),
        RuleAttribute::IpProtocol(IpProtocol::Tcp),
        RuleAttribute::DestinationPortRange(RulePortRange {
            start: port,
            end: port,
        }),
        RuleAttribute::Priority(1),
    ];
    message
}
