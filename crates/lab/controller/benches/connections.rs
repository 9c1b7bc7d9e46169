//! Time that a new connection of MPTCP takes: the SYN, rules and barriers of three switches, the
//! copies of the SYN/ACK and of the third ACK, and the end of its rules; in a row of switches, and in
//! a ring of four, where there is a way round each link.

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

/// Links as switch, port, switch, port: a row, and what makes it a ring.
const ROW: [[u32; 4]; 2] = [[1, 2, 2, 1], [2, 2, 3, 1]];
const RING: [[u32; 4]; 4] = [[1, 2, 2, 1], [2, 2, 3, 1], [1, 3, 4, 1], [4, 2, 3, 3]];
/// The switches of the client and of the server, and the ports of these.
const FIRST: (ConnectionId, u32) = (ConnectionId(1), 1);
const LAST: (ConnectionId, u32) = (ConnectionId(3), 2);
const CLIENT: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 1], [10, 0, 0, 1]);
const SERVER: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 2], [10, 0, 0, 2]);

/// Switches of three ports that do what they are told.
struct Network {
    links: &'static [[u32; 4]],
    controller: Controller,
    now_ns: u64,
    rules: Vec<(ConnectionId, u64, Match)>,
}

impl Network {
    fn new(links: &'static [[u32; 4]]) -> Self {
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
            links,
            controller: Controller::new(config, policy),
            now_ns: 0,
            rules: Vec::new(),
        };
        let switches = links.iter().flat_map(|link| [link[0], link[2]]);
        for switch in 1..=switches.max().unwrap_or(0) {
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
                    content: Reply::PortDesc([1, 2, 3].map(port).to_vec()),
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
        let Some(mptcplab_openflow::Action::Output { port, .. }) = actions.first() else {
            return;
        };
        let ends = self
            .links
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c, d], [c, d, a, b]]);
        let mut others = ends.filter(|end| end[..2] == [from.0, *port]);
        let Some([_, _, switch, in_port]) = others.next() else {
            return;
        };
        self.tell(ConnectionId(switch), 0, packet_in(in_port, 0, data));
    }

    fn connection(&mut self, port: u16) {
        let ((first, client_at), (last, server_at)) = (FIRST, LAST);
        let frames = frames(port);
        let [syn, answer, third] = frames;
        self.tell(first, 0, packet_in(client_at, 0, syn));
        let cookie = self.rules.last().map_or(0, |(_, cookie, _)| *cookie);
        self.tell(last, 0, packet_in(server_at, cookie, answer));
        self.tell(first, 0, packet_in(client_at, cookie, third));
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
    let mut group = criterion.benchmark_group("connections");
    group.throughput(Throughput::Elements(1));
    let networks: [(&str, &'static [[u32; 4]]); 2] = [
        ("over three switches", &ROW),
        ("over three switches of a ring", &RING),
    ];
    for (name, all) in networks {
        let mut network = Network::new(all);
        for ((switch, port), host) in [(FIRST, CLIENT), (LAST, SERVER)] {
            network.tell(switch, 0, packet_in(port, 0, question(host)));
        }
        let links = network.controller.topology().links.len();
        assert_eq!(links, 2 * all.len(), "all switches are found");
        let mut port = 0_u16;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                port = port.wrapping_add(1);
                // 10,000 a second.
                network.now_ns += 100_000;
                network.connection(port);
                black_box(&network.controller);
            });
        });
        assert!(!network.controller.connections().is_empty());
    }
    group.finish();
}

criterion_group!(benches, connections);
criterion_main!(benches);
