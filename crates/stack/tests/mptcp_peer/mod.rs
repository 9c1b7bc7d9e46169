//! One endpoint, and a peer whose segments are written by hand.
#![allow(dead_code, unreachable_pub)] // Each test program uses a part of it.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_stack::Nanos;
use mptcplab_stack::endpoint::{
    ConnectionId, Endpoint, EndpointConfig, EndpointFlags, Event, LocalAddress, Protocol,
    SocketOptions,
};
use mptcplab_stack::mptcp::MptcpConfig;
use mptcplab_stack::path_manager::Limits;
use mptcplab_wire::keys::{Key, address_hmac, join_hmac, join_hmac_in_ack, join_hmac_in_syn_ack};
use mptcplab_wire::option::{
    AddAddress, Capable, DataNumber, Dss, Join, Mapping, MptcpOption, Reset,
};
use mptcplab_wire::{Flags, Options, Segment};

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
    pub host: Endpoint,
    pub out: VecDeque<Segment>,
    pub events: Vec<Event>,
    /// The key of the host, once the handshake told it.
    pub key: Key,
    pub checksum: bool,
}

/// Data sequence number, subflow sequence number, bytes, DATA_FIN.
pub type SentMapping = (u64, u32, u16, bool);

/// One subflow, as the peer has it.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub peer: SocketAddr,
    pub host: SocketAddr,
    /// Initial sequence numbers.
    pub peer_initial: u32,
    pub host_initial: u32,
}

impl Flow {
    pub fn new(index: u8, peer_port: u16, host_port: u16) -> Self {
        Self {
            peer: SocketAddr::new(peer_address(index), peer_port),
            host: SocketAddr::new(host_address(index), host_port),
            peer_initial: 1000,
            host_initial: 0,
        }
    }

    /// A segment of the peer: flags as letters (`S`, `F`, `R`, `.`), relative numbers.
    pub fn segment(&self, flags: &str, sequence: u32, acknowledgement: u32) -> Segment {
        Segment {
            source: self.peer,
            destination: self.host,
            sequence: self.peer_initial.wrapping_add(sequence),
            acknowledgement: self.host_initial.wrapping_add(acknowledgement),
            flags: Flags {
                syn: flags.contains('S'),
                fin: flags.contains('F'),
                rst: flags.contains('R'),
                ack: flags.contains('.'),
                ..Flags::default()
            },
            window: 30_000,
            urgent: 0,
            options: Options::default(),
            ecn: Default::default(),
            payload: Bytes::new(),
        }
    }

    pub fn with(&self, flags: &str, sequence: u32, ack: u32, option: MptcpOption) -> Segment {
        let mut segment = self.segment(flags, sequence, ack);
        segment.options.mptcp.push(option);
        segment
    }

    pub fn syn(&self, option: Option<MptcpOption>) -> Segment {
        let mut segment = self.segment("S", 0, 0);
        segment.options.max_segment_bytes = Some(1460);
        segment.options.mptcp.extend(option);
        segment
    }

    pub fn sequence_of(&self, segment: &Segment) -> u32 {
        segment.sequence.wrapping_sub(self.host_initial)
    }

    pub fn acknowledgement_of(&self, segment: &Segment) -> u32 {
        segment.acknowledgement.wrapping_sub(self.peer_initial)
    }
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
        let settings = EndpointConfig {
            mptcp: config,
            ..EndpointConfig::default()
        };
        let mut host = Endpoint::new(settings, 7);
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

    /// A DSS of the peer: acknowledgement of data and mapping, counted from 1 as in the scripts.
    pub fn dss(
        &self,
        acknowledged: u64,
        mapping: Option<(u64, u32, u16)>,
        fin: bool,
    ) -> MptcpOption {
        let acknowledgement = self.key.initial_data_sequence().wrapping_add(acknowledged);
        MptcpOption::Dss(Dss {
            data_fin: fin,
            acknowledgement: Some(DataNumber::Long(acknowledgement)),
            mapping: mapping.map(|(data, subflow_sequence, bytes)| Mapping {
                data_sequence: DataNumber::Long(
                    PEER_KEY.initial_data_sequence().wrapping_add(data),
                ),
                subflow_sequence,
                bytes,
                checksum: None,
            }),
        })
    }

    /// Data of the peer with its mapping.
    pub fn data(
        &self,
        flow: &Flow,
        sequence: u32,
        ack: u32,
        dack: u64,
        data: u64,
        bytes: usize,
    ) -> Segment {
        let option = self.dss(dack, Some((data, sequence, bytes as u16)), false);
        let mut segment = flow.with(".", sequence, ack, option);
        segment.payload = payload(bytes);
        segment
    }

    /// The DSS of a segment of the host: data acknowledged, and the mapping (data, subflow, bytes,
    /// fin), counted from 1.
    pub fn read_dss(&self, segment: &Segment) -> (Option<u64>, Option<SentMapping>) {
        let dss = segment
            .options
            .mptcp
            .iter()
            .find_map(|option| match option {
                MptcpOption::Dss(dss) => Some(*dss),
                _ => None,
            });
        let Some(dss) = dss else {
            panic!("no DSS in {segment:?}");
        };
        let relative = |number, key: Key| match number {
            DataNumber::Long(number) => number.wrapping_sub(key.initial_data_sequence()),
            DataNumber::Short(_) => panic!("4 bytes are never sent"),
        };
        (
            dss.acknowledgement.map(|number| relative(number, PEER_KEY)),
            dss.mapping.map(|mapping| {
                (
                    relative(mapping.data_sequence, self.key),
                    mapping.subflow_sequence,
                    mapping.bytes,
                    dss.data_fin,
                )
            }),
        )
    }

    /// Joins with a subflow of the peer; the fourth packet, the ACK, was taken.
    pub fn join(&mut self, index: u8, port: u16, address_id: u8, backup: bool) -> Flow {
        let mut flow = Flow::new(index, port, 80);
        self.inject(flow.syn(Some(MptcpOption::Join(Join::Syn {
            backup,
            address_id,
            token: self.key.token(),
            nonce: PEER_NONCE,
        }))));
        let answer = self.next();
        let [MptcpOption::Join(Join::SynAck { hmac, nonce, .. })] = answer.options.mptcp[..] else {
            panic!("no join in {answer:?}");
        };
        assert_eq!(
            hmac,
            join_hmac_in_syn_ack(&join_hmac(self.key, PEER_KEY, nonce, PEER_NONCE))
        );
        flow.host_initial = answer.sequence;
        let third = join_hmac_in_ack(&join_hmac(PEER_KEY, self.key, PEER_NONCE, nonce));
        self.inject(flow.with(".", 1, 1, MptcpOption::Join(Join::Ack { hmac: third })));
        let fourth = self.next();
        assert!(fourth.flags.ack && fourth.payload.is_empty());
        flow
    }

    /// ADD_ADDR of the peer.
    pub fn add_address(&self, address_id: u8, address: IpAddr) -> MptcpOption {
        MptcpOption::AddAddress(AddAddress {
            echo: false,
            address_id,
            address,
            port: None,
            hmac: Some(address_hmac(PEER_KEY, self.key, address_id, address, None)),
        })
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
