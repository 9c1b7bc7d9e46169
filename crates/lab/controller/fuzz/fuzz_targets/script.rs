//! A script of messages of switches, connections and time: nothing panics, tables keep their bounds,
//! and all that the controller says is a message that can be written and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_controller::{
    Config, ConnectionId, Controller, Limits, Output, TransferSize, policy,
};
use mptcplab_openflow::{Body, Message, VERSION};

/// Steps that are no message, by numbers that no type of message has.
const WAIT: u8 = 0xf0;
const CONNECT: u8 = 0xf1;
const DISCONNECT: u8 = 0xf2;
const REPLAY: u8 = 0xf3;

/// Steps of a script: a number, a length in two bytes, and so many bytes.
fn steps(mut script: &[u8]) -> Vec<(u8, &[u8])> {
    let mut steps = Vec::new();
    while let [kind, high, low, rest @ ..] = script {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let (content, after) = rest.split_at(length.min(rest.len()));
        steps.push((*kind, content));
        script = after;
    }
    steps
}

/// A message of a type with a body.
fn message(kind: u8, xid: u32, body: &[u8]) -> Option<Message> {
    let mut bytes = vec![VERSION, kind];
    bytes.extend(u16::try_from(8 + body.len()).ok()?.to_be_bytes());
    bytes.extend(xid.to_be_bytes());
    bytes.extend(body);
    Message::decode(&bytes).ok()
}

fuzz_target!(|script: &[u8]| {
    let (name, script) = match script.split_first() {
        Some((0, rest)) => ("mpsshetn", rest),
        Some((1, rest)) => ("ecmp", rest),
        Some((2, rest)) => ("shortest", rest),
        Some((3, rest)) => ("disjoint", rest),
        Some((_, rest)) => ("earliest-completion", rest),
        None => return,
    };
    let limits = Limits {
        ports: 4,
        hosts_by_port: 3,
        connections: 5,
        subflows: 3,
        held_packets: 6,
        ..Limits::default()
    };
    let config = Config {
        limits,
        learn_sizes: true,
        tcp_fallback: true,
        sizes: vec![TransferSize {
            server: [10, 0, 0, 2].into(),
            port: 80,
            bytes: 10_000,
        }],
        is_master: name == "shortest",
        ..Config::default()
    };
    let policy = policy(name, 1).expect("there is such a policy");
    let mut controller = Controller::new(config, policy);
    let mut out = Vec::new();
    let mut now_ns = 0;
    // The last transactions, and the last frame that a switch was given to send.
    let mut xid = 0;
    let mut frame = Vec::new();
    for (kind, content) in steps(script) {
        let first = content.first().copied().unwrap_or(0);
        let connection = ConnectionId(u32::from(first & 3));
        match kind {
            WAIT => {
                now_ns += u64::from(first) << 24;
                controller.advance(now_ns, &mut out);
            }
            CONNECT => controller.connect(now_ns, connection, &mut out),
            DISCONNECT => controller.disconnect(now_ns, connection, &mut out),
            // A packet that a switch was given comes back by a port.
            REPLAY => {
                let mut body = vec![0xff; 4];
                body.extend([0, 0, 1, 0]);
                body.extend([0; 8]);
                body.extend([0, 1, 0, 12, 0x80, 0, 0, 4, 0, 0, 0, first >> 2]);
                body.extend([0; 6]);
                body.extend(&frame);
                if let Some(message) = message(10, 0, &body) {
                    controller.receive_message(now_ns, connection, &message, &mut out);
                }
            }
            // The upper bits say which switch speaks.
            kind => {
                if let Some(message) = message(kind & 0x1f, xid, content) {
                    let connection = ConnectionId(u32::from(kind >> 5));
                    controller.receive_message(now_ns, connection, &message, &mut out);
                }
            }
        }
        assert!(controller.connections().len() <= 5);
        assert!(controller.table_entries() < 1000);
        for output in out.drain(..) {
            if let Output::Message { message, .. } = output {
                let mut bytes = Vec::new();
                message.encode(&mut bytes).expect("it fits a message");
                assert_eq!(Message::decode(&bytes), Ok(message.clone()));
                xid = message.xid;
                if let Body::PacketOut(packet) = message.body {
                    frame = packet.data;
                }
            }
        }
    }
});
