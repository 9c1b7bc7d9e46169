//! A connection, whatever it speaks.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use bytes::Bytes;
use mptcplab_wire::{Packet, Segment};

use super::multipath::MultipathConnection;
use super::plain::PlainConnection;
use super::state::Context;
use crate::Nanos;
use crate::event::SubflowId;
use crate::info::{ConnectionInfo, SubflowInfo};
use crate::mptcp::MptcpCounters;
use crate::tcp::TcpCounters;

/// A connection of a host.
#[derive(Clone, Debug)]
pub(crate) enum Connection {
    /// TCP.
    Plain(Box<PlainConnection>),
    /// MPTCP, or what a fallback left of it.
    Multipath(Box<MultipathConnection>),
}

impl Connection {
    /// Takes a segment for one of its subflows.
    pub(crate) fn receive(
        &mut self,
        context: &mut Context<'_>,
        subflow: SubflowId,
        segment: &Segment,
    ) {
        match self {
            Self::Plain(plain) => plain.receive(context, segment),
            Self::Multipath(multipath) => multipath.receive(context, subflow, segment),
        }
    }

    /// Takes a router's error about a segment of a subflow with this sequence number.
    pub(crate) fn on_unreachable(
        &mut self,
        context: &mut Context<'_>,
        subflow: SubflowId,
        sequence: u32,
    ) {
        match self {
            Self::Plain(plain) => plain.on_unreachable(context, sequence),
            Self::Multipath(multipath) => multipath.on_unreachable(context, subflow, sequence),
        }
    }

    /// The next packet to leave.
    pub(crate) fn transmit(
        &mut self,
        context: &mut Context<'_>,
        packet_pool: &mut VecDeque<Box<Packet>>,
    ) -> Option<Box<Packet>> {
        match self {
            Self::Plain(plain) => plain.transmit(context, packet_pool),
            Self::Multipath(multipath) => multipath.transmit(context, packet_pool),
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        match self {
            Self::Plain(plain) => plain.next_deadline(),
            Self::Multipath(multipath) => multipath.next_deadline(),
        }
    }

    pub(crate) fn on_deadline(&mut self, context: &mut Context<'_>) {
        match self {
            Self::Plain(plain) => plain.on_deadline(context),
            Self::Multipath(multipath) => multipath.on_deadline(context),
        }
    }

    /// Takes data to send; gives how much.
    pub(crate) fn write(&mut self, context: &mut Context<'_>, data: Bytes) -> usize {
        match self {
            Self::Plain(plain) => plain.write(data),
            Self::Multipath(multipath) => multipath.write(context, data),
        }
    }

    pub(crate) fn read(&mut self, context: &mut Context<'_>, max_bytes: usize) -> Option<Bytes> {
        match self {
            Self::Plain(plain) => plain.read(context.now, max_bytes),
            Self::Multipath(multipath) => multipath.read(context, max_bytes),
        }
    }

    pub(crate) fn shutdown(&mut self, context: &mut Context<'_>) {
        match self {
            Self::Plain(plain) => plain.shutdown(),
            Self::Multipath(multipath) => multipath.shutdown(context),
        }
    }

    pub(crate) fn abort(&mut self, context: &mut Context<'_>) {
        match self {
            Self::Plain(plain) => plain.abort(context),
            Self::Multipath(multipath) => multipath.abort(context),
        }
    }

    pub(crate) fn release(&mut self, context: &mut Context<'_>) {
        match self {
            Self::Plain(plain) => plain.release(context),
            Self::Multipath(multipath) => multipath.release(context),
        }
    }

    /// Frees the addresses of subflows that are done.
    pub(crate) fn close_addresses(&mut self, context: &mut Context<'_>) {
        match self {
            Self::Plain(plain) => plain.close_addresses(context),
            Self::Multipath(multipath) => multipath.close_addresses(context),
        }
    }

    /// Whether it can be forgotten: it is closed and released.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.is_gone(),
            Self::Multipath(multipath) => multipath.is_gone(),
        }
    }

    /// A new SYN may take the place of a subflow, which is the whole of a plain connection.
    pub(crate) fn gives_way_to(&self, subflow: SubflowId, segment: &Segment) -> bool {
        match self {
            Self::Plain(plain) => plain.gives_way_to(segment),
            Self::Multipath(multipath) => multipath.gives_way_to(subflow, segment),
        }
    }

    /// Makes room for the new SYN.
    pub(crate) fn give_way(&mut self, context: &mut Context<'_>, subflow: SubflowId) {
        match self {
            Self::Plain(plain) => plain.abort(context),
            Self::Multipath(multipath) => multipath.give_way(context, subflow),
        }
    }

    /// Follows a change of the host's addresses.
    pub(crate) fn set_addresses(&mut self, context: &mut Context<'_>) {
        match self {
            Self::Plain(_) => {}
            Self::Multipath(multipath) => multipath.set_addresses(context),
        }
    }

    pub(crate) fn info(&self) -> ConnectionInfo {
        match self {
            Self::Plain(plain) => plain.info(),
            Self::Multipath(multipath) => multipath.info(),
        }
    }

    pub(crate) fn subflows(&self) -> Vec<SubflowInfo> {
        match self {
            Self::Plain(plain) => alloc::vec![plain.subflow()],
            Self::Multipath(multipath) => multipath.subflows(),
        }
    }

    /// Adds what it has counted.
    pub(crate) fn add_counters(&self, tcp: &mut TcpCounters<u64>, mptcp: &mut MptcpCounters<u64>) {
        match self {
            Self::Plain(plain) => tcp.add(plain.counters()),
            Self::Multipath(multipath) => multipath.add_counters(tcp, mptcp),
        }
    }
}
