//! One MPTCP connection.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_wire::Segment;
use mptcplab_wire::keys::Key;

use super::ack_length::dss_bytes;
use super::addresses::Addresses;
use super::config::MptcpConfig;
use super::counters::MptcpCounters;
use super::data_receiver::DataReceiver;
use super::data_sender::DataSender;
use super::fallback::Fallback;
use super::handshake::Handshake;
use super::lifetime::Lifetime;
use super::scheduling::Scheduling;
use super::send_buffer::SendBuffer;
use super::subflow::Stage;
use super::subflows::Subflows;
use crate::Nanos;
use crate::address::LocalAddress;
use crate::congestion::PathView;
use crate::event::{ConnectionId, Event};
use crate::path_manager::{Join, Path};
use crate::route::Route;
use crate::scheduler::Scheduler;
use crate::tcp::{CloseReason, FourTuple, PayloadShare, Tcp, TcpConfig};

/// An MPTCP connection, or what is left of one after a fallback.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) config: MptcpConfig,
    pub(super) tcp: Arc<TcpConfig>,
    pub(super) initiated_here: bool,
    /// Addresses of the first subflow.
    pub(super) tuple: FourTuple,
    pub(super) handshake: Handshake,
    pub(super) fallback: Fallback,
    pub(super) lifetime: Lifetime,
    pub(super) subflows: Subflows,
    pub(super) sender: DataSender,
    pub(super) send_buffer: SendBuffer,
    pub(super) receiver: DataReceiver,
    /// Data acknowledgements have 8 bytes.
    pub(super) long_acks: bool,
    pub(super) scheduling: Scheduling,
    pub(super) addresses: Addresses,
    /// Paths as a coupled congestion control sees them; kept to be used again.
    pub(super) paths: Vec<PathView>,
    pub(super) changes: VecDeque<Change>,
    pub(super) counters: MptcpCounters,
}

/// Something for the host to know or to do.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// To be told to the application.
    Event(Event),
    /// A subflow is to be opened: the host calls [`Connection::join`] with a port.
    Join(Join),
    /// A subflow's addresses are free again.
    Gone(FourTuple),
    /// The path managers are to be asked by a worker: the host calls [`Connection::call_worker`].
    Worker,
}

/// Parts of a new connection.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    /// Its id.
    pub id: ConnectionId,
    /// Settings of the host.
    pub config: MptcpConfig,
    /// Settings of its subflows.
    pub tcp: Arc<TcpConfig>,
    /// Addresses of the first subflow.
    pub tuple: FourTuple,
    /// Its subflows may be of both families.
    pub dual_stack: bool,
    /// Key of this end.
    pub key: Key,
    /// Initial sequence number of the first subflow.
    pub initial: u32,
    /// Routes of the host.
    pub routes: Arc<[Route]>,
}

impl Connection {
    /// Opens a connection.
    pub(crate) fn connect(now: Nanos, opening: Opening, locals: &[LocalAddress]) -> Self {
        let tcp = Tcp::connect(
            now,
            &opening.tcp,
            dss_bytes(false),
            opening.tuple,
            opening.initial,
        );
        let mut connection = Self::new(opening, tcp, true, locals);
        connection.counters.capable_syn_sent += 1;
        connection
    }

    /// Answers a SYN. Where it has no MP_CAPABLE that can be taken, TCP is spoken.
    pub(crate) fn accept(
        now: Nanos,
        opening: Opening,
        syn: &Segment,
        locals: &[LocalAddress],
    ) -> Self {
        let tcp = Tcp::accept(
            now,
            &opening.tcp,
            dss_bytes(false),
            opening.tuple,
            opening.initial,
            syn,
        );
        let mut connection = Self::new(opening, tcp, false, locals);
        connection.take_capable_syn(syn);
        connection
    }

    fn new(opening: Opening, tcp: Tcp, initiated_here: bool, locals: &[LocalAddress]) -> Self {
        let Opening { tuple, key, .. } = opening;
        let receive_buffer = opening.tcp.receive_buffer;
        Self {
            id: opening.id,
            initiated_here,
            tuple,
            handshake: Handshake::new(key, opening.config.checksum),
            fallback: Fallback::default(),
            lifetime: Lifetime::default(),
            subflows: Subflows::new(tcp, initiated_here),
            sender: DataSender::new(key.initial_data_sequence()),
            send_buffer: SendBuffer::new(opening.tcp.send_buffer.initial_bytes),
            receiver: DataReceiver::new(0, receive_buffer, opening.tcp.mss),
            long_acks: false,
            scheduling: Scheduling::new(opening.config.scheduler.create()),
            addresses: Addresses::new(tuple, opening.dual_stack, locals, opening.routes),
            paths: Vec::new(),
            changes: VecDeque::new(),
            counters: MptcpCounters::default(),
            config: opening.config,
            tcp: opening.tcp,
        }
    }

    /// Token by which a peer's MP_JOIN names this connection.
    pub(crate) fn token(&self) -> u32 {
        self.handshake.local_key().token()
    }

