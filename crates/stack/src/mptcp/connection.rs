//! One MPTCP connection.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::Dss;
use mptcplab_wire::{Packet, Segment};

use super::addresses::Addresses;
use super::config::MptcpConfig;
use super::counters::MptcpCounters;
use super::fallback::Failure;
use super::outgoing::{Outgoing, Spoken};
use super::receiver::Receiver;
use super::sender::Sender;
use super::signals;
use super::subflow::{Stage, Subflow};
use crate::Nanos;
use crate::congestion::PathView;
use crate::endpoint::{ConnectionId, Event, LocalAddress, Route, SubflowId};
use crate::path_manager::Join;
use crate::scheduler::{Scheduler, SubflowView};
use crate::tcp::{CloseReason, Draft, FourTuple, PayloadShare, Tcp, TcpConfig, TcpCounters};

/// Bytes that the options of a data segment take: a DSS with acknowledgement, mapping and
/// checksum, all of 8 bytes; in whole words.
const DSS_BYTES: u32 = 28;

/// An MPTCP connection, or what is left of one after a fallback.
#[derive(Debug)]
pub struct Connection {
    pub(super) id: ConnectionId,
    pub(super) config: MptcpConfig,
    pub(super) tcp: TcpConfig,
    pub(super) initiated_here: bool,
    pub(super) local_key: Key,
    pub(super) remote_key: Option<Key>,
    pub(super) mode: Mode,
    /// The peer has shown that it has the keys: joins and announcements may follow.
    pub(super) confirmed: bool,
    /// Subflows that the application has ordered before that.
    pub(super) ordered: Vec<Join>,
    /// Checksums are used.
    pub(super) checksum: bool,
    /// The bytes of the first subflow are the data, in order: no end could use another subflow,
    /// and nothing was sent twice. Then the connection can become plain TCP.
    pub(super) linear: bool,
    pub(super) tuple: FourTuple,
    pub(super) subflows: Vec<Subflow>,
    pub(super) next_subflow: u32,
    /// Index of the subflow that data came on last.
    pub(super) last_receiver: usize,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) addresses: Addresses,
    pub(super) scheduler: Box<dyn Scheduler>,
    /// Something has changed that a scheduler may act on.
    pub(super) reschedule: bool,
    /// Kept to be used again at each call of the scheduler.
    pub(super) views: Vec<SubflowView>,
    pub(super) paths: Vec<PathView>,
    pub(super) changes: VecDeque<Change>,
    pub(super) counters: MptcpCounters,
    pub(super) closed: Option<CloseReason>,
    /// The application has let go.
    pub(super) released: bool,
    /// When a connection without a subflow is given up.
    pub(super) given_up_at: Option<Nanos>,
    /// The application was refused room, and waits for it.
    pub(super) wants_room: bool,
    /// What the application may have written ahead of the acknowledgements.
    pub(super) send_buffer_bytes: u64,
    /// The application was told of data and has not read all.
    pub(super) told_readable: bool,
    /// A checksum failed on the only subflow: what it brings waits for the infinite mapping.
    pub(super) failed: Option<Failure>,
    /// The infinite mapping that answered the peer's MP_FAIL.
    pub(super) infinite: Option<Dss>,
    /// Data segments that are still to carry it.
    pub(super) infinite_left: u8,
    /// MP_FAILs that were answered after the fallback.
    pub(super) late_answers: u8,
    /// The path managers are to be asked.
    pub(super) want_paths: bool,
    /// What subflows that are gone have counted.
    pub(super) tcp_counters: TcpCounters,
    /// Bytes that the application read after a fallback.
    pub(super) plain_read: u64,
}

/// What the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The first subflow is being opened.
    Opening,
    /// MPTCP is spoken.
    Multipath,
    /// TCP is spoken.
    Fallback,
}

/// Something for the endpoint to know or to do.
#[derive(Debug)]
pub enum Change {
    /// To be told to the application.
    Event(Event),
    /// A subflow is to be opened: the endpoint calls [`Connection::join`] with a port.
    Join(Join),
    /// A subflow's addresses are free again.
    Gone(FourTuple),
}

/// What a new connection is made of.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Its id.
    pub id: ConnectionId,
    /// Settings of the host.
    pub config: MptcpConfig,
    /// Settings of its subflows.
    pub tcp: TcpConfig,
    /// Addresses of the first subflow.
    pub tuple: FourTuple,
    /// Key of this end.
    pub key: Key,
    /// Initial sequence number of the first subflow.
    pub initial: u32,
    /// Routes of the host.
    pub routes: Vec<Route>,
}

