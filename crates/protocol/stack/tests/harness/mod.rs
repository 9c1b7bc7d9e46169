//! Two hosts and a wire between them, in virtual time.
#![allow(dead_code, unreachable_pub)] // Each test program uses a part of it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_stack::{CloseReason, Nanos};
use mptcplab_stack::{
    ConnectionId, Event, HostConfig, HostStack, LocalAddress, SocketOptions, SubflowInfo,
};
use mptcplab_wire::{Flags, Options, Packet, Segment};

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1000 * MS;
pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;
pub const PORT: u16 = 80;

/// Fate of a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Delivers it after its delay.
    Deliver,
    Drop,
    /// Delivers it that much later, past others.
    Late(Nanos),
    /// Delivers it no earlier than that, in order.
    Until(Nanos),
    /// Delivers it twice.
    Twice,
    /// Delivers it with congestion experienced.
    Mark,
}

/// A segment as it left.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Nanos,
    pub from: usize,
    pub segment: Segment,
    pub fate: Fate,
}

/// A packet that the wire is given: time, sending host, segment.
type Script = Box<dyn FnMut(Nanos, usize, &Segment) -> Fate>;

/// Two hosts, a wire of a fixed delay, and a script for what goes wrong.
pub struct Wire {
    pub now: Nanos,
    pub delay: Nanos,
    pub hosts: [HostStack; 2],
    pub events: [VecDeque<Event>; 2],
    pub addresses: [IpAddr; 2],
    /// The last segment of each host.
    last: [Option<Segment>; 2],
    /// Every segment in the order in which it left.
    pub sent: Vec<Sent>,
    in_flight: BTreeMap<(Nanos, u64), (usize, Box<Packet>)>,
    script: Script,
    packets: u64,
    /// Packets that leave one after the other take as long each.
    pub spacing: Nanos,
    free_at: [Nanos; 2],
    /// Packets that wait to leave, at most, where there is a limit.
    pub queue_packets: Option<u64>,
    /// Takes options out of segments.
    pub strip: Option<fn(&mut Options)>,
}

fn address(host: usize) -> IpAddr {
    IpAddr::from([10, 0, 0, host as u8 + 1])
}

impl Wire {
    /// One-way delay, clock granularity.
    pub fn new(delay: Nanos, granularity: Nanos) -> Self {
        let host = |index: usize| {
            let config = HostConfig {
                clock_granularity_ns: granularity,
                ..HostConfig::default()
            };
            let mut host = HostStack::new(config, index as u64 + 1);
            let local = LocalAddress {
                address: address(index),
                mtu: 1500,
                endpoint: None,
            };
            host.set_addresses(0, &[local]);
            host
        };
        Self {
            now: 0,
            delay,
            hosts: [host(CLIENT), host(SERVER)],
            events: Default::default(),
            addresses: [address(CLIENT), address(SERVER)],
            last: [None, None],
            sent: Vec::new(),
            in_flight: BTreeMap::new(),
            script: Box::new(|_, _, _| Fate::Deliver),
            packets: 0,
            spacing: 0,
            free_at: [0; 2],
            queue_packets: None,
            strip: None,
        }
    }