    /// Uses another scheduler.
    pub(crate) fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduling.set_scheduler(scheduler);
    }

    /// The next thing for the host to know or to do.
    pub(crate) fn poll(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Whether nothing is left to do: the connection can be forgotten, once it is released.
    pub(crate) fn is_over(&self) -> bool {
        self.lifetime.has_ended() && self.subflows.is_empty()
    }

    pub(super) fn event(&mut self, event: Event) {
        self.changes.push_back(Change::Event(event));
    }

    /// When [`Connection::on_deadline`] is to be called.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let mut earliest = Nanos::MAX;
        let mut consider = |deadline: Option<Nanos>| {
            if let Some(deadline) = deadline {
                earliest = earliest.min(deadline);
            }
        };
        for subflow in self.subflows.iter() {
            consider(subflow.tcp.next_deadline());
            consider(subflow.join.deadline());
        }
        consider(self.sender.timer.deadline());
        consider(self.lifetime.deadline());
        consider(self.addresses.deadline());
        consider(self.fallback.deadline());
        (earliest < Nanos::MAX).then_some(earliest)
    }

    /// Does what is due.
    pub(crate) fn on_deadline(&mut self, now: Nanos) {
        for index in 0..self.subflows.len() {
            if self.subflows[index].tcp.is_due(now) {
                self.look_at_paths(index);
                let subflow = &mut self.subflows[index];
                subflow.pending = true;
                let progress = subflow.tcp.on_deadline(now, &self.paths);
                self.follow(now, index, &progress, None);
            }
            if self.subflows[index]
                .join
                .deadline()
                .is_some_and(|deadline| deadline <= now)
            {
                self.repeat_join(now, index);
            }
        }
        if self
            .sender
            .timer
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.on_data_timeout(now);
        }
        if self
            .addresses
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.on_address_timeout(now);
        }
        if self.lifetime.take_due(now) {
            self.close(CloseReason::TimedOut);
        }
        if self
            .fallback
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.on_fail_timeout(now);
        }
        self.follow_wish_for_paths(now);
    }

    /// Fills `paths` for a coupled congestion control of a subflow.
    pub(super) fn look_at_paths(&mut self, index: usize) {
        self.paths.clear();
        if !self.subflows[index].tcp.is_coupled() {
            return;
        }
        for (place, subflow) in self.subflows.iter().enumerate() {
            if subflow.stage == Stage::Established && !subflow.is_over() {
                self.paths.push(PathView {
                    is_self: place == index,
                    ..subflow.tcp.path_view()
                });
            }
        }
    }

    /// Takes data of the application; gives how many bytes.
    pub(crate) fn write(&mut self, data: Bytes) -> usize {
        if self.sender.is_shut() || self.lifetime.has_ended() {
            return 0;
        }
        let offered = data.len();
        let taken = self.sender.write(data, self.send_buffer.bytes());
        self.set_awaited(taken < offered);
        self.scheduling.request();
        taken
    }

    /// Data for the application, at most `max_bytes`.
    pub(crate) fn read(&mut self, now: Nanos, max_bytes: usize) -> Option<Bytes> {
        let data = match self.receiver.read(max_bytes) {
            Some(data) => {
                self.tune(now, data.len() as u64);
                Some(data)
            }
            None if self.handshake.is_fallback() => self.read_plain(now, max_bytes),
            None => None,
        };
        if data.is_none() {
            self.receiver.found_nothing();
            return None;
        }
        if self.handshake.is_multipath() {
            self.follow_read();
        }
        data
    }

    /// Lets acknowledgements go out after a read: where the peer should know of room, and where it
    /// may wait for one that was held back, as the application has read all.
    ///
    /// Source: `mptcp_cleanup_rbuf` in Linux 6.18, net/mptcp/protocol.c.
    fn follow_read(&mut self) {
        let free = self.receiver.much_room_bytes();
        let all_read = self.receiver.is_empty();
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_open()) {
            if let Some(free) = free {
                subflow.update_window(free);
            }
            if all_read {
                subflow.tcp.acknowledge_read();
                subflow.pending = true;
            }
        }
    }

    /// Tunes the buffer after a read. Those of the subflows grow with that of the connection, and
    /// only then: one that joins when this has its full size keeps the buffer that it began with.
    fn tune(&mut self, now: Nanos, bytes: u64) {
        let known = || self.subflows.iter().filter(|subflow| subflow.is_known());
        let tcps = || known().map(|subflow| &subflow.tcp);
        let rtt_ns = tcps().map(Tcp::receive_rtt_ns).max().unwrap_or(0);
        let share = || {
            let least = tcps().map(Tcp::payload_share).min();
            least.unwrap_or(PayloadShare::UNKNOWN)
        };
        if let Some(read_bytes) = self.receiver.on_read(now, bytes, rtt_ns, share) {
            for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_open()) {
                subflow.tcp.follow_receive_buffer(read_bytes);
            }
        }
    }

    /// Follows a change of the host's addresses.
    pub(crate) fn set_addresses(&mut self, now: Nanos, locals: &[LocalAddress]) {
        let gone = self.addresses.set_locals(locals);
        self.withdraw(now, &gone);
        self.follow_backup_flags();
        self.manage_paths(now);
    }

    /// Sets the routes of the host.
    pub(crate) fn set_routes(&mut self, routes: Arc<[Route]>) {
        self.addresses.set_routes(routes);
    }

    /// Opens a subflow by the wish of the application. False where the connection cannot have one.
    pub(crate) fn open_subflow(&mut self, local: IpAddr, remote: SocketAddr, backup: bool) -> bool {
        let possible = self.handshake.is_multipath() && !self.is_closing();
        if possible {
            let path = Path { local, remote };
            let join = Join { path, backup };
            let admitted = self.handshake.admit(join);
            self.changes.extend(admitted.map(Change::Join));
        }
        possible
    }
}
