//! Time that a new connection of MPTCP takes: the SYN, rules and barriers of three switches, the
//! copies of the SYN/ACK and of the third ACK, and the end of its rules.

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_controller::{Config, ConnectionId, Controller, Limits, Output, policy};
use mptcplab_openflow::flow::{FlowRemoved, FlowRemovedReason};
use mptcplab_openflow::multipart::{Part, Reply};
use mptcplab_openflow::packet::{PacketIn, PacketInReason};
use mptcplab_openflow::port::{Port, PortState};
use mptcplab_openflow::setup::{Capabilities, Features};
use mptcplab_openflow::{Body, Elapsed, Field, Hello, Match, Message, Oxm};
use mptcplab_wire::option::{Capable, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options, Segment};

const SWITCHES: u32 = 3;
const CLIENT: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 1], [10, 0, 0, 1]);
const SERVER: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 2], [10, 0, 0, 2]);

/// Three switches in a row, port 1 to the left and port 2 to the right, that do what they are told.
struct Network {
    controller: Controller,
    now_ns: u64,
    rules: Vec<(ConnectionId, u64, Match)>,
}

impl Network {
    fn new() -> Self {
        let limits = Limits {
            packet_ins_by_port: u32::MAX,
            ..Limits::default()
        };
        let config = Config {
            limits,
            ..Config::default()
        };
        let policy = policy("disjoint", 0).expect("a policy");
        let mut network = Self {
            controller: Controller::new(config, policy),
            now_ns: 0,
            rules: Vec::new(),
        };
        for switch in 1..=SWITCHES {
            let mut out = Vec::new();
            network
                .controller
                .connect(0, ConnectionId(switch), &mut out);
            network.tell(ConnectionId(switch), 0, Body::Hello(Hello::ours()));
        }
        network.now_ns = 1_000_000_000;
        network.now();
        network
    }

    fn tell(&mut self, connection: ConnectionId, xid: u32, body: Body) {
        let mut out = Vec::new();
        let message = Message::new(xid, body);
        self.controller
            .receive_message(self.now_ns, connection, &message, &mut out);
        self.take(out);
    }

    fn now(&mut self) {
        let mut out = Vec::new();
        self.controller.advance(self.now_ns, &mut out);
        self.take(out);
    }

    fn take(&mut self, out: Vec<Output>) {
        for one in out {
            if let Output::Message {
                connection,
                message,
            } = one
            {
                self.obey(connection, message);
            }
        }
    }

    fn obey(&mut self, connection: ConnectionId, message: Message) {
        let answer = match message.body {
            Body::FeaturesRequest => Body::FeaturesReply(Features {
                datapath_id: connection.0.into(),
                n_buffers: 0,
                n_tables: 1,
                auxiliary_id: 0,
                capabilities: Capabilities::empty(),
            }),
            Body::MultipartRequest(_) => {
                let port = |port| Port {
                    port,
                    state: PortState::LIVE,
                    ..Port::default()
                };
                Body::MultipartReply(Part {
                    more: false,
                    content: Reply::PortDesc([1, 2].map(port).to_vec()),
                })
            }
            Body::EchoRequest(data) => Body::EchoReply(data),
            Body::BarrierRequest => Body::BarrierReply,
            Body::FlowMod(request) => {
                if !request.flags.is_empty() {
                    self.rules
                        .push((connection, request.cookie, request.fields));
                }
                return;
            }
            Body::PacketOut(packet) if packet.data.get(12..14) == Some(&[0x88, 0xcc]) => {
                return self.pass_on(connection, &packet.actions, packet.data);
            }
            _ => return,
        };
        self.tell(connection, message.xid, answer);
    }

    /// A frame of discovery reaches the next switch.
    fn pass_on(
        &mut self,
        from: ConnectionId,
        actions: &[mptcplab_openflow::Action],
        data: Vec<u8>,
    ) {
        let to = match actions {
            [mptcplab_openflow::Action::Output { port: 2, .. }] if from.0 < SWITCHES => {
                (ConnectionId(from.0 + 1), 1)
            }
            [mptcplab_openflow::Action::Output { port: 1, .. }] if from.0 > 1 => {
                (ConnectionId(from.0 - 1), 2)
            }
            _ => return,
        };
        self.tell(to.0, 0, packet_in(to.1, 0, data));
    }

