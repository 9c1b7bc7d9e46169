//! The role of the controller at its switches.

use mptcplab_controller::{Config, ConnectionId, Controller, Event, Output, policy};
use mptcplab_openflow::error::{BadRequest, ErrorKind, ErrorMessage, RoleRequestFailed};
use mptcplab_openflow::setup::{Capabilities, Features, Role, RoleMessage};
use mptcplab_openflow::{Body, Hello, Message};
use mptcplab_switch::ControllerId;

use crate::network::{Network, SECOND};

const CHANNEL: ConnectionId = ConnectionId(1);

fn config() -> Config {
    Config {
        is_master: true,
        ..Config::default()
    }
}

fn role(role: Role, generation_id: u64) -> RoleMessage {
    RoleMessage {
        role,
        generation_id,
    }
}

/// A controller, and the messages of its last answer.
struct Alone {
    controller: Controller,
    said: Vec<Message>,
}

impl Alone {
    /// A controller to which a switch has said its features.
    fn new() -> Self {
        let shortest = policy("shortest", 0).expect("a policy");
        let mut alone = Self {
            controller: Controller::new(config(), shortest),
            said: Vec::new(),
        };
        alone.controller.connect(0, CHANNEL, &mut Vec::new());
        alone.receive(0, Body::Hello(Hello::ours()));
        let features = Features {
            datapath_id: 1,
            n_buffers: 0,
            n_tables: 1,
            auxiliary_id: 0,
            capabilities: Capabilities::default(),
        };
        alone.receive(0, Body::FeaturesReply(features));
        alone
    }

    fn receive(&mut self, xid: u32, body: Body) {
        let mut out = Vec::new();
        self.controller
            .receive_message(0, CHANNEL, &Message::new(xid, body), &mut out);
        self.said = out.into_iter().filter_map(message).collect();
    }

    /// The role that the controller asks for, and the transaction.
    fn asked(&self) -> (u32, RoleMessage) {
        match &self.said[..] {
            [
                Message {
                    xid,
                    body: Body::RoleRequest(asked),
                },
            ] => (*xid, *asked),
            other => panic!("no request for a role alone: {other:?}"),
        }
    }

    fn refuse(&mut self, kind: impl Into<ErrorKind>) {
        let (xid, _) = self.asked();
        let data = Vec::new();
        let kind = kind.into();
        self.receive(xid, Body::Error(ErrorMessage { kind, data }));
    }

    /// Whether the last answer has the first rules.
    fn is_set_up(&self) -> bool {
        let mut said = self.said.iter();
        said.any(|message| matches!(message.body, Body::FlowMod(_)))
    }

    fn is_told_not_master(&self) -> bool {
        let mut events = self.controller.events_since(0);
        events.any(|(_, _, event)| *event == Event::NotMaster(1))
    }
}

fn message(output: Output) -> Option<Message> {
    match output {
        Output::Message { message, .. } => Some(message),
        Output::Close(_) => None,
    }
}

#[test]
fn each_switch_takes_the_controller_as_its_master() {
    let mut network = Network::birzeit("disjoint", config());
    assert!(network.events().contains(&Event::SwitchUp(1)));
    // Another controller becomes the master.
    let other = ControllerId(1);
    let switch = network.switches.get_mut(&1).expect("a switch");
    switch.connect(other, &mut Vec::new());
    let mut out = Vec::new();
    let newest = Message::new(5, Body::RoleRequest(role(Role::Master, 0)));
    switch.receive_message(network.now_ns, other, &newest, &mut out);
    assert_eq!(out.len(), 1, "an answer");
    // A controller that connects again takes the next generation, and is the master.
    switch.disconnect(ControllerId(0));
    network
        .controller
        .disconnect(network.now_ns, CHANNEL, &mut Vec::new());
    network.begin_anew(1);
    network.run(SECOND);
    let events = network.events();
    let ups = events.iter().filter(|event| **event == Event::SwitchUp(1));
    assert_eq!(ups.count(), 2);
    assert!(!events.contains(&Event::NotMaster(1)));
}

#[test]
fn the_next_generation_is_taken() {
    for (known, next) in [(41, 42), (u64::MAX, 0)] {
        let mut alone = Alone::new();
        let (xid, asked) = alone.asked();
        assert_eq!(asked.role, Role::NoChange);
        alone.receive(xid, Body::RoleReply(role(Role::Equal, known)));
        let (xid, asked) = alone.asked();
        assert_eq!(asked, role(Role::Master, next));
        alone.receive(xid, Body::RoleReply(asked));
        assert!(alone.is_set_up());
        assert!(!alone.is_told_not_master());
    }
}

#[test]
fn an_echo_that_is_answered_while_roles_are_asked_counts() {
    let mut alone = Alone::new();
    let (role_xid, asked) = alone.asked();
    let mut echoes = 0;
    for second in 1..=20 {
        let mut out = Vec::new();
        alone.controller.advance(second * SECOND, &mut out);
        for output in out {
            let message = message(output).expect("the channel is open");
            if let Body::EchoRequest(data) = message.body {
                echoes += 1;
                let reply = Message::new(message.xid, Body::EchoReply(data));
                let mut said = Vec::new();
                alone
                    .controller
                    .receive_message(second * SECOND, CHANNEL, &reply, &mut said);
            }
        }
    }
    assert_eq!(echoes, 20);
    alone.receive(role_xid, Body::RoleReply(asked));
}

#[test]
fn a_switch_without_roles_is_served_as_an_equal() {
    let mut alone = Alone::new();
    alone.refuse(BadRequest::BadType);
    assert!(alone.is_set_up());
    assert!(alone.is_told_not_master());
}

#[test]
fn a_generation_that_is_too_old_is_asked_for_again_but_not_for_ever() {
    let mut alone = Alone::new();
    for _ in 0..3 {
        let (xid, asked) = alone.asked();
        assert_eq!(asked.role, Role::NoChange);
        alone.receive(xid, Body::RoleReply(role(Role::Equal, 7)));
        assert!(!alone.is_set_up());
        alone.refuse(RoleRequestFailed::Stale);
    }
    assert!(alone.is_set_up());
    assert!(alone.is_told_not_master());
}

#[test]
fn another_master_is_told_once() {
    let mut alone = Alone::new();
    alone.refuse(BadRequest::BadType);
    let is_slave = || {
        Body::Error(ErrorMessage {
            kind: BadRequest::IsSlave.into(),
            data: Vec::new(),
        })
    };
    alone.receive(99, is_slave());
    alone.receive(99, is_slave());
    let events = alone.controller.events_since(0);
    let told = events.filter(|(_, _, event)| **event == Event::NotMaster(1));
    assert_eq!(told.count(), 1);
}
