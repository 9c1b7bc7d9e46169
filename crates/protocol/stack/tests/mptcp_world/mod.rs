//! Two hosts with several paths between them, in virtual time.
#![allow(dead_code, unreachable_pub)] // Each test program uses a part of it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_stack::{
    ConnectionId, ConnectionInfo, EndpointFlags, Event, HostConfig, HostStack, LocalAddress,
    Protocol, SocketOptions, SubflowInfo,
};
use mptcplab_stack::{Limits, MptcpConfig, Nanos};
use mptcplab_wire::{Packet, Segment};

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1000 * MS;
pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;
pub const PORT: u16 = 80;

/// How many cases to try: as many as the environment says, for longer hunts.
pub fn cases_or(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

/// Flags of an endpoint that opens subflows to the first address of the peer.
pub const SUBFLOW: EndpointFlags = EndpointFlags {
    signal: false,
    subflow: true,
    backup: false,
    fullmesh: false,
};

/// A path: the way between one address of the client and the server.
#[derive(Clone, Debug)]
pub struct Path {
    pub delay: Nanos,
    /// 0 is unlimited.
    pub rate_bps: u64,
    /// Packets that wait in each direction at the most.
    pub queue: usize,
    /// Everything is lost on it.
    pub dead: bool,
    free_at: [Nanos; 2],
    waiting: [VecDeque<Nanos>; 2],
}

impl Path {
    pub fn new(delay: Nanos, rate_bps: u64) -> Self {
        Self {
            delay,
            rate_bps,
            queue: 100,
            dead: false,
            free_at: [0; 2],
            waiting: Default::default(),
        }
    }

    /// When a packet arrives; none where the queue is full.
    fn carry(&mut self, now: Nanos, from: usize, bytes: usize) -> Option<Nanos> {
        let waiting = &mut self.waiting[from];
        while waiting.front().is_some_and(|left| *left <= now) {
            waiting.pop_front();
        }
        if self.dead || waiting.len() >= self.queue {
            return None;
        }
        let time = (8 * bytes as u64 * SECOND).checked_div(self.rate_bps);
        let leaves = self.free_at[from].max(now) + time.unwrap_or(0);
        self.free_at[from] = leaves;
        waiting.push_back(leaves);
        Some(leaves + self.delay)
    }
}

/// Fate of a segment on its way: it may be changed, split, dropped, or come late.
pub type Middlebox = Box<dyn FnMut(usize, Segment) -> Vec<(Nanos, Segment)>>;

pub struct World {
    pub now: Nanos,
    pub hosts: [HostStack; 2],
    pub events: [Vec<Event>; 2],
    pub paths: Vec<Path>,
    pub middlebox: Middlebox,
    /// Every segment that left: when, from which host, on which path.
    pub sent: Vec<(Nanos, usize, usize, Segment)>,
    pub keep_sent: bool,
    in_flight: BTreeMap<(Nanos, u64), (usize, Box<Packet>)>,
    packets: u64,
    locals: [Vec<LocalAddress>; 2],
}

/// The address of a host on a path.
pub fn address(host: usize, path: usize) -> IpAddr {
    IpAddr::from([10, 0, path as u8, host as u8 + 1])
}

/// Settings with as many subflows as wanted.
pub fn generous() -> MptcpConfig {
    MptcpConfig {
        limits: Limits {
            subflows: 8,
            add_addr_accepted: 8,
            subflows_per_pair: 1,
        },
        ..MptcpConfig::default()
    }
}

pub fn mptcp() -> SocketOptions {
    SocketOptions {
        protocol: Protocol::Mptcp,
        ..SocketOptions::default()
    }
}

impl World {
    /// The client has an address on each path and opens subflows from all; the server has one, on
    /// path 0, which every path leads to.
    pub fn new(paths: Vec<Path>, config: MptcpConfig) -> Self {
        Self::with_configs(paths, [config.clone(), config])
    }

    pub fn with_configs(paths: Vec<Path>, configs: [MptcpConfig; 2]) -> Self {
        Self::with_seeds(paths, configs, [1, 2])
    }

    /// The same where the hosts have other seeds.
    pub fn with_seeds(paths: Vec<Path>, configs: [MptcpConfig; 2], seeds: [u64; 2]) -> Self {
        let host = |index: usize| {
            let config = HostConfig {
                mptcp: configs[index].clone(),
                ..HostConfig::default()
            };
            HostStack::new(config, seeds[index])
        };
        let local = |host: usize, path: usize, endpoint| LocalAddress {
            address: address(host, path),
            mtu: 1500,
            endpoint,
        };
        let client = (0..paths.len())
            .map(|path| local(CLIENT, path, Some(SUBFLOW)))
            .collect();
        let mut world = Self {
            now: 0,
            hosts: [host(CLIENT), host(SERVER)],
            events: Default::default(),
            paths,
            middlebox: Box::new(|_, segment| vec![(0, segment)]),
            sent: Vec::new(),
            keep_sent: true,
            in_flight: BTreeMap::new(),
            packets: 0,
            locals: [client, vec![local(SERVER, 0, None)]],
        };
        for host in [CLIENT, SERVER] {
            let locals = world.locals[host].clone();
            world.hosts[host].set_addresses(0, &locals);
        }
        world
    }

    /// Changes the addresses of a host.
    pub fn set_addresses(&mut self, host: usize, addresses: Vec<LocalAddress>) {
        self.hosts[host].set_addresses(self.now, &addresses);
        self.locals[host] = addresses;
        self.flush();
    }

    pub fn addresses(&self, host: usize) -> Vec<LocalAddress> {
        self.locals[host].clone()
    }

    /// Listens and connects over path 0, and runs until the connection stands with its subflows.
    pub fn establish(&mut self, options: SocketOptions) -> [ConnectionId; 2] {
        let client = self.open(options);
        let longest = self.paths.iter().map(|path| path.delay).max().unwrap_or(0);
        self.run_for(8 * longest + 100 * MS);
        let server = self.accepted().expect("the server accepted");
        [client, server]
    }

    /// Listens and connects over path 0.
    pub fn open(&mut self, options: SocketOptions) -> ConnectionId {
        self.hosts[SERVER].listen(PORT, options.clone());
        let remote = SocketAddr::new(address(SERVER, 0), PORT);
        let id = self.hosts[CLIENT].connect(self.now, address(CLIENT, 0), remote, options);
        self.flush();
        id
    }

    pub fn accepted(&self) -> Option<ConnectionId> {
        self.events[SERVER].iter().find_map(|event| match event {
            Event::Accepted { id, .. } => Some(*id),
            _ => None,
        })
    }

    pub fn write(&mut self, host: usize, id: ConnectionId, data: Bytes) -> usize {
        let taken = self.hosts[host].write(self.now, id, data);
        self.flush();
        taken
    }

    pub fn read(&mut self, host: usize, id: ConnectionId) -> Vec<u8> {
        let mut read = Vec::new();
        while let Some(data) = self.hosts[host].read(self.now, id, usize::MAX) {
            read.extend_from_slice(&data);
        }
        self.flush();
        read
    }

    pub fn shutdown(&mut self, host: usize, id: ConnectionId) {
        self.hosts[host].shutdown(self.now, id);
        self.flush();
    }

    pub fn info(&self, host: usize, id: ConnectionId) -> ConnectionInfo {
        self.hosts[host].info(id).expect("the connection is known")
    }

    pub fn subflows(&self, host: usize, id: ConnectionId) -> Vec<SubflowInfo> {
        self.hosts[host].subflows(id)
    }

    pub fn counter(&self, host: usize, name: &str) -> u64 {
        self.hosts[host]
            .counters()
            .into_iter()
            .find(|counter| counter.0 == name)
            .unwrap_or_else(|| panic!("no counter {name}"))
            .1
    }

    /// Puts what both hosts send on its way, and takes their events.
    pub fn flush(&mut self) {
        for host in [CLIENT, SERVER] {
            let mut burst = 0;
            while let Some(packet) = self.hosts[host].transmit(self.now) {
                burst += 1;
                assert!(burst < 100_000, "a host transmits without end");
                self.send(host, &packet);
            }
            while let Some(event) = self.hosts[host].poll_event() {
                self.events[host].push(event);
            }
        }
    }

    fn send(&mut self, from: usize, packet: &Packet) {
        let client = if from == CLIENT {
            packet.source()
        } else {
            packet.destination()
        };
        let path = (0..self.paths.len())
            .find(|path| address(CLIENT, *path) == client)
            .expect("packets are for known addresses");
        // An address that the host does not have leads nowhere.
        if !self.locals[from]
            .iter()
            .any(|local| local.address == packet.source())
        {
            return;
        }
        let segment = Segment::parse(packet.clone()).expect("hosts send segments");
        if self.keep_sent {
            self.sent.push((self.now, from, path, segment.clone()));
        }
        let Some(arrival) = self.paths[path].carry(self.now, from, packet.ip_bytes()) else {
            return;
        };
        for (later, segment) in (self.middlebox)(from, segment) {
            self.packets += 1;
            self.in_flight.insert(
                (arrival + later, self.packets),
                (1 - from, Box::new(segment.into_packet(64))),
            );
        }
    }

    pub fn next(&self) -> Option<Nanos> {
        let packet = self.in_flight.keys().next().map(|key| key.0);
        let deadlines = self.hosts.iter().filter_map(HostStack::next_deadline);
        packet.into_iter().chain(deadlines).min()
    }

    /// Lets the next thing happen, where it does by `until`.
    pub fn step(&mut self, until: Nanos) -> bool {
        let Some(next) = self.next().filter(|&next| next <= until) else {
            return false;
        };
        self.now = self.now.max(next);
        match self.in_flight.first_entry() {
            Some(entry) if entry.key().0 <= self.now => {
                let (host, packet) = entry.remove();
                self.hosts[host].receive(self.now, *packet);
            }
            _ => {
                for host in [CLIENT, SERVER] {
                    self.hosts[host].on_deadline(self.now);
                }
            }
        }
        self.flush();
        true
    }

    pub fn run_until(&mut self, until: Nanos) {
        let mut steps = 0_u64;
        while self.step(until) {
            steps += 1;
            assert!(steps < 20_000_000, "the world spins");
        }
        self.now = self.now.max(until);
    }

    pub fn run_for(&mut self, time: Nanos) {
        self.run_until(self.now + time);
    }

    /// Sends `data` from one end and reads it at the other as it comes, until all is there, a
    /// connection has ended, or `limit` has passed. Gives what was read and the time it took.
    pub fn transfer(
        &mut self,
        from: usize,
        ids: [ConnectionId; 2],
        data: &Bytes,
        limit: Nanos,
    ) -> (Vec<u8>, Nanos) {
        let begin = self.now;
        let mut written = 0;
        let mut received = Vec::new();
        loop {
            if written < data.len() {
                let end = data.len().min(written + (1 << 18));
                written += self.write(from, ids[from], data.slice(written..end));
            }
            received.extend(self.read(1 - from, ids[1 - from]));
            if received.len() >= data.len() || !self.step(begin + limit) {
                return (received, self.now - begin);
            }
        }
    }

    /// The events of a kind.
    pub fn count(&self, host: usize, matches: impl Fn(&Event) -> bool) -> usize {
        self.events[host]
            .iter()
            .filter(|event| matches(event))
            .count()
    }
}

/// Bytes that tell their place.
pub fn pattern(bytes: usize) -> Bytes {
    (0..bytes)
        .map(|place| (place ^ (place >> 8) ^ (place >> 16)) as u8)
        .collect()
}