    /// Lets the hosts have addresses of IPv6 only.
    pub fn use_ipv6(&mut self) {
        self.addresses = [1, 2].map(|host| IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, host]));
        for (host, address) in self.hosts.iter_mut().zip(self.addresses) {
            let local = LocalAddress {
                address,
                mtu: 1500,
                endpoint: None,
            };
            host.set_addresses(0, &[local]);
        }
    }

    /// Another connection like the first.
    pub fn establish_again(&mut self) -> ConnectionId {
        let id = self.connect(SocketOptions::default());
        self.run_for(10 * self.delay);
        id
    }

    pub fn script(&mut self, script: impl FnMut(Nanos, usize, &Segment) -> Fate + 'static) {
        self.script = Box::new(script);
    }

    pub fn connect(&mut self, options: SocketOptions) -> ConnectionId {
        let remote = SocketAddr::new(self.addresses[SERVER], PORT);
        let local = self.addresses[CLIENT];
        let id = self.hosts[CLIENT].connect(self.now, local, remote, options);
        self.flush();
        id
    }

    /// Listens, connects, and runs until both ends are established. The client's id first.
    pub fn establish(&mut self, options: SocketOptions) -> [ConnectionId; 2] {
        self.hosts[SERVER].listen(PORT, options.clone());
        let client = self.connect(options);
        self.run_for(10 * self.delay + 10 * MS);
        let server = self.accepted().expect("the server accepted");
        self.sent.clear();
        [client, server]
    }

    /// The first connection that the server accepted.
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

    pub fn release(&mut self, host: usize, id: ConnectionId) {
        self.hosts[host].release(self.now, id);
        self.flush();
    }

    /// Hands a segment to a host as if it came from the wire.
    pub fn inject(&mut self, host: usize, segment: &Segment) {
        self.hosts[host].receive(self.now, segment.clone().into_packet(64));
        self.flush();
    }

    pub fn info(&self, host: usize, id: ConnectionId) -> SubflowInfo {
        self.hosts[host].subflows(id)[0]
    }

    pub fn state(&self, host: usize, id: ConnectionId) -> &'static str {
        self.info(host, id).tcp.state.name()
    }

    pub fn counter(&self, host: usize, name: &str) -> u64 {
        self.hosts[host]
            .counters()
            .into_iter()
            .find(|counter| counter.0 == name)
            .unwrap_or_else(|| panic!("no counter {name}"))
            .1
    }

    /// Puts what both hosts send on the wire, and takes their events.
    pub fn flush(&mut self) {
        for host in [CLIENT, SERVER] {
            let mut burst = 0;
            while let Some(packet) = self.hosts[host].transmit(self.now) {
                burst += 1;
                assert!(burst < 100_000, "a host transmits without end");
                self.send(host, packet);
            }
            while let Some(event) = self.hosts[host].poll_event() {
                self.events[host].push_back(event);
            }
        }
    }

    fn send(&mut self, from: usize, mut packet: Box<Packet>) {
        let mut segment = Segment::parse(*packet.clone()).expect("hosts send segments");
        if let Some(strip) = self.strip {
            strip(&mut segment.options);
            packet = Box::new(segment.clone().into_packet(64));
        }
        self.last[from] = Some(segment.clone());
        let fate = (self.script)(self.now, from, &segment);
        let start = self.free_at[from].max(self.now);
        if let Some(limit) = self.queue_packets
            && start - self.now > limit * self.spacing
        {
            return;
        }
        self.free_at[from] = start + self.spacing;
        let arrival = start + self.spacing + self.delay;
        let mut deliver = |at: Nanos, packet: Box<Packet>| {
            self.packets += 1;
            self.in_flight
                .insert((at, self.packets), (1 - from, packet));
        };
        match fate {
            Fate::Deliver => deliver(arrival, packet),
            Fate::Drop => {}
            Fate::Late(later) => deliver(arrival + later, packet),
            Fate::Until(time) => deliver(arrival.max(time), packet),
            Fate::Twice => {
                deliver(arrival, packet.clone());
                deliver(arrival, packet);
            }
            Fate::Mark => {
                let mut packet = packet;
                packet.set_ecn(mptcplab_wire::Ecn::CongestionExperienced);
                deliver(arrival, packet);
            }
        }
        self.sent.push(Sent {
            at: self.now,
            from,
            segment,
            fate,
        });
    }

    /// When something happens next.
    pub fn next(&self) -> Option<Nanos> {
        let packet = self.in_flight.keys().next().map(|key| key.0);
        let deadlines = self.hosts.iter().filter_map(HostStack::next_deadline);
        packet.into_iter().chain(deadlines).min()
    }

    /// Lets the next thing happen, where it does by `until`: a packet arrives, or, after all
    /// packets of a moment, deadlines.
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
            assert!(steps < 10_000_000, "the world spins");
        }
        self.now = self.now.max(until);
    }

    pub fn run_for(&mut self, time: Nanos) {
        self.run_until(self.now + time);
    }

    /// Sends `data` from one end, reads it at the other as it comes, until all is there or
    /// `limit` has passed. Gives what was read and the time it took.
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
            written += self.write(from, ids[from], data.slice(written..));
            received.extend(self.read(1 - from, ids[1 - from]));
            if received.len() >= data.len() || !self.step(begin + limit) {
                return (received, self.now - begin);
            }
        }
    }

    /// The last segment that a host sent, to make another of it.
    pub fn last_sent(&self, from: usize) -> Segment {
        let last = self.sent.iter().rev().find(|sent| sent.from == from);
        last.expect("the host has sent something").segment.clone()
    }

    /// An ACK as a host sent it last.
    pub fn hosts_segment(&self, from: usize) -> Segment {
        let mut segment = self.last[from]
            .clone()
            .expect("the host has sent something");
        segment.sequence = segment.sequence.wrapping_add(segment.sequence_bytes());
        segment.payload = Bytes::new();
        segment.flags = Flags {
            ack: true,
            ..Flags::default()
        };
        segment.options.window_shift = None;
        segment.options.max_segment_bytes = None;
        segment.options.sack_permitted = false;
        segment
    }

    /// When a host sent segments, since `begin`.
    pub fn times(&self, from: usize, begin: Nanos) -> Vec<Nanos> {
        self.sent
            .iter()
            .filter(|sent| sent.from == from)
            .map(|sent| sent.at - begin)
            .collect()
    }

    /// How a connection was closed.
    pub fn closed(&self, host: usize) -> Option<CloseReason> {
        self.events[host].iter().find_map(|event| match event {
            Event::Closed { reason, .. } => Some(*reason),
            _ => None,
        })
    }

    /// Segments with payload that a host sent.
    pub fn data_sent(&self, from: usize) -> Vec<&Sent> {
        self.sent
            .iter()
            .filter(|sent| sent.from == from && !sent.segment.payload.is_empty())
            .collect()
    }
}

/// Bytes that tell their place.
pub fn pattern(bytes: usize) -> Bytes {
    (0..bytes)
        .map(|place| (place ^ (place >> 8) ^ (place >> 16)) as u8)
        .collect()
}