    fn connection(&mut self, port: u16) {
        let (first, last) = (ConnectionId(1), ConnectionId(SWITCHES));
        let frames = frames(port);
        let [syn, answer, third] = frames;
        self.tell(first, 0, packet_in(1, 0, syn));
        let cookie = self.rules.last().map_or(0, |(_, cookie, _)| *cookie);
        self.tell(last, 0, packet_in(2, cookie, answer));
        self.tell(first, 0, packet_in(1, cookie, third));
        assert_eq!(
            self.rules.len(),
            2,
            "both directions have a rule that tells of its end"
        );
        for (connection, cookie, fields) in std::mem::take(&mut self.rules) {
            let removed = FlowRemoved {
                cookie,
                priority: 1000,
                reason: FlowRemovedReason::IdleTimeout,
                table: 0,
                duration: Elapsed::default(),
                idle_timeout: 10,
                hard_timeout: 0,
                packet_count: 1,
                byte_count: 100,
                fields,
            };
            self.tell(connection, 0, Body::FlowRemoved(removed));
        }
    }
}

fn packet_in(port: u32, cookie: u64, data: Vec<u8>) -> Body {
    Body::PacketIn(PacketIn {
        buffer: None,
        total_len: data.len() as u16,
        reason: match cookie {
            0 => PacketInReason::NoMatch,
            _ => PacketInReason::Action,
        },
        table: 0,
        cookie,
        fields: Match::new([Oxm::exact(Field::InPort, port)]),
        data,
    })
}

/// The three segments of a handshake.
fn frames(port: u16) -> [Vec<u8>; 3] {
    let capable = |sender_key, receiver_key| Capable {
        version: 1,
        checksum: false,
        extension: false,
        no_initial_address: false,
        hmac: true,
        sender_key,
        receiver_key,
        data_bytes: None,
        data_checksum: None,
    };
    let key = u64::from(port);
    [
        frame(
            CLIENT,
            SERVER,
            [port, 80],
            (true, false),
            capable(None, None),
        ),
        frame(
            SERVER,
            CLIENT,
            [80, port],
            (true, true),
            capable(Some(key), None),
        ),
        frame(
            CLIENT,
            SERVER,
            [port, 80],
            (false, true),
            capable(Some(!key), Some(key)),
        ),
    ]
}

fn frame(
    from: ([u8; 6], [u8; 4]),
    to: ([u8; 6], [u8; 4]),
    ports: [u16; 2],
    (syn, ack): (bool, bool),
    capable: Capable,
) -> Vec<u8> {
    let mut options = Options::default();
    options.mptcp.push(MptcpOption::Capable(capable));
    let segment = Segment {
        source: (from.1, ports[0]).into(),
        destination: (to.1, ports[1]).into(),
        sequence: 0,
        acknowledgement: 0,
        flags: Flags {
            syn,
            ack,
            ..Flags::default()
        },
        window: 1000,
        urgent: 0,
        options,
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    };
    let mut frame = [&to.0[..], &from.0, &[8, 0]].concat();
    segment.into_packet(64).write_to(&mut frame);
    frame
}

/// A question in which a host tells of itself.
fn question(host: ([u8; 6], [u8; 4])) -> Vec<u8> {
    let mut frame = [&[0xff; 6][..], &host.0, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]].concat();
    frame.extend(host.0);
    frame.extend(host.1);
    frame.extend([0; 6]);
    frame.extend(host.1);
    frame
}

fn connections(criterion: &mut Criterion) {
    let mut network = Network::new();
    network.tell(ConnectionId(1), 0, packet_in(1, 0, question(CLIENT)));
    network.tell(ConnectionId(SWITCHES), 0, packet_in(2, 0, question(SERVER)));
    let links = network.controller.topology().links.len();
    assert_eq!(links, 4, "the three switches are found");
    let mut group = criterion.benchmark_group("connections");
    group.throughput(Throughput::Elements(1));
    let mut port = 0_u16;
    group.bench_function("over three switches", |bencher| {
        bencher.iter(|| {
            port = port.wrapping_add(1);
            // 10,000 a second.
            network.now_ns += 100_000;
            network.connection(port);
            black_box(&network.controller);
        });
    });
    assert!(!network.controller.connections().is_empty());
    group.finish();
}

criterion_group!(benches, connections);
criterion_main!(benches);
