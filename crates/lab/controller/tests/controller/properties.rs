//! Properties of the controller under any messages of switches and any frames of hosts.

use mptcplab_controller::{Config, ConnectionId, Controller, Limits, Output, TransferSize, policy};
use mptcplab_openflow::flow::{FlowFlags, FlowRemoved, FlowRemovedReason};
use mptcplab_openflow::multipart::{FlowStats, Part, PortStats, Reply};
use mptcplab_openflow::packet::{PacketIn, PacketInReason};
use mptcplab_openflow::port::{Port, PortReason, PortState, PortStatus};
use mptcplab_openflow::setup::{Capabilities, Features};
use mptcplab_openflow::{Body, Elapsed, Field, Hello, Match, Message, Oxm};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::host::{Host, capable, flags, join};

/// A step of a script.
#[derive(Clone, Debug)]
enum Step {
    Connect(u32),
    Disconnect(u32),
    /// A message, with the transaction of one of the last messages to the switch.
    Say(u32, usize, Body),
    /// A frame of discovery that the controller has sent, by another port.
    Replay(u32, u32, usize),
    Wait(u64),
}

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let hosts = [Host::new(at(1), "10.0.0.1"), Host::new(at(2), "10.0.0.2")];
    let [one, other] = hosts;
    let segment = |from: &Host, to: &Host, port, flags, options| {
        let segment = from.segment((to.ip, 80).into(), port, flags, options);
        from.frame(to.mac, segment)
    };
    let token = mptcplab_wire::keys::Key(7).token();
    let whole = vec![
        one.arp_request("10.0.0.2"),
        other.arp_request("10.0.0.2"),
        other.arp_request("10.0.0.1"),
        segment(
            &one,
            &other,
            1,
            flags(true, false),
            vec![capable(None, None)],
        ),
        segment(&one, &other, 2, flags(true, false), vec![join(token)]),
        segment(
            &one,
            &other,
            1,
            flags(false, true),
            vec![capable(Some(5), Some(7))],
        ),
        segment(
            &other,
            &one,
            1,
            flags(true, true),
            vec![capable(Some(7), None)],
        ),
        segment(&one, &other, 3, flags(true, false), Vec::new()),
    ];
    let whole = select(whole);
    let damaged = (
        whole.clone(),
        vec((any::<usize>(), any::<u8>()), 0..4),
        any::<usize>(),
    );
    let damaged = damaged.prop_map(|(mut frame, changes, length)| {
        for (place, byte) in changes {
            let place = place % frame.len();
            frame[place] = byte;
        }
        frame.truncate(length % (frame.len() + 1));
        frame
    });
    prop_oneof![4 => whole, 2 => damaged, 1 => vec(any::<u8>(), 0..80)]
}

fn at(port: u32) -> mptcplab_controller::PortRef {
    mptcplab_controller::PortRef::new(1, port)
}

fn port() -> impl Strategy<Value = Port> {
    (0..5_u32, any::<bool>(), any::<u32>()).prop_map(|(port, is_down, curr_speed)| Port {
        port,
        state: if is_down {
            PortState::LINK_DOWN
        } else {
            PortState::LIVE
        },
        curr_speed,
        ..Port::default()
    })
}

fn body() -> impl Strategy<Value = Body> {
    let features = (0..3_u64, 0..2_u8).prop_map(|(datapath_id, auxiliary_id)| {
        Body::FeaturesReply(Features {
            datapath_id,
            n_buffers: 0,
            n_tables: 1,
            auxiliary_id,
            capabilities: Capabilities::empty(),
        })
    });
    let packet = (0..5_u32, frame(), select(PacketInReason::ALL), 0..6_u64);
    let packet = packet.prop_map(|(in_port, data, reason, cookie)| {
        Body::PacketIn(PacketIn {
            buffer: None,
            total_len: data.len() as u16,
            reason,
            table: 0,
            cookie,
            fields: Match::new([Oxm::exact(Field::InPort, in_port)]),
            data,
        })
    });
    let removed = (0..6_u64, any::<u64>(), select(FlowRemovedReason::ALL));
    let removed = removed.prop_map(|(cookie, count, reason)| {
        Body::FlowRemoved(FlowRemoved {
            cookie,
            priority: 1,
            reason,
            table: 0,
            duration: Elapsed::default(),
            idle_timeout: 0,
            hard_timeout: 0,
            packet_count: count,
            byte_count: count,
            fields: Match::default(),
        })
    });
    let status = (select(PortReason::ALL), port())
        .prop_map(|(reason, port)| Body::PortStatus(PortStatus { reason, port }));
    let reply = |content| {
        Body::MultipartReply(Part {
            more: false,
            content,
        })
    };
    let ports = vec(port(), 0..6).prop_map(move |ports| reply(Reply::PortDesc(ports)));
    let statistics =
        (0..5_u32, any::<u64>(), any::<u32>()).prop_map(move |(port, bytes, seconds)| {
            reply(Reply::PortStats(vec![PortStats {
                port,
                tx_bytes: bytes,
                duration: Elapsed {
                    seconds,
                    nanoseconds: seconds,
                },
                ..PortStats::default()
            }]))
        });
    let counters = (0..6_u64, any::<u64>(), any::<u64>());
    let counters = vec(counters, 0..4).prop_map(move |entries| {
        let entry = |(cookie, packet_count, byte_count)| FlowStats {
            table: 0,
            duration: Elapsed::default(),
            priority: 1,
            idle_timeout: 0,
            hard_timeout: 0,
            flags: FlowFlags::empty(),
            cookie,
            packet_count,
            byte_count,
            fields: Match::default(),
            instructions: Vec::new(),
        };
        reply(Reply::Flow(entries.into_iter().map(entry).collect()))
    });
    let error = Body::Error(mptcplab_openflow::ErrorMessage {
        kind: mptcplab_openflow::error::FlowModFailed::TableFull.into(),
        data: Vec::new(),
    });
    prop_oneof![
        2 => Just(Body::Hello(Hello::ours())),
        2 => features,
        8 => packet,
        2 => removed,
        2 => status,
        2 => ports,
        1 => statistics,
        1 => counters,
        4 => Just(Body::BarrierReply),
        1 => Just(Body::EchoReply(Vec::new())),
        1 => Just(Body::EchoRequest(vec![1; 9])),
        1 => Just(error),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (0..3_u32).prop_map(Step::Connect),
        1 => (0..3_u32).prop_map(Step::Disconnect),
        20 => (0..3_u32, 0..8_usize, body()).prop_map(|(id, xid, body)| Step::Say(id, xid, body)),
        4 => (0..3_u32, 0..5_u32, 0..8_usize)
            .prop_map(|(id, port, which)| Step::Replay(id, port, which)),
        3 => (0..3_000_000_000_u64).prop_map(Step::Wait),
    ]
}

