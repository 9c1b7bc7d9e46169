//! A connection of MPTCP in its host: ports, keys and tables that it needs.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_wire::option::{Join, MptcpOption, Reset};
use mptcplab_wire::{Packet, Segment};

use super::config::SocketOptions;
use super::state::Context;
use crate::Nanos;
use crate::event::{Event, SubflowId};
use crate::info::{ConnectionInfo, SubflowInfo};
use crate::mptcp::{Change, Connection, MptcpCounters, Opening};
use crate::path_manager::{self, Path};
use crate::route::Route;
use crate::scheduler::Scheduler;
use crate::tcp::{FourTuple, TcpCounters};

/// Reason of the RST that answers a join of no known connection: an MPTCP-specific error
/// (RFC 8684, section 3.6).
pub(crate) const NO_SUCH_TOKEN: Reset = Reset {
    transient: false,
    reason: 1,
};

/// Token of the connection that a SYN wants to join.
pub(crate) fn join_token(syn: &Segment) -> Option<u32> {
    syn.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Join(Join::Syn { token, .. }) => Some(*token),
        _ => None,
    })
}

/// Whether a SYN asks for MPTCP.
pub(crate) fn asks_for_it(syn: &Segment) -> bool {
    let capable = |option: &MptcpOption| matches!(option, MptcpOption::Capable(_));
    syn.options.mptcp.iter().any(capable)
}

/// A connection of MPTCP.
#[derive(Clone, Debug)]
pub(crate) struct MultipathConnection {
    connection: Connection,
    /// Listening port of a connection that a peer opened and that is not established.
    half_open: Option<u16>,
    /// The application knows of it.
    told: bool,
    /// The application has let go of it.
    released: bool,
}

impl MultipathConnection {
    /// Opens a connection.
    pub(crate) fn connect(
        context: &mut Context<'_>,
        tuple: FourTuple,
        options: &SocketOptions,
    ) -> Self {
        let opening = opening(context, tuple, options);
        let connection = Connection::connect(context.now, opening, &context.host.addresses);
        Self {
            connection,
            half_open: None,
            told: true,
            released: false,
        }
    }

    /// Answers a SYN to a listening port.
    pub(crate) fn accept(
        context: &mut Context<'_>,
        tuple: FourTuple,
        options: &SocketOptions,
        syn: &Segment,
    ) -> Self {
        let opening = opening(context, tuple, options);
        let connection = Connection::accept(context.now, opening, syn, &context.host.addresses);
        Self {
            connection,
            half_open: Some(tuple.local.port()),
            told: false,
            released: false,
        }
    }

    /// Answers the SYN of a join.
    pub(crate) fn accept_join(
        &mut self,
        context: &mut Context<'_>,
        tuple: FourTuple,
        syn: &Segment,
    ) {
        let initial = context.host.initial_sequence();
        let nonce = context.host.new_nonce();
        let accepted = self
            .connection
            .accept_join(context.now, tuple, syn, initial, nonce);
        match accepted {
            Ok(subflow) => context.host.register(tuple, context.id, subflow),
            Err(reason) => context.host.refuse(syn, reason),
        }
    }

    pub(crate) fn receive(
        &mut self,
        context: &mut Context<'_>,
        subflow: SubflowId,
        segment: &Segment,
    ) {
        if self.connection.receive(context.now, subflow, segment) {
            context.host.answer_with_reset(segment);
        }
        self.carry_out(context);
    }

    /// Takes a router's error about a segment of a subflow.
    pub(crate) fn on_unreachable(
        &mut self,
        context: &mut Context<'_>,
        subflow: SubflowId,
        sequence: u32,
    ) {
        self.connection
            .on_unreachable(context.now, subflow, sequence);
        self.carry_out(context);
    }

    /// A new SYN may take the place of a subflow.
    pub(crate) fn gives_way_to(&self, subflow: SubflowId, segment: &Segment) -> bool {
        self.connection.gives_way_to(subflow, segment)
    }

    /// Forgets that subflow.
    pub(crate) fn give_way(&mut self, context: &mut Context<'_>, subflow: SubflowId) {
        self.connection.give_way(subflow);
        self.carry_out(context);
    }

    pub(crate) fn transmit(
        &mut self,
        context: &mut Context<'_>,
        packet_pool: &mut VecDeque<Box<Packet>>,
    ) -> Option<Box<Packet>> {
        let hop_limit = context.host.config.hop_limit;
        self.connection
            .transmit(context.now, hop_limit, packet_pool)
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.connection.next_deadline()
    }

    pub(crate) fn on_deadline(&mut self, context: &mut Context<'_>) {
        let busy_until = context.host.busy_until;
        if busy_until > context.now && self.connection.may_worker_wait(context.now) {
            let takes_ns = context.host.worker_time(self.connection.worker_times_ns());
            self.connection.postpone_worker(busy_until + takes_ns);
        }
        self.connection.on_deadline(context.now);
        self.carry_out(context);
    }

    pub(crate) fn write(&mut self, context: &mut Context<'_>, data: Bytes) -> usize {
        let taken = self.connection.write(data);
        self.carry_out(context);
        taken
    }

