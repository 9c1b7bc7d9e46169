//! The network's side of a host stack: packets in and out, and deadlines.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::borrow::BorrowMut;

use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{Packet, Segment, Unreachable};

use super::HostStack;
use super::connection::Connection;
use super::multipath::{self, MultipathConnection};
use super::plain::PlainConnection;
use super::state::Context;
use crate::Nanos;
use crate::event::ConnectionId;
use crate::protocol::Protocol;
use crate::tcp::FourTuple;

impl HostStack {
    /// Takes a packet that came for one of the host's addresses.
    pub fn receive(&mut self, now: Nanos, packet: impl BorrowMut<Packet>) {
        match &Segment::parse(packet) {
            Ok(segment) => self.take(self.tick(now), segment),
            Err(_) => self.dropped += 1,
        }
    }

    /// Takes the error of a router that a segment of this host had no route.
    pub fn on_unreachable(&mut self, now: Nanos, lost: &Unreachable) {
        let tuple = FourTuple {
            local: lost.source,
            remote: lost.destination,
        };
        if let Some((id, subflow)) = self.host.find(&tuple) {
            self.with(now, id, |connection, context| {
                connection.on_unreachable(context, subflow, lost.sequence);
            });
        }
    }

    fn take(&mut self, now: Nanos, segment: &Segment) {
        if !self.host.has_address(segment.destination.ip()) {
            self.dropped += 1;
            return;
        }
        let tuple = FourTuple {
            local: segment.destination,
            remote: segment.source,
        };
        if let Some((id, subflow)) = self.host.find(&tuple)
            && let Some(slot) = self.slots.get_mut(id)
        {
            let mut context = Context {
                now,
                id,
                host: &mut self.host,
            };
            // A subflow in TIME-WAIT is removed in favour of a new SYN.
            let gives_way = slot.connection.gives_way_to(subflow, segment);
            if gives_way {
                slot.connection.give_way(&mut context, subflow);
            } else {
                slot.connection.receive(&mut context, subflow, segment);
            }
            self.touch(id);
            if !gives_way {
                return;
            }
        }
        let opens = segment.flags.syn && !segment.flags.ack && !segment.flags.rst;
        if opens && let Some(token) = multipath::join_token(segment) {
            self.accept_join(now, tuple, token, segment);
        } else if opens && self.host.listeners.contains_key(&tuple.local.port()) {
            self.accept(now, tuple, segment);
        } else {
            self.host.answer_with_reset(segment);
        }
    }

    /// Takes a SYN for a listening port.
    fn accept(&mut self, now: Nanos, tuple: FourTuple, syn: &Segment) {
        let backlog = self.host.config.syn_backlog;
        let port = tuple.local.port();
        let Some(listener) = self.host.listeners.get_mut(&port) else {
            return;
        };
        if listener.half_open >= backlog {
            self.refused_syns += 1;
            return;
        }
        listener.half_open += 1;
        let options = listener.options.clone();
        self.passive_opens += 1;
        let id = self.slots.next_id();
        let mut context = Context {
            now,
            id,
            host: &mut self.host,
        };
        let multipath = options.protocol == Protocol::Mptcp && context.host.config.mptcp.enabled;
        let connection = if multipath && multipath::asks_for_it(syn) {
            let connection = MultipathConnection::accept(&mut context, tuple, &options, syn);
            Connection::Multipath(Box::new(connection))
        } else {
            let plain = PlainConnection::accept(&mut context, tuple, &options, syn);
            Connection::Plain(Box::new(plain))
        };
        self.slots.insert(id, connection);
        self.touch(id);
    }

    /// Passes the SYN of a MP_JOIN to the connection that its token names.
    fn accept_join(&mut self, now: Nanos, tuple: FourTuple, token: u32, syn: &Segment) {
        let Some(id) = self.host.find_token(token) else {
            self.host.unknown_tokens += 1;
            self.host
                .refuse(syn, MptcpOption::Reset(multipath::NO_SUCH_TOKEN));
            return;
        };
        self.with(now, id, |connection, context| {
            if let Connection::Multipath(multipath) = connection {
                multipath.accept_join(context, tuple, syn);
            }
        });
    }

    /// The next packet to leave now; to be called until there is none. It comes in a box, as it is
    /// handed on from queue to queue on its way.
    pub fn transmit(&mut self, now: Nanos) -> Option<Box<Packet>> {
        self.transmit_in(now, &mut VecDeque::new())
    }

    /// The same in a box of a pool of packets that are used no longer, where it has one: that costs
    /// no allocation, and the memory is at hand.
    pub fn transmit_in(
        &mut self,
        now: Nanos,
        packet_pool: &mut VecDeque<Box<Packet>>,
    ) -> Option<Box<Packet>> {
        let now = self.tick(now);
        if let Some(stray) = self.host.take_stray() {
            return Some(stray);
        }
        while let Some(id) = self.slots.first_waiting() {
            if let Some(slot) = self.slots.get_mut(id) {
                let mut context = Context {
                    now,
                    id,
                    host: &mut self.host,
                };
                let packet = slot.connection.transmit(&mut context, packet_pool);
                if packet.is_some() {
                    return packet;
                }
                slot.connection.close_addresses(&mut context);
                if slot.connection.is_gone() {
                    slot.connection
                        .add_counters(&mut self.past, &mut self.past_mptcp);
                    self.deadlines.remove(slot.armed, id);
                    self.slots.remove(id);
                } else if let Some(deadline) = slot.connection.next_deadline()
                    && deadline < slot.armed
                {
                    let deadline = self.host.config.next_tick(deadline).max(now);
                    self.deadlines.replace(slot.armed, deadline, id);
                    slot.armed = deadline;
                }
            }
            self.slots.end_turn();
        }
        None
    }

    /// When [`on_deadline`](HostStack::on_deadline) is to be called at the latest. It may turn out
    /// that nothing is due then.
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.deadlines.next()
    }

    /// Does what is due.
    pub fn on_deadline(&mut self, now: Nanos) {
        let now = self.tick(now);
        while let Some(id) = self.deadlines.pop_due(now) {
            let Some(slot) = self.slots.get_mut(id) else {
                continue;
            };
            slot.armed = Nanos::MAX;
            let mut context = Context {
                now,
                id,
                host: &mut self.host,
            };
            slot.connection.on_deadline(&mut context);
            self.touch(id);
        }
    }

    /// Lets a connection transmit, as something has happened to it. Its deadline is
    /// looked at once it has transmitted, which moves deadlines too.
    pub(super) fn touch(&mut self, id: ConnectionId) {
        self.slots.wait_to_transmit(id);
    }
}
