//! State that all connections of a host share.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{Packet, Segment};

use super::config::{HostConfig, SocketOptions};
use super::random::{Purpose, Random};
use super::reset;
use crate::Nanos;
use crate::address::LocalAddress;
use crate::event::{ConnectionId, Event, SubflowId};
use crate::route::Route;
use crate::tcp::{FourTuple, TcpConfig, mss_of};

/// MTU where an address has no interface.
const DEFAULT_MTU: u32 = 1500;

/// Packets that wait to leave and belong to no connection, at most.
const MAX_STRAYS: usize = 64;

/// Shared state of a host.
#[derive(Clone, Debug)]
pub(crate) struct HostState {
    pub(crate) config: HostConfig,
    pub(crate) addresses: Vec<LocalAddress>,
    pub(crate) routes: Arc<[Route]>,
    /// Settings of the last TCP connection, which are mostly those of the next.
    last_config: Arc<TcpConfig>,
    pub(crate) random: Random,
    pub(crate) events: VecDeque<Event>,
    /// Listening ports.
    pub(crate) listeners: BTreeMap<u16, Listener>,
    /// Resets that answer segments of no connection.
    strays: VecDeque<Box<Packet>>,
    pub(crate) resets_sent: u64,
    tuples: HashMap<FourTuple, (ConnectionId, SubflowId), FixedState>,
    /// Tokens of the MPTCP connections.
    tokens: HashMap<u32, ConnectionId, FixedState>,
    /// Joins with a token that names no connection.
    pub(crate) unknown_tokens: u64,
    /// Packets or programs want its processor until then.
    pub(crate) busy_until: Nanos,
}

/// A listening port.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) options: SocketOptions,
    /// Connections whose handshake is not complete.
    pub(crate) half_open: usize,
}

/// The host, the connection and the time, for every call of a connection.
pub(crate) struct Context<'a> {
    pub(crate) now: Nanos,
    /// The connection itself.
    pub(crate) id: ConnectionId,
    pub(crate) host: &'a mut HostState,
}

impl HostState {
    pub(crate) fn new(config: HostConfig, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let hash_seed = random.next(Purpose::Port);
        Self {
            config,
            addresses: Vec::new(),
            routes: Arc::from([]),
            last_config: Arc::default(),
            random,
            events: VecDeque::new(),
            listeners: BTreeMap::new(),
            strays: VecDeque::new(),
            resets_sent: 0,
            tuples: HashMap::with_hasher(FixedState::with_seed(hash_seed)),
            tokens: HashMap::with_hasher(FixedState::with_seed(hash_seed)),
            unknown_tokens: 0,
            busy_until: 0,
        }
    }