/// The memory of a hostile network.
#[derive(Default)]
struct Seen {
    xids: Vec<u32>,
    frames: Vec<Vec<u8>>,
}

impl Seen {
    fn take(&mut self, out: &mut Vec<Output>) {
        for one in out.drain(..) {
            let Output::Message { message, .. } = one else {
                continue;
            };
            let mut bytes = Vec::new();
            message.encode(&mut bytes).expect("it fits a message");
            assert_eq!(Message::decode(&bytes), Ok(message.clone()));
            self.xids.push(message.xid);
            if let Body::PacketOut(packet) = message.body
                && packet.data.get(12..14) == Some(&[0x88, 0xcc])
            {
                self.frames.push(packet.data);
            }
        }
    }
}

fn packet_in(port: u32, data: Vec<u8>) -> Body {
    Body::PacketIn(PacketIn {
        buffer: None,
        total_len: data.len() as u16,
        reason: PacketInReason::Action,
        table: 0,
        cookie: 0,
        fields: Match::new([Oxm::exact(Field::InPort, port)]),
        data,
    })
}

/// The `back`-th of a list from its end.
fn last<T: Clone>(list: &[T], back: usize) -> Option<T> {
    let index = list.len().checked_sub(1 + back)?;
    list.get(index).cloned()
}

proptest! {
    #[test]
    fn no_switch_and_no_host_can_harm_it(
        name in select(vec!["shortest", "disjoint", "mpsshetn", "ecmp", "least-used", "earliest-completion"]),
        tcp_fallback: bool,
        steps in vec(step(), 0..120),
    ) {
        let limits = Limits {
            ports: 4,
            hosts_by_port: 3,
            connections: 5,
            subflows: 3,
            held_packets: 6,
            ..Limits::default()
        };
        let size = TransferSize { server: "10.0.0.2".parse().expect("an address"), port: 80, bytes: 10_000 };
        let sizes = Vec::from_iter(tcp_fallback.then_some(size));
        let config = Config { limits, learn_sizes: true, tcp_fallback, sizes, ..Config::default() };
        let mut controller = Controller::new(config, policy(name, 1).expect("a policy"));
        let mut seen = Seen::default();
        let (mut out, mut now_ns) = (Vec::new(), 0);
        for id in 0..3 {
            controller.connect(now_ns, ConnectionId(id), &mut out);
            for body in [Body::Hello(Hello::ours()), Body::FeaturesReply(Features {
                datapath_id: id.into(),
                n_buffers: 0,
                n_tables: 1,
                auxiliary_id: 0,
                capabilities: Capabilities::empty(),
            })] {
                controller.receive_message(now_ns, ConnectionId(id), &Message::new(0, body), &mut out);
            }
            seen.take(&mut out);
        }
        for step in steps {
            match step {
                Step::Connect(id) => controller.connect(now_ns, ConnectionId(id), &mut out),
                Step::Disconnect(id) => controller.disconnect(now_ns, ConnectionId(id), &mut out),
                Step::Say(id, back, body) => {
                    let xid = last(&seen.xids, back).unwrap_or(0);
                    let message = Message::new(xid, body);
                    controller.receive_message(now_ns, ConnectionId(id), &message, &mut out);
                }
                Step::Replay(id, port, back) => {
                    if let Some(frame) = last(&seen.frames, back) {
                        let message = Message::new(0, packet_in(port, frame));
                        controller.receive_message(now_ns, ConnectionId(id), &message, &mut out);
                    }
                }
                Step::Wait(nanos) => {
                    now_ns += nanos;
                    controller.advance(now_ns, &mut out);
                }
            }
            seen.take(&mut out);
            prop_assert!(controller.connections().len() <= 5);
            prop_assert!(controller.topology().hosts.len() <= 3 * 4 * 3);
            prop_assert!(controller.table_entries() < 300, "{}", controller.table_entries());
            prop_assert!(controller.next_deadline().is_none_or(|at_ns| at_ns >= now_ns));
        }
    }
}