impl Connection {
    /// Opens a connection.
    pub fn connect(now: Nanos, opening: Opening, locals: &[LocalAddress]) -> Self {
        let tcp = Tcp::connect(
            now,
            &subflow_config(&opening.tcp),
            opening.tuple,
            opening.initial,
        );
        let mut connection = Self::new(opening, Subflow::new(0, tcp, true), locals);
        connection.counters.capable_syn_sent += 1;
        connection
    }

    /// Answers a SYN. Where it has no MP_CAPABLE that can be taken, TCP is spoken.
    pub fn accept(now: Nanos, opening: Opening, syn: &Segment, locals: &[LocalAddress]) -> Self {
        let tcp = Tcp::accept(
            now,
            &subflow_config(&opening.tcp),
            opening.tuple,
            opening.initial,
            syn,
        );
        let mut connection = Self::new(opening, Subflow::new(0, tcp, false), locals);
        connection.take_capable_syn(syn);
        connection
    }

    fn new(opening: Opening, first: Subflow, locals: &[LocalAddress]) -> Self {
        let tuple = opening.tuple;
        let send_buffer_bytes =
            Self::first_send_buffer_bytes(opening.tcp.send_buffer.initial_bytes);
        Self {
            id: opening.id,
            initiated_here: first.initiated_here,
            local_key: opening.key,
            remote_key: None,
            mode: Mode::Opening,
            confirmed: false,
            ordered: Vec::new(),
            checksum: opening.config.checksum,
            linear: true,
            tuple,
            subflows: Vec::from([first]),
            next_subflow: 1,
            last_receiver: 0,
            sender: Sender::new(opening.key.initial_data_sequence()),
            receiver: Receiver::new(0, opening.tcp.receive_buffer, opening.tcp.mss),
            addresses: Addresses::new(tuple, locals, opening.routes),
            scheduler: opening.config.scheduler.create(),
            reschedule: true,
            views: Vec::new(),
            paths: Vec::new(),
            changes: VecDeque::new(),
            counters: MptcpCounters::default(),
            closed: None,
            released: false,
            given_up_at: None,
            wants_room: false,
            send_buffer_bytes,
            told_readable: false,
            failed: None,
            infinite: None,
            infinite_left: 0,
            late_answers: 0,
            want_paths: false,
            tcp_counters: TcpCounters::default(),
            plain_read: 0,
            config: opening.config,
            tcp: opening.tcp,
        }
    }

    /// Token by which a peer's MP_JOIN names this connection.
    pub fn token(&self) -> u32 {
        self.local_key.token()
    }

