//! One host, and a peer whose segments are written by hand.
#![allow(dead_code, unreachable_pub)] // Each test program uses a part of it.

mod flow;
mod options;

use std::collections::VecDeque;
use std::net::IpAddr;

use bytes::Bytes;
use mptcplab_stack::{
    ConnectionId, EndpointFlags, Event, HostConfig, HostStack, Limits, LocalAddress, MptcpConfig,
    Nanos, Protocol, SocketOptions,
};
use mptcplab_wire::Segment;
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::{Capable, MptcpOption, Reset};

pub use flow::Flow;

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1000 * MS;

/// The key of the peer.
pub const PEER_KEY: Key = Key(2);

/// The nonce of the peer in joins.
pub const PEER_NONCE: u32 = 0x0bad_cafe;

/// Flags of an announced address.
pub const SIGNAL: EndpointFlags = EndpointFlags {
    signal: true,
    subflow: false,
    backup: false,
    fullmesh: false,
};

/// Address of the host under test, and of the peer.
pub fn host_address(index: u8) -> IpAddr {
    IpAddr::from([10, 0, index, 1])
}

pub fn peer_address(index: u8) -> IpAddr {
    IpAddr::from([10, 0, index, 2])
}

/// A host under test.
pub struct Bench {
    pub now: Nanos,
    pub host: HostStack,
    pub out: VecDeque<Segment>,
    pub events: Vec<Event>,
    /// The key of the host, once the handshake told it.
    pub key: Key,
    pub checksum: bool,
}

pub fn capable() -> Capable {
    Capable {
        version: 1,
        checksum: false,
        extension: false,
        no_initial_address: false,
        hmac: true,
        sender_key: None,
        receiver_key: None,
        data_bytes: None,
        data_checksum: None,
    }
}

pub fn payload(bytes: usize) -> Bytes {
    (0..bytes).map(|place| place as u8).collect()
}

pub fn config() -> MptcpConfig {
    MptcpConfig {
        limits: Limits {
            subflows: 4,
            add_addr_accepted: 4,
            subflows_per_pair: 1,
        },
        ..MptcpConfig::default()
    }
}

pub fn options() -> SocketOptions {
    SocketOptions {
        protocol: Protocol::Mptcp,
        no_delay: true,
        ..SocketOptions::default()
    }
}

pub fn plain_address(index: u8) -> LocalAddress {
    LocalAddress {
        address: host_address(index),
        mtu: 1500,
        endpoint: None,
    }
}

impl Bench {
    /// A host with these addresses that listens at port 80.
    pub fn new(config: MptcpConfig, addresses: &[LocalAddress]) -> Self {
        let checksum = config.checksum;
        let settings = HostConfig {
            mptcp: config,
            ..HostConfig::default()
        };
        let mut host = HostStack::new(settings, 7);
        host.set_addresses(0, addresses);
        host.listen(80, options());
        Self {
            now: 0,
            host,
            out: VecDeque::new(),
            events: Vec::new(),
            key: Key(0),
            checksum,
        }
    }

    /// A server that a peer has connected to, by MP_CAPABLE.
    pub fn accepted(addresses: &[LocalAddress]) -> (Self, Flow, ConnectionId) {
        let mut bench = Self::new(config(), addresses);
        let mut flow = Flow::new(0, 5000, 80);
        bench.syn_capable(&mut flow, capable());
        let third = flow.with(".", 1, 1, bench.keys());
        bench.inject(third);
        let id = bench.accepted_id();
        (bench, flow, id)
    }

    /// A client that has connected to the peer, by MP_CAPABLE. Its third ACK was taken.
    pub fn connected(
        config: MptcpConfig,
        addresses: &[LocalAddress],
    ) -> (Self, Flow, ConnectionId) {
        let mut bench = Self::new(config, addresses);
        let (mut flow, id) = bench.connect();
        let syn = bench.next();
        assert!(matches!(syn.options.mptcp[..], [MptcpOption::Capable(_)]));
        bench.answer(
            &mut flow,
            &syn,
            Some(MptcpOption::Capable(Capable {
                sender_key: Some(PEER_KEY.0),
                ..capable()
            })),
        );
        let third = bench.next();
        let [MptcpOption::Capable(keys)] = third.options.mptcp[..] else {
            panic!("the third ACK has no keys: {third:?}");
        };
        bench.key = Key(keys.sender_key.expect("the key of the client"));
        (bench, flow, id)
    }

