//! A script of messages, packets, changes of links and time: nothing panics, accounts add up, and
//! all that a switch says is a message that can be written and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_openflow::{Message, VERSION};
use mptcplab_switch::{Config, ControllerId, Output, PortSetup, Switch};

/// Steps that are no message, by numbers that no type of message has.
const FRAME: u8 = 0xf0;
const WAIT: u8 = 0xf1;
const LINK: u8 = 0xf2;
const CONNECT: u8 = 0xf3;

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
fn message(kind: u8, body: &[u8]) -> Option<Message> {
    let mut bytes = vec![VERSION, kind];
    bytes.extend(u16::try_from(8 + body.len()).ok()?.to_be_bytes());
    bytes.extend([0, 0, 0, 1]);
    bytes.extend(body);
    Message::decode(&bytes).ok()
}

fn adds_up(switch: &Switch) -> bool {
    let account = switch.account();
    let taken = account.received + account.injected + account.unbuffered;
    let kept = account.unbuffered + account.expired + switch.buffered_now() as u64;
    taken == account.forwarded + account.dropped.total()
        && account.attempts == account.sent + account.packet_ins + account.blocked.total()
        && account.buffered == kept
}

fuzz_target!(|script: &[u8]| {
    let mut switch = Switch::new(Config {
        tables: 4,
        buffers: 2,
        ports: (1..=3).map(PortSetup::new).collect(),
        ..Config::default()
    });
    let mut out = Vec::new();
    let mut now_ns = 0;
    switch.connect(ControllerId(0), &mut out);
    for (kind, content) in steps(script) {
        let first = content.first().copied().unwrap_or(0);
        match kind {
            FRAME => {
                let frame = content.get(1..).unwrap_or_default().to_vec();
                let bytes = frame.len() as u64;
                switch.receive_packet(now_ns, first.into(), frame.into(), &mut out);
                switch.repeat(now_ns, first.into(), bytes);
            }
            WAIT => {
                now_ns += u64::from(first) << 24;
                switch.advance(now_ns, &mut out);
            }
            LINK => switch.set_link(u32::from(first >> 1), first & 1 == 1, &mut out),
            CONNECT => switch.connect(ControllerId(first.into()), &mut out),
            // The upper bits say which controller speaks.
            kind => {
                if let Some(message) = message(kind & 0x1f, content) {
                    let controller = ControllerId(u32::from(kind >> 5));
                    switch.receive_message(now_ns, controller, &message, &mut out);
                }
            }
        }
        assert!(adds_up(&switch), "{:?}", switch.account());
        for output in out.drain(..) {
            if let Output::Message { message, .. } = output {
                let mut bytes = Vec::new();
                message.encode(&mut bytes).expect("it fits a message");
                assert_eq!(Message::decode(&bytes), Ok(message));
            }
        }
    }
});
