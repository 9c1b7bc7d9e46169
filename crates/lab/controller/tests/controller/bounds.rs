//! Memory: bounded, and flat over any number of connections.

use mptcplab_controller::{Config, ConnectionId, Controller, Limits, Output};
use mptcplab_openflow::flow::{FlowRemoved, FlowRemovedReason};
use mptcplab_openflow::{Body, Elapsed, Field, Message};

use crate::host::{Host, capable};
use crate::network::{MILLISECOND, Network, SECOND};

/// Opens connections as one switch would tell of them, answers barriers, and ends all.
struct Rush {
    controller: Controller,
    now_ns: u64,
    hosts: [Host; 2],
    cookies: Vec<(u64, mptcplab_openflow::Match)>,
}

const SWITCH: ConnectionId = ConnectionId(1);

impl Rush {
    fn new(limits: Limits) -> Self {
        let mut network = Network::new(
            Config {
                limits,
                ..Config::default()
            },
            "disjoint",
            1,
            4,
            &[],
        );
        network.add_host(1, 1, "10.0.0.1");
        network.add_host(1, 2, "10.0.0.2");
        network.run(SECOND);
        network.syn(0, 1, 1, vec![capable(None, None)]);
        network.run(100 * MILLISECOND);
        let hosts = [network.hosts[0].clone(), network.hosts[1].clone()];
        Self {
            controller: network.controller,
            now_ns: network.now_ns,
            hosts,
            cookies: Vec::new(),
        }
    }

    fn tell(&mut self, xid: u32, body: Body) {
        let mut out = Vec::new();
        let message = Message::new(xid, body);
        self.controller
            .receive_message(self.now_ns, SWITCH, &message, &mut out);
        let mut answers = Vec::new();
        for one in out {
            let Output::Message { message, .. } = one else {
                continue;
            };
            match message.body {
                Body::BarrierRequest => answers.push(message.xid),
                Body::EchoRequest(_) => self.tell(message.xid, Body::EchoReply(Vec::new())),
                Body::FlowMod(request)
                    if request.cookie != 0 && !request.instructions.is_empty() =>
                {
                    self.cookies.push((request.cookie, request.fields));
                }
                _ => {}
            }
        }
        for xid in answers {
            self.tell(xid, Body::BarrierReply);
        }
    }

    fn open(&mut self, port: u16) {
        let [client, server] = &self.hosts;
        let to = (server.ip, 80).into();
        let flags = crate::host::flags(true, false);
        let segment = client.segment(to, port, flags, vec![capable(None, None)]);
        let data = client.frame(server.mac, segment);
        let in_port = mptcplab_openflow::Oxm::exact(Field::InPort, 1_u32);
        self.tell(
            0,
            Body::PacketIn(mptcplab_openflow::packet::PacketIn {
                buffer: None,
                total_len: data.len() as u16,
                reason: mptcplab_openflow::packet::PacketInReason::NoMatch,
                table: 0,
                cookie: 0,
                fields: mptcplab_openflow::Match::new([in_port]),
                data,
            }),
        );
    }

    fn end_all(&mut self) {
        for (cookie, fields) in std::mem::take(&mut self.cookies) {
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
            self.tell(0, Body::FlowRemoved(removed));
        }
    }
}

fn limits(connections: usize) -> Limits {
    Limits {
        connections,
        packet_ins_by_port: u32::MAX,
        ..Limits::default()
    }
}

/// Connections that come and go, so many of them.
fn come_and_go(count: u32) {
    let mut rush = Rush::new(limits(1 << 14));
    let before = rush.controller.table_entries();
    let mut most = 0;
    for number in 0..count {
        rush.open(number as u16);
        // A thousand at a time, ten seconds of silence, forgotten after a minute.
        if number % 1000 == 999 {
            rush.now_ns += 10 * SECOND;
            rush.end_all();
        }
        if number == 20_000 {
            most = rush.controller.table_entries();
        }
        assert!(number <= 20_000 || rush.controller.table_entries() <= 2 * most);
    }
    rush.now_ns += 100 * SECOND;
    rush.tell(0, Body::EchoRequest(Vec::new()));
    let after = rush.controller.table_entries();
    assert!(after <= before, "{after} entries, {before} before");
}

#[test]
fn connections_that_come_and_go_leave_nothing() {
    come_and_go(30_000);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute where it is not optimised")]
fn a_million_connections_that_come_and_go_keep_memory_flat() {
    come_and_go(1_000_000);
}

#[test]
fn connections_that_never_end_are_bounded() {
    let mut rush = Rush::new(limits(100));
    for port in 0..5_000 {
        rush.open(port);
        assert!(rush.controller.connections().len() <= 100);
    }
    assert!(rush.controller.table_entries() < 1_000);
}