    pub fn connect(&mut self) -> (Flow, ConnectionId) {
        let mut flow = Flow::new(0, 80, 0);
        let id = self
            .host
            .connect(self.now, host_address(0), flow.peer, options());
        self.flush();
        let syn = self.out.front().expect("a SYN");
        flow.host = syn.source;
        flow.host_initial = syn.sequence;
        (flow, id)
    }

    /// Answers a SYN by a SYN/ACK.
    pub fn answer(&mut self, flow: &mut Flow, syn: &Segment, option: Option<MptcpOption>) {
        flow.host_initial = syn.sequence;
        let mut segment = flow.segment("S.", 0, 1);
        segment.options.max_segment_bytes = Some(1460);
        segment.options.mptcp.extend(option);
        self.inject(segment);
    }

    /// Sends a SYN with MP_CAPABLE and takes the SYN/ACK.
    pub fn syn_capable(&mut self, flow: &mut Flow, capable: Capable) -> Segment {
        self.inject(flow.syn(Some(MptcpOption::Capable(capable))));
        let answer = self.next();
        assert!(answer.flags.syn && answer.flags.ack);
        flow.host_initial = answer.sequence;
        if let [
            MptcpOption::Capable(Capable {
                sender_key: Some(key),
                ..
            }),
        ] = answer.options.mptcp[..]
        {
            self.key = Key(key);
        }
        answer
    }

    /// MP_CAPABLE of the peer with both keys.
    pub fn keys(&self) -> MptcpOption {
        MptcpOption::Capable(Capable {
            sender_key: Some(PEER_KEY.0),
            receiver_key: Some(self.key.0),
            ..capable()
        })
    }

    pub fn accepted_id(&self) -> ConnectionId {
        self.events
            .iter()
            .find_map(|event| match event {
                Event::Accepted { id, .. } => Some(*id),
                _ => None,
            })
            .expect("the connection was accepted")
    }

    pub fn inject(&mut self, segment: Segment) {
        self.host.receive(self.now, segment.into_packet(64));
        self.flush();
    }

    pub fn flush(&mut self) {
        while let Some(packet) = self.host.transmit(self.now) {
            self.out
                .push_back(Segment::parse(*packet).expect("the host sends segments"));
        }
        while let Some(event) = self.host.poll_event() {
            self.events.push(event);
        }
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Nanos) {
        let until = self.now + time;
        while let Some(deadline) = self.host.next_deadline().filter(|next| *next <= until) {
            self.now = self.now.max(deadline);
            self.host.on_deadline(self.now);
            self.flush();
        }
        self.now = until;
    }

    /// The next segment that the host sent.
    pub fn next(&mut self) -> Segment {
        self.out.pop_front().expect("the host sent a segment")
    }

    pub fn nothing(&self) {
        assert!(self.out.is_empty(), "{:?}", self.out);
    }

    pub fn write(&mut self, id: ConnectionId, bytes: usize) {
        assert_eq!(self.host.write(self.now, id, payload(bytes)), bytes);
        self.flush();
    }

    pub fn read(&mut self, id: ConnectionId) -> usize {
        let mut bytes = 0;
        while let Some(data) = self.host.read(self.now, id, usize::MAX) {
            bytes += data.len();
        }
        self.flush();
        bytes
    }

    pub fn has(&self, matches: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(matches)
    }

    pub fn fell_back(&self) -> bool {
        self.has(|event| matches!(event, Event::Fallback { .. }))
    }

    pub fn closed(&self) -> bool {
        self.has(|event| matches!(event, Event::Closed { .. }))
    }
}

/// The reason of a RST.
pub fn reason_of(segment: &Segment) -> Option<u8> {
    segment
        .options
        .mptcp
        .iter()
        .find_map(|option| match option {
            MptcpOption::Reset(Reset { reason, .. }) => Some(*reason),
            _ => None,
        })
}

pub fn only(segment: &Segment) -> MptcpOption {
    assert_eq!(segment.options.mptcp.len(), 1, "{segment:?}");
    segment.options.mptcp[0]
}
