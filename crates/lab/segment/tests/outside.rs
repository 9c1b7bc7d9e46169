//! Channels with an end outside: when messages leave and arrive, and which they are.

use mptcplab_openflow::{Body, Hello, Message};
use mptcplab_plan::Plan;
use mptcplab_segment::{Carried, Leaving, PolicySupply, Recipient, Switching, discovered};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;
/// One way of each channel.
const DELAY: u64 = 3 * MS;

/// One switch, here or outside, with this controller.
fn switching(is_open_vswitch: bool, controller: Value) -> Switching {
    let interface = json!({
        "name": "one", "addresses": [], "gateways": [], "mtu": 1500, "address_delay_ns": 0,
        "endpoint": null,
    });
    let node = json!({
        "name": "s1", "router": false,
        "switch": {"datapath_id": 1, "is_open_vswitch": is_open_vswitch},
        "interfaces": [interface], "routes": [],
        "mptcp": {
            "enabled": false, "checksum": false, "syn_retries": null, "scheduler": null,
            "subflows_per_pair": 1, "limit_subflows": 0, "limit_add_addr_accepted": 0,
        },
        "clock_granularity_ns": 1, "pacing": false, "sysctls": {},
    });
    let plan = json!({
        "seed": 1, "nodes": [node], "links": [], "traffic": [], "events": [],
        "sample_interval_ns": 1, "capture": null, "time_limit_ns": 1, "controller": controller,
    });
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let (switching, warning) = discovered(&plan, Vec::new(), None::<PolicySupply>).unwrap();
    assert_eq!(warning, None);
    switching
}

fn controller(policy: Option<&str>, rate_bps: Option<u64>) -> Value {
    json!({
        "policy": policy, "argv": policy.is_none().then_some(["app"]),
        "channel_delay_ns": DELAY, "channel_rate_bps": rate_bps, "sizes": "told",
    })
}

/// Everything that leaves until a time, inclusive.
fn leaving(switching: &mut Switching, until: u64) -> Vec<Leaving> {
    while let Some(next) = switching.next_deadline().filter(|next| *next <= until) {
        switching.advance(next, &mut Vec::new());
    }
    switching.take_leaving()
}

fn hello() -> Carried {
    Carried::Message(Message::new(0, Body::Hello(Hello::ours())))
}

fn is_hello(leaving: &[Leaving], to: Recipient) -> bool {
    matches!(leaving, [Leaving::Message(end, Carried::Message(message))]
        if *end == to && matches!(message.body, Body::Hello(_)))
}

#[test]
fn a_switch_speaks_with_a_controller_outside_over_its_channel() {
    let mut switching = switching(false, controller(None, None));
    assert_eq!(leaving(&mut switching, 100 * MS), []);
    switching.connect(100 * MS, 0, &mut Vec::new());
    assert_eq!(leaving(&mut switching, 100 * MS + DELAY - 1), []);
    let first = leaving(&mut switching, 100 * MS + DELAY);
    assert!(is_hello(&first, Recipient::Controller(0)), "{first:?}");

    let request = Message::new(7, Body::EchoRequest(vec![1, 2]));
    let to_switch = Recipient::Switch(0);
    switching.receive_message(200 * MS, to_switch, Carried::Message(request));
    assert_eq!(leaving(&mut switching, 200 * MS + 2 * DELAY - 1), []);
    let reply = Message::new(7, Body::EchoReply(vec![1, 2]));
    assert_eq!(
        leaving(&mut switching, 200 * MS + 2 * DELAY),
        [Leaving::Message(
            Recipient::Controller(0),
            Carried::Message(reply)
        )]
    );
    let told = switching.take_decisions();
    let told: Vec<_> = told.iter().map(|one| (one.t_ns, &*one.label)).collect();
    assert_eq!(told, [(100 * MS, "connected")]);
}

#[test]
fn a_message_takes_its_length_over_the_rate() {
    // 16 bytes of a hello with its bitmap: 16 ms at 8 kbit/s.
    let mut switching = switching(false, controller(None, Some(8_000)));
    switching.connect(0, 0, &mut Vec::new());
    assert_eq!(leaving(&mut switching, 16 * MS + DELAY - 1), []);
    assert_eq!(leaving(&mut switching, 16 * MS + DELAY).len(), 1);
}

#[test]
fn a_controller_speaks_with_a_switch_outside() {
    let mut switching = switching(true, controller(Some("shortest"), None));
    assert!(!switching.is_whole());
    assert_eq!(leaving(&mut switching, 50 * MS), []);
    switching.connect(50 * MS, 0, &mut Vec::new());
    let first = leaving(&mut switching, 50 * MS + DELAY);
    assert!(is_hello(&first, Recipient::Switch(0)), "{first:?}");
    switching.receive_message(60 * MS, Recipient::Controller(0), hello());
    let next = leaving(&mut switching, 60 * MS + 2 * DELAY);
    assert!(
        matches!(&next[..], [Leaving::Message(Recipient::Switch(0), Carried::Message(message))]
            if message.body == Body::FeaturesRequest),
        "{next:?}"
    );
}

#[test]
fn between_two_ends_outside_bytes_pass_as_they_came() {
    let mut switching = switching(true, controller(None, None));
    // Of no version of OpenFlow that is known here.
    let bytes = Carried::Bytes(vec![9, 200, 0, 9, 0, 0, 0, 1, 42]);
    for to in [Recipient::Controller(0), Recipient::Switch(0)] {
        switching.receive_message(10 * MS, to, bytes.clone());
        assert_eq!(leaving(&mut switching, 10 * MS + DELAY - 1), []);
        let passed = leaving(&mut switching, 10 * MS + DELAY);
        assert_eq!(passed, [Leaving::Message(to, bytes.clone())]);
    }
}

#[test]
fn messages_on_a_channel_that_ends_are_lost() {
    let mut switching = switching(false, controller(None, None));
    switching.connect(0, 0, &mut Vec::new());
    switching.disconnect(DELAY - 1, 0);
    assert_eq!(leaving(&mut switching, 1_000 * MS), []);
    let told = switching.take_decisions();
    assert_eq!(
        told.last().map(|one| &*one.label),
        Some("disconnected"),
        "the switch does not connect again by itself"
    );
}

#[test]
fn times_are_those_since_the_begin_of_the_run() {
    let mut switching = switching(false, controller(None, None));
    switching.connect(0, 0, &mut Vec::new());
    leaving(&mut switching, 2_000 * MS);
    switching.begin(2_000 * MS);
    assert_eq!(switching.take_decisions(), []);
    let request = Carried::Message(Message::new(1, Body::EchoRequest(vec![])));
    switching.receive_message(MS, Recipient::Switch(0), request);
    assert_eq!(switching.next_deadline(), Some(MS + DELAY));
}
