//! The transport layer of one host: sockets above, packets below.

mod config;
mod connection;
mod deadlines;
mod detail;
mod multipath;
mod network;
mod plain;
mod random;
mod reset;
mod slots;
mod state;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use bytes::Bytes;

use crate::Nanos;
use crate::address::LocalAddress;
use crate::event::{ConnectionId, Event, SubflowId};
use crate::info::{ConnectionInfo, SubflowInfo};
use crate::mptcp::MptcpCounters;
use crate::protocol::Protocol;
use crate::route::Route;
use crate::scheduler::{Scheduler, SchedulerKind};
use crate::tcp::{CloseReason, FourTuple, TcpCounters};

pub use config::{HostConfig, SocketOptions};

use connection::Connection;
use deadlines::Deadlines;
use multipath::MultipathConnection;
use plain::PlainConnection;
use slots::Slots;
use state::{Context, HostState, Listener};

/// The transport layer of one host.
///
/// It takes packets for the host's addresses, the calls of its applications, and the time; it
/// gives packets, [events](Event) and the next deadline. After any call,
/// [`transmit`](Self::transmit) is to be called until it gives nothing more.
#[derive(Clone, Debug)]
pub struct HostStack {
    host: HostState,
    slots: Slots,
    deadlines: Deadlines,
    /// Counters of connections that are gone.
    past: TcpCounters<u64>,
    past_mptcp: MptcpCounters<u64>,
    active_opens: u64,
    passive_opens: u64,
    /// Packets that were no TCP segments for one of the addresses.
    dropped: u64,
    refused_syns: u64,
}

impl HostStack {
    /// A host without addresses. The seed decides sequence numbers, ports, keys and nonces.
    pub fn new(config: HostConfig, seed: u64) -> Self {
        Self {
            host: HostState::new(config, seed),
            slots: Slots::default(),
            deadlines: Deadlines::default(),
            past: TcpCounters::default(),
            past_mptcp: MptcpCounters::default(),
            active_opens: 0,
            passive_opens: 0,
            dropped: 0,
            refused_syns: 0,
        }
    }

    /// Sets the addresses of the host, all of them.
    pub fn set_addresses(&mut self, now: Nanos, addresses: &[LocalAddress]) {
        self.host.addresses = addresses.to_vec();
        let ids: Vec<_> = self.connections().collect();
        for id in ids {
            self.with(now, id, |connection, context| {
                connection.set_addresses(context);
            });
        }
    }

    /// Sets the host's routes, all of them: they choose the address from which a subflow is opened
    /// to an address that a peer announces. Where none leads there it is that of the first subflow.
    /// An endpoint opens subflows to what its routes reach; with no routes at all, to everything.
    pub fn set_routes(&mut self, routes: &[Route]) {
        self.host.routes = routes.into();
        let ids: Vec<_> = self.connections().collect();
        for id in ids {
            if let Some(slot) = self.slots.get_mut(id)
                && let Connection::Multipath(multipath) = &mut slot.connection
            {
                multipath.set_routes(self.host.routes.clone());
            }
        }
    }

    /// Takes connections to a port, on every address.
    pub fn listen(&mut self, port: u16, options: SocketOptions) {
        let listener = Listener {
            options,
            half_open: 0,
        };
        self.host.listeners.insert(port, listener);
    }

    /// Opens a connection from an address of the host, from a port that is free. Where none is,
    /// [`Event::Closed`] tells.
    pub fn connect(
        &mut self,
        now: Nanos,
        local: IpAddr,
        remote: SocketAddr,
        options: SocketOptions,
    ) -> ConnectionId {
        let now = self.tick(now);
        let id = self.slots.next_id();
        let Some(port) = self.host.free_port(local, remote) else {
            let reason = CloseReason::NoPort;
            self.host.events.push_back(Event::Closed { id, reason });
            return id;
        };
        self.active_opens += 1;
        let tuple = FourTuple {
            local: SocketAddr::new(local, port),
            remote,
        };
        let mut context = Context {
            now,
            id,
            host: &mut self.host,
        };
        let multipath = options.protocol == Protocol::Mptcp && context.host.config.mptcp.enabled;
        let connection = if multipath {
            let connection = MultipathConnection::connect(&mut context, tuple, &options);
            Connection::Multipath(Box::new(connection))
        } else {
            let plain = PlainConnection::connect(&mut context, tuple, &options);
            Connection::Plain(Box::new(plain))
        };
        self.slots.insert(id, connection);
        self.touch(id);
        id
    }

    /// Writes to a connection. Gives how many bytes were taken; where not all,
    /// [`Event::Writable`] tells when there is room again.
    pub fn write(&mut self, now: Nanos, id: ConnectionId, data: Bytes) -> usize {
        self.with(now, id, |connection, context| {
            connection.write(context, data)
        })
        .unwrap_or(0)
    }

    /// Reads up to `max_bytes` from a connection; none where nothing stands ready.
    pub fn read(&mut self, now: Nanos, id: ConnectionId, max_bytes: usize) -> Option<Bytes> {
        self.with(now, id, |connection, context| {
            connection.read(context, max_bytes)
        })
        .flatten()
    }

    /// Writes no more: what was written is still sent, and then the end of the data.
    pub fn shutdown(&mut self, now: Nanos, id: ConnectionId) {
        self.with(now, id, |connection, context| connection.shutdown(context));
    }