    pub(crate) fn read(&mut self, context: &mut Context<'_>, max_bytes: usize) -> Option<Bytes> {
        self.connection.read(context.now, max_bytes)
    }

    pub(crate) fn shutdown(&mut self, context: &mut Context<'_>) {
        self.connection.shutdown();
        self.carry_out(context);
    }

    pub(crate) fn abort(&mut self, context: &mut Context<'_>) {
        self.connection.abort();
        self.carry_out(context);
    }

    pub(crate) fn release(&mut self, context: &mut Context<'_>) {
        self.released = true;
        self.connection.release(context.now);
        self.carry_out(context);
    }

    pub(crate) fn set_addresses(&mut self, context: &mut Context<'_>) {
        self.connection
            .set_addresses(context.now, &context.host.addresses);
        self.carry_out(context);
    }

    pub(crate) fn set_routes(&mut self, routes: Arc<[Route]>) {
        self.connection.set_routes(routes);
    }

    pub(crate) fn open_subflow(
        &mut self,
        context: &mut Context<'_>,
        local: IpAddr,
        remote: SocketAddr,
        backup: bool,
    ) -> bool {
        let is_one_family = local.is_ipv4() == remote.is_ipv4() && self.connection.takes(local);
        let reachable = context.host.has_address(local) && is_one_family;
        let possible = reachable && self.connection.open_subflow(local, remote, backup);
        self.carry_out(context);
        possible
    }

    pub(crate) fn close_subflow(&mut self, context: &mut Context<'_>, subflow: SubflowId) -> bool {
        let closed = self.connection.close_subflow(context.now, subflow);
        self.carry_out(context);
        closed
    }

    pub(crate) fn set_backup(&mut self, subflow: SubflowId, backup: bool) -> bool {
        self.connection.set_backup(subflow, backup)
    }

    pub(crate) fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.connection.set_scheduler(scheduler);
    }

    /// Does what the connection asks for, and tells the application what it says.
    fn carry_out(&mut self, context: &mut Context<'_>) {
        while let Some(change) = self.connection.poll() {
            match change {
                Change::Event(event) => self.tell(context, event),
                Change::Join(join) => self.join(context, join),
                Change::Gone(tuple) => context.host.unregister(&tuple, context.id),
                Change::Worker => {
                    let takes_ns = context.host.worker_time(self.connection.worker_times_ns());
                    let now = context.now;
                    self.connection.call_worker(now, now + takes_ns);
                }
            }
        }
    }

    fn tell(&mut self, context: &mut Context<'_>, event: Event) {
        let ends_handshake = matches!(event, Event::Accepted { .. } | Event::Closed { .. });
        if ends_handshake && let Some(port) = self.half_open.take() {
            context.host.leave_half_open(port);
            self.told = matches!(event, Event::Accepted { .. });
            // A handshake that failed was never told.
            self.released = !self.told;
        }
        if self.told && !self.released {
            context.tell(event);
        }
    }

    fn join(&mut self, context: &mut Context<'_>, join: path_manager::Join) {
        let Path { local, remote } = join.path;
        let free = context.host.free_port(local, remote);
        let tuple = FourTuple {
            local: SocketAddr::new(local, free.unwrap_or(0)),
            remote,
        };
        if free.is_none() {
            self.connection.cannot_join(context.now, &tuple);
            return;
        }
        let initial = context.host.initial_sequence();
        let nonce = context.host.new_nonce();
        let subflow = self
            .connection
            .join(context.now, join, tuple, initial, nonce);
        context.host.register(tuple, context.id, subflow);
    }

    /// Frees its token once it has ended.
    pub(crate) fn close_addresses(&mut self, context: &mut Context<'_>) {
        self.carry_out(context);
        if self.connection.close_reason().is_some() {
            context
                .host
                .forget_token(self.connection.token(), context.id);
        }
    }

    /// Whether it can be forgotten: it is closed and released.
    pub(crate) fn is_gone(&self) -> bool {
        self.released && self.connection.is_over()
    }

    pub(crate) fn info(&self) -> ConnectionInfo {
        self.connection.info()
    }

    pub(crate) fn subflows(&self) -> Vec<SubflowInfo> {
        self.connection.subflows().collect()
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    pub(crate) fn inner(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn add_counters(&self, tcp: &mut TcpCounters<u64>, mptcp: &mut MptcpCounters<u64>) {
        self.connection.add_tcp_counters(tcp);
        mptcp.add(self.connection.counters());
    }
}

/// Parts of a new connection that come from its host.
fn opening(context: &mut Context<'_>, tuple: FourTuple, options: &SocketOptions) -> Opening {
    context.host.register(tuple, context.id, SubflowId(0));
    Opening {
        id: context.id,
        config: context.host.config.mptcp.clone(),
        tcp: context.host.tcp_config(options, tuple.local.ip()),
        tuple,
        dual_stack: options.dual_stack,
        routes: context.host.routes.clone(),
        key: context.host.new_key(context.id),
        initial: context.host.initial_sequence(),
    }
}