    /// Uses another scheduler.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = scheduler;
    }

    /// What the endpoint is to know or to do.
    pub fn poll(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// Nothing is left to do: the connection can be forgotten, once the application has let go.
    pub fn is_over(&self) -> bool {
        self.closed.is_some() && self.subflows.is_empty()
    }

    pub(super) fn event(&mut self, event: Event) {
        self.changes.push_back(Change::Event(event));
    }

    pub(super) fn index_of(&self, id: u32) -> Option<usize> {
        self.subflows.iter().position(|subflow| subflow.id == id)
    }

    /// The next segment to send, as a packet, which may be written in a box that is `gone`.
    pub fn transmit(
        &mut self,
        now: Nanos,
        hop_limit: u8,
        gone: &mut VecDeque<Box<Packet>>,
    ) -> Option<Box<Packet>> {
        let (index, draft) = self.draft(now)?;
        Some(self.write_packet(now, index, draft, hop_limit, gone.pop_back()))
    }

    /// What is to be sent next, and the index of its subflow.
    fn draft(&mut self, now: Nanos) -> Option<(usize, Draft)> {
        loop {
            for index in 0..self.subflows.len() {
                if !self.subflows[index].pending {
                    continue;
                }
                let subflow = &mut self.subflows[index];
                if let Some(draft) = subflow.tcp.draft(now) {
                    return Some((index, draft));
                }
                subflow.pending = false;
            }
            if !core::mem::take(&mut self.reschedule) || !self.schedule(now) {
                break;
            }
        }
        if self.subflows.iter().any(Subflow::is_gone) {
            self.forget_gone();
        }
        None
    }

    /// The packet of what a subflow is to send.
    fn write_packet(
        &mut self,
        now: Nanos,
        index: usize,
        draft: Draft,
        hop_limit: u8,
        gone: Option<Box<Packet>>,
    ) -> Box<Packet> {
        let subflow = &mut self.subflows[index];
        let spoken = match self.mode {
            Mode::Fallback => Spoken::Tcp,
            Mode::Multipath if self.confirmed => Spoken::Multipath,
            _ => Spoken::Unconfirmed,
        };
        // What waits for the infinite mapping takes room that the data level does not count.
        let held_bytes = if self.failed.is_some() {
            subflow.mappings.pending_bytes() as u64
        } else {
            0
        };
        let waiting = subflow.signals.len();
        let mut outgoing = Outgoing {
            local_key: self.local_key,
            remote_key: self.remote_key,
            spoken,
            checksum: self.checksum,
            deny_join_initial_address: self.config.deny_join_initial_address,
            short_numbers: self.config.short_numbers,
            acknowledgement: self.receiver.acknowledgement(),
            window: self.receiver.window(held_bytes),
            fin: self.sender.fin_to_signal(),
            first: subflow.id == 0,
            initiated_here: subflow.initiated_here,
            stage: subflow.stage,
            local_id: subflow.local_id,
            backup: subflow.backup,
            nonce: subflow.nonce,
            peer_nonce: subflow.peer_nonce,
            signals: &mut subflow.signals,
            syns: &mut subflow.syns,
            capable_syns: self.config.syns_before_fallback,
            infinite: self.infinite,
            infinite_left: &mut self.infinite_left,
            join_ack_sent: &mut subflow.join_ack_sent,
            advertised: false,
            reset_left: false,
        };
        let segment = subflow.tcp.write(now, draft, &mut outgoing);
        let Outgoing {
            advertised,
            reset_left,
            ..
        } = outgoing;
        if advertised {
            let window_bytes = subflow.tcp.advertised_window_bytes();
            self.receiver.advertised(window_bytes);
        }
        // What had no room, beside data or another option, goes with an acknowledgement. What an
        // acknowledgement of its own could not carry waits.
        let left = subflow.signals.len();
        if left > 0 && (left < waiting || !segment.payload.is_empty()) {
            subflow.tcp.request_ack();
        }
        if reset_left {
            self.count_reset(&segment);
        }
        segment.into_boxed_packet(hop_limit, gone)
    }

    /// When [`Connection::on_deadline`] is to be called.
    pub fn next_deadline(&self) -> Option<Nanos> {
        let mut earliest = Nanos::MAX;
        let mut consider = |deadline: Option<Nanos>| {
            if let Some(deadline) = deadline {
                earliest = earliest.min(deadline);
            }
        };
        for subflow in &self.subflows {
            consider(subflow.tcp.next_deadline());
            consider(subflow.join_timer.map(|(at, _)| at));
        }
        consider(self.sender.deadline());
        consider(self.given_up_at);
        consider(self.addresses.deadline());
        consider(self.failed.map(|failure| failure.repeat_at));
        (earliest < Nanos::MAX).then_some(earliest)
    }

    /// Does what is due.
    pub fn on_deadline(&mut self, now: Nanos) {
        for index in 0..self.subflows.len() {
            if self.subflows[index].tcp.is_due(now) {
                self.look_at_paths(index);
                let subflow = &mut self.subflows[index];
                subflow.pending = true;
                let progress = subflow.tcp.on_deadline(now, &self.paths);
                self.follow(now, index, &progress, None);
            }
            if self.subflows[index]
                .join_timer
                .is_some_and(|(deadline, _)| deadline <= now)
            {
                self.repeat_join(now, index);
            }
        }
        if self
            .sender
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
        if self.given_up_at.is_some_and(|deadline| deadline <= now) {
            self.given_up_at = None;
            self.close(CloseReason::TimedOut);
        }
        if self.failed.is_some_and(|failure| failure.repeat_at <= now) {
            self.on_fail_timeout(now);
        }
        if self.want_paths {
            self.manage_paths(now);
        }
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

    /// Opens a subflow that [`Change::Join`] asked for, or the application.
    pub fn join(
        &mut self,
        now: Nanos,
        join: Join,
        tuple: FourTuple,
        initial: u32,
        nonce: u32,
    ) -> SubflowId {
        let mut config = subflow_config(&self.tcp);
        config.mss = self.addresses.mss(tuple.local.ip(), config.mss);
        let tcp = Tcp::connect(now, &config, tuple, initial);
        let mut subflow = Subflow::new(self.next_subflow, tcp, true);
        subflow.local_id = self.addresses.local_id(tuple.local.ip());
        subflow.remote_id = self.addresses.remote_id(tuple.remote).unwrap_or(0);
        subflow.backup = join.backup;
        subflow.nonce = nonce;
        subflow.tcp.share_window(true);
        self.next_subflow += 1;
        self.counters.join_syn_sent += 1;
        self.addresses.opened(&tuple);
        let id = SubflowId(subflow.id);
        self.subflows.push(subflow);
        id
    }

    /// Answers the SYN of a MP_JOIN that names this connection's token. `Err` is the option of the
    /// RST that refuses it.
    pub fn accept_join(
        &mut self,
        now: Nanos,
        tuple: FourTuple,
        syn: &Segment,
        initial: u32,
        nonce: u32,
    ) -> Result<SubflowId, mptcplab_wire::option::MptcpOption> {
        use mptcplab_wire::option::{Join, MptcpOption};
        self.counters.join_syn_received += 1;
        let join = syn.options.mptcp.iter().find_map(|option| match option {
            MptcpOption::Join(Join::Syn {
                backup,
                address_id,
                nonce,
                ..
            }) => Some((*backup, *address_id, *nonce)),
            _ => None,
        });
        let ready = self.mode == Mode::Multipath && self.remote_key.is_some();
        let Some((backup, address_id, peer_nonce)) = join.filter(|_| ready && !self.is_closing())
        else {
            return Err(signals::reset(signals::reason::MPTCP_ERROR, false));
        };
        if self.additional() >= self.config.limits.subflows {
            self.counters.join_rejected += 1;
            return Err(signals::reset(signals::reason::PROHIBITED, true));
        }
        self.counters.join_backup_syn_received += u64::from(backup);
        let mut config = subflow_config(&self.tcp);
        config.mss = self.addresses.mss(tuple.local.ip(), config.mss);
        let tcp = Tcp::accept(now, &config, tuple, initial, syn);
        let mut subflow = Subflow::new(self.next_subflow, tcp, false);
        subflow.local_id = self.addresses.local_id(tuple.local.ip());
        subflow.remote_id = address_id;
        subflow.backup = self.addresses.is_backup(tuple.local.ip());
        subflow.backup_for_peer = backup;
        subflow.nonce = nonce;
        subflow.peer_nonce = peer_nonce;
        subflow.tcp.share_window(true);
        let id = SubflowId(subflow.id);
        self.next_subflow += 1;
        self.subflows.push(subflow);
        Ok(id)
    }

    /// Subflows beside the first one that are open or being opened.
    pub(super) fn additional(&self) -> u32 {
        let additional = |subflow: &&Subflow| !subflow.is_first() && !subflow.is_over();
        self.subflows.iter().filter(additional).count() as u32
    }

    /// Data of the application; gives the bytes that were taken.
    pub fn write(&mut self, data: Bytes) -> usize {
        if self.sender.is_shut() || self.closed.is_some() {
            return 0;
        }
        let room = self.write_room_bytes();
        let bytes = usize::try_from(room).unwrap_or(usize::MAX).min(data.len());
        self.wants_room = bytes < data.len();
        self.sender.write(data.slice(..bytes));
        self.reschedule = true;
        bytes
    }

    /// Bytes written and not acknowledged.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.sender.queued_bytes()
    }

    /// Data for the application, at most `max_bytes`.
    pub fn read(&mut self, now: Nanos, max_bytes: usize) -> Option<Bytes> {
        let data = match self.receiver.read(max_bytes) {
            Some(data) => {
                self.tune(now, data.len() as u64);
                Some(data)
            }
            None if self.mode == Mode::Fallback => self.read_plain(now, max_bytes),
            None => None,
        };
        if data.is_none() {
            self.told_readable = false;
            return None;
        }
        if self.mode == Mode::Multipath
            && let Some(free) = self.receiver.much_room_bytes()
        {
            for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_open()) {
                subflow.update_window(free);
            }
        }
        data
    }

    /// The application read. The buffers of the subflows grow with that of the connection, and only
    /// then: one that joins when this has its full size keeps the buffer that it began with.
    fn tune(&mut self, now: Nanos, bytes: u64) {
        let open = || self.subflows.iter().filter(|subflow| subflow.is_open());
        let tcps = || open().map(|subflow| &subflow.tcp);
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

    /// The host's addresses are these now.
    pub fn set_addresses(&mut self, now: Nanos, locals: &[LocalAddress]) {
        let gone = self.addresses.set_locals(locals);
        self.withdraw(now, &gone);
        self.follow_backup_flags();
        self.manage_paths(now);
    }

    /// The host's routes are these now.
    pub fn set_routes(&mut self, routes: &[Route]) {
        self.addresses.routes = routes.to_vec();
    }

    /// Opens a subflow by the wish of the application. False where the connection cannot have one.
    pub fn open_subflow(&mut self, local: IpAddr, remote: SocketAddr, backup: bool) -> bool {
        let possible = self.mode == Mode::Multipath && !self.is_closing();
        if possible {
            let join = Join {
                local,
                remote,
                backup,
            };
            match self.confirmed {
                true => self.changes.push_back(Change::Join(join)),
                false => self.ordered.push(join),
            }
        }
        possible
    }
}

/// Settings of a subflow: its segments leave room for a DSS.
fn subflow_config(config: &TcpConfig) -> TcpConfig {
    TcpConfig {
        option_reserve_bytes: DSS_BYTES,
        ..config.clone()
    }
}