    /// Notes that packets or programs want the host's processor until then. Workers that ask path
    /// managers wait for it, as those of Linux do for softirqs and programs on their processor,
    /// though no longer than [`MAX_SOFTIRQ_NS`](crate::MAX_SOFTIRQ_NS).
    pub fn keep_busy(&mut self, until: Nanos) {
        self.host.busy_until = self.host.busy_until.max(until);
    }

    /// Ends a connection at once and tells the peer.
    pub fn abort(&mut self, now: Nanos, id: ConnectionId) {
        self.with(now, id, |connection, context| connection.abort(context));
    }

    /// Forgets a connection: no events follow. What was written is still sent; a connection that
    /// is open is closed in order, or aborted where there is data that was not read.
    pub fn release(&mut self, now: Nanos, id: ConnectionId) {
        self.with(now, id, |connection, context| connection.release(context));
    }

    /// Opens another subflow of an MPTCP connection. False where it cannot have one now.
    pub fn open_subflow(
        &mut self,
        now: Nanos,
        id: ConnectionId,
        local: IpAddr,
        remote: SocketAddr,
        backup: bool,
    ) -> bool {
        self.with(now, id, |connection, context| match connection {
            Connection::Multipath(multipath) => {
                multipath.open_subflow(context, local, remote, backup)
            }
            Connection::Plain(_) => false,
        })
        .unwrap_or(false)
    }

    /// Closes a subflow of an MPTCP connection, which goes on. False where there is none.
    pub fn close_subflow(&mut self, now: Nanos, id: ConnectionId, subflow: SubflowId) -> bool {
        self.with(now, id, |connection, context| match connection {
            Connection::Multipath(multipath) => multipath.close_subflow(context, subflow),
            Connection::Plain(_) => false,
        })
        .unwrap_or(false)
    }

    /// Uses a subflow as a backup, or no longer, and asks the peer to do the same. False where
    /// there is none.
    pub fn set_backup(
        &mut self,
        now: Nanos,
        id: ConnectionId,
        subflow: SubflowId,
        backup: bool,
    ) -> bool {
        self.with(now, id, |connection, _| match connection {
            Connection::Multipath(multipath) => multipath.set_backup(subflow, backup),
            Connection::Plain(_) => false,
        })
        .unwrap_or(false)
    }

    /// Uses another scheduler for all MPTCP connections, those to come included.
    pub fn use_scheduler(&mut self, kind: SchedulerKind) {
        self.host.config.mptcp.scheduler = kind;
        let ids: Vec<_> = self.connections().collect();
        for id in ids {
            self.set_scheduler(id, kind.create());
        }
    }

    /// Uses another scheduler for an MPTCP connection.
    pub fn set_scheduler(&mut self, id: ConnectionId, scheduler: Box<dyn Scheduler>) {
        if let Some(slot) = self.slots.get_mut(id)
            && let Connection::Multipath(multipath) = &mut slot.connection
        {
            multipath.set_scheduler(scheduler);
        }
    }

    /// The next thing that the applications should know.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.host.events.pop_front()
    }

    /// State of a connection; none once it is gone and released.
    pub fn info(&self, id: ConnectionId) -> Option<ConnectionInfo> {
        Some(self.slots.get(id)?.connection.info())
    }

    /// State of a connection's subflows.
    pub fn subflows(&self, id: ConnectionId) -> Vec<SubflowInfo> {
        self.slots
            .get(id)
            .map(|slot| slot.connection.subflows())
            .unwrap_or_default()
    }

    /// All connections, TIME-WAIT included, in a fixed order.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.slots.iter().map(|slot| slot.id)
    }

    /// Whether nothing is left of any connection.
    pub fn is_idle(&self) -> bool {
        self.slots.iter().next().is_none()
            && self.host.registered() == 0
            && self.deadlines.len() == 0
    }

    /// Counters of the host by the kernel's names, in a fixed order.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut tcp = self.past;
        let mut mptcp = self.past_mptcp;
        for slot in self.slots.iter() {
            slot.connection.add_counters(&mut tcp, &mut mptcp);
        }
        mptcp.join_no_token += self.host.unknown_tokens;
        tcp.resets_out += self.host.resets_sent;
        tcp.segments_out += self.host.resets_sent;
        let mut counters: Vec<_> = tcp.iter().chain(mptcp.iter()).collect();
        counters.extend([
            ("TcpActiveOpens", self.active_opens),
            ("TcpPassiveOpens", self.passive_opens),
            ("TcpInErrs", self.dropped),
            ("TcpExtTCPReqQFullDrop", self.refused_syns),
        ]);
        counters
    }

    /// The time as this host's clock shows it.
    fn tick(&self, now: Nanos) -> Nanos {
        self.host.config.last_tick(now)
    }

    /// Calls a connection on behalf of its application.
    fn with<T>(
        &mut self,
        now: Nanos,
        id: ConnectionId,
        call: impl FnOnce(&mut Connection, &mut Context<'_>) -> T,
    ) -> Option<T> {
        let now = self.tick(now);
        let slot = self.slots.get_mut(id)?;
        let mut context = Context {
            now,
            id,
            host: &mut self.host,
        };
        let result = call(&mut slot.connection, &mut context);
        self.touch(id);
        Some(result)
    }
}