    /// The address is one of the host's.
    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|local| local.address == address)
    }

    /// The subflow that has these addresses.
    pub(crate) fn find(&self, tuple: &FourTuple) -> Option<(ConnectionId, SubflowId)> {
        self.tuples.get(tuple).copied()
    }

    /// Directs segments of these addresses to this subflow.
    pub(crate) fn register(&mut self, tuple: FourTuple, id: ConnectionId, subflow: SubflowId) {
        self.tuples.insert(tuple, (id, subflow));
    }

    /// Frees addresses, where they are this connection's.
    pub(crate) fn unregister(&mut self, tuple: &FourTuple, id: ConnectionId) {
        if self.tuples.get(tuple).is_some_and(|entry| entry.0 == id) {
            self.tuples.remove(tuple);
        }
    }

    /// A local port that is free towards `remote`: the first from a random place on. None towards
    /// an address of the other family.
    pub(crate) fn free_port(&mut self, local: IpAddr, remote: SocketAddr) -> Option<u16> {
        if local.is_ipv4() != remote.is_ipv4() {
            return None;
        }
        let [first, last] = self.config.local_ports;
        let count = u32::from(last.saturating_sub(first)) + 1;
        let start = (self.random.next(Purpose::Port) % u64::from(count)) as u32;
        (0..count)
            .map(|n| first + ((start + n) % count) as u16)
            .find(|&port| {
                let tuple = FourTuple {
                    local: SocketAddr::new(local, port),
                    remote,
                };
                !self.tuples.contains_key(&tuple)
            })
    }

    /// Settings of a TCP connection from this address.
    pub(crate) fn tcp_config(&mut self, options: &SocketOptions, local: IpAddr) -> Arc<TcpConfig> {
        let mtu = self
            .addresses
            .iter()
            .find(|candidate| candidate.address == local)
            .map_or(DEFAULT_MTU, |found| found.mtu);
        let config = TcpConfig {
            mss: mss_of(mtu, local),
            clock_granularity_ns: self.config.clock_granularity_ns,
            congestion_control: options.congestion_control,
            no_delay: options.no_delay,
            pacing: options.pacing,
            ecn: options.ecn,
            keepalive: options.keepalive,
            send_buffer: options.send_buffer,
            receive_buffer: options.receive_buffer,
            ..TcpConfig::default()
        };
        if *self.last_config != config {
            self.last_config = Arc::new(config);
        }
        Arc::clone(&self.last_config)
    }

    /// Notes that a handshake of a listening port is complete, or was given up.
    pub(crate) fn leave_half_open(&mut self, port: u16) {
        if let Some(listener) = self.listeners.get_mut(&port) {
            listener.half_open = listener.half_open.saturating_sub(1);
        }
    }

    /// Answers a segment that belongs to no connection (RFC 9293, section 3.10.7.1). Beyond
    /// [`MAX_STRAYS`] waiting answers it is forgotten.
    pub(crate) fn answer_with_reset(&mut self, segment: &Segment) {
        if self.strays.len() < MAX_STRAYS
            && let Some(answer) = reset::answer(segment)
        {
            self.resets_sent += 1;
            let packet = answer.into_boxed_packet(self.config.hop_limit, None);
            self.strays.push_back(packet);
        }
    }

    /// Answers a SYN with a RST that says why.
    pub(crate) fn refuse(&mut self, syn: &Segment, reason: MptcpOption) {
        if self.strays.len() < MAX_STRAYS
            && let Some(mut answer) = reset::answer(syn)
        {
            answer.options.mptcp.push(reason);
            self.resets_sent += 1;
            let packet = answer.into_boxed_packet(self.config.hop_limit, None);
            self.strays.push_back(packet);
        }
    }

    /// A key whose token no other connection of the host has.
    pub(crate) fn new_key(&mut self, id: ConnectionId) -> Key {
        loop {
            let key = Key(self.random.next(Purpose::Key));
            let token = key.token();
            if !self.tokens.contains_key(&token) {
                self.tokens.insert(token, id);
                return key;
            }
        }
    }

    /// A random number for a MP_JOIN.
    pub(crate) fn new_nonce(&mut self) -> u32 {
        self.random.next(Purpose::Nonce) as u32
    }

    /// One of the times that a worker takes to begin; there must be any.
    pub(crate) fn worker_time(&mut self, times_ns: &[Nanos]) -> Nanos {
        times_ns[(self.random.next(Purpose::Worker) % times_ns.len() as u64) as usize]
    }

    /// The connection that a token names.
    pub(crate) fn find_token(&self, token: u32) -> Option<ConnectionId> {
        self.tokens.get(&token).copied()
    }

    /// Frees the token of a connection that is gone.
    pub(crate) fn forget_token(&mut self, token: u32, id: ConnectionId) {
        if self.tokens.get(&token) == Some(&id) {
            self.tokens.remove(&token);
        }
    }

    pub(crate) fn take_stray(&mut self) -> Option<Box<Packet>> {
        self.strays.pop_front()
    }

    /// An initial sequence number.
    pub(crate) fn initial_sequence(&mut self) -> u32 {
        self.random.next(Purpose::Sequence) as u32
    }

    /// How many subflows have addresses.
    pub(crate) fn registered(&self) -> usize {
        self.tuples.len()
    }
}

impl Context<'_> {
    /// Tells the application.
    pub(crate) fn tell(&mut self, event: Event) {
        self.host.events.push_back(event);
    }
}
