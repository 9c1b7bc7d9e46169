//! Several controllers: hellos, roles, asynchronous messages, barriers.

use mptcplab_openflow::error::{BadRequest, HelloFailed, RoleRequestFailed, SwitchConfigFailed};
use mptcplab_openflow::packet::PacketInReason;
use mptcplab_openflow::setup::{AsyncConfig, Role, RoleMessage, SwitchConfig, fragments};
use mptcplab_openflow::{Body, ErrorKind, Hello, Message};
use mptcplab_switch::{ControllerId, DropReason, Output};

use crate::frames::{arp, ipv4, tcp};
use crate::support::{Bench, CONTROLLER, apply, flow, messages, output, packet_out, to_controller};

const OTHER: ControllerId = ControllerId(2);

/// Two controllers.
fn two() -> Bench {
    let mut bench = Bench::new();
    bench.switch.connect(OTHER, &mut Vec::new());
    bench
}

fn role(bench: &mut Bench, of: ControllerId, role: Role, generation_id: u64) -> Body {
    let request = RoleMessage {
        role,
        generation_id,
    };
    let mut told = messages(&bench.say_as(of, Body::RoleRequest(request)));
    assert_eq!(told.len(), 1);
    told.remove(0)
}

/// The controllers that are told of something.
fn told(out: &[Output]) -> Vec<ControllerId> {
    let controller = |one: &Output| match one {
        Output::Message { controller, .. } => *controller,
        other => panic!("{other:?}"),
    };
    out.iter().map(controller).collect()
}

fn is_error(body: &Body, kind: impl Into<ErrorKind>) -> bool {
    matches!(body, Body::Error(error) if error.kind == kind.into())
}

#[test]
fn a_connection_begins_with_a_hello_and_ends_where_no_version_is_common() {
    let mut bench = Bench::new();
    let mut out = Vec::new();
    bench.switch.connect(OTHER, &mut out);
    assert_eq!(messages(&out), [Body::Hello(Hello::ours())]);
    assert!(bench.say_as(OTHER, Body::Hello(Hello::ours())).is_empty());
    let old = Hello {
        version: 1,
        bitmap: None,
    };
    let out = bench.say_as(OTHER, Body::Hello(old));
    assert!(is_error(&messages(&out)[0], HelloFailed::Incompatible));
    assert_eq!(out[1], Output::Close(OTHER));
    let out = bench.say_as(OTHER, Body::BarrierRequest);
    assert!(is_error(&messages(&out)[0], BadRequest::Eperm));
}

#[test]
fn echoes_and_barriers_are_answered_with_the_id_of_the_request() {
    let mut bench = Bench::new();
    let mut out = Vec::new();
    let request = Message::new(99, Body::EchoRequest(b"ping".to_vec()));
    bench
        .switch
        .receive_message(0, CONTROLLER, &request, &mut out);
    let message = Message::new(99, Body::EchoReply(b"ping".to_vec()));
    let controller = CONTROLLER;
    assert_eq!(
        out,
        [Output::Message {
            controller,
            message
        }]
    );
    assert_eq!(bench.ask(Body::BarrierRequest), Body::BarrierReply);
}

#[test]
fn an_error_has_the_request_that_failed() {
    let mut bench = Bench::new();
    let request = Message::new(5, packet_out(vec![output(99)], &arp()));
    let mut out = Vec::new();
    bench
        .switch
        .receive_message(0, CONTROLLER, &request, &mut out);
    let mut bytes = Vec::new();
    request.encode(&mut bytes).unwrap();
    match &out[..] {
        [
            Output::Message {
                message:
                    Message {
                        xid: 5,
                        body: Body::Error(error),
                    },
                ..
            },
        ] => {
            assert_eq!(error.data, bytes[..64]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_is_master_and_the_one_before_becomes_slave() {
    let mut bench = two();
    let message = |role, generation_id| {
        Body::RoleReply(RoleMessage {
            role,
            generation_id,
        })
    };
    assert_eq!(
        role(&mut bench, OTHER, Role::NoChange, 0),
        message(Role::Equal, u64::MAX)
    );
    assert_eq!(
        role(&mut bench, OTHER, Role::Master, 7),
        message(Role::Master, 7)
    );
    assert_eq!(
        role(&mut bench, CONTROLLER, Role::Master, 8),
        message(Role::Master, 8)
    );
    assert_eq!(
        role(&mut bench, OTHER, Role::NoChange, 0),
        message(Role::Slave, 8)
    );
    assert_eq!(
        role(&mut bench, OTHER, Role::Equal, 0),
        message(Role::Equal, 8)
    );
}

#[test]
fn an_old_generation_is_stale_also_around_the_end_of_the_numbers() {
    let mut bench = two();
    role(&mut bench, OTHER, Role::Master, u64::MAX);
    let stale = role(&mut bench, CONTROLLER, Role::Master, u64::MAX - 1);
    assert!(is_error(&stale, RoleRequestFailed::Stale));
    let next = role(&mut bench, CONTROLLER, Role::Slave, 3);
    assert!(matches!(next, Body::RoleReply(_)));
    let stale = role(&mut bench, OTHER, Role::Master, u64::MAX);
    assert!(is_error(&stale, RoleRequestFailed::Stale));
}

#[test]
fn a_slave_may_read_and_not_change() {
    let mut bench = two();
    role(&mut bench, OTHER, Role::Slave, 1);
    for body in [
        Body::FlowMod(flow([], vec![])),
        packet_out(vec![output(1)], &arp()),
    ] {
        let told = messages(&bench.say_as(OTHER, body));
        assert!(is_error(&told[0], BadRequest::IsSlave));
    }
    let out = bench.say_as(OTHER, Body::FeaturesRequest);
    assert!(matches!(messages(&out)[..], [Body::FeaturesReply(_)]));
}

#[test]
fn packets_go_to_those_that_are_no_slaves_and_ports_to_all() {
    let mut bench = two();
    bench.done(Body::FlowMod(flow([], apply([to_controller()]))));
    assert_eq!(told(&bench.receive(1, &arp())), [CONTROLLER, OTHER]);
    assert_eq!(bench.account().packet_ins, 1);
    role(&mut bench, OTHER, Role::Slave, 1);
    assert_eq!(told(&bench.receive(1, &arp())), [CONTROLLER]);
    let mut out = Vec::new();
    bench.switch.set_link(3, false, &mut out);
    assert_eq!(told(&out), [CONTROLLER, OTHER]);
}

#[test]
fn each_controller_says_what_it_is_told() {
    let mut bench = two();
    let wanted = AsyncConfig {
        packet_in: [1 << PacketInReason::NoMatch.number(), 0],
        port_status: [0, 0],
        flow_removed: [0, 0],
    };
    assert!(bench.say_as(OTHER, Body::SetAsync(wanted)).is_empty());
    let out = bench.say_as(OTHER, Body::GetAsyncRequest);
    assert_eq!(messages(&out), [Body::GetAsyncReply(wanted)]);
    bench.done(Body::FlowMod(flow([], apply([to_controller()]))));
    assert_eq!(told(&bench.receive(1, &arp())), [CONTROLLER]);
    let mut out = Vec::new();
    bench.switch.set_link(3, false, &mut out);
    assert_eq!(told(&out), [CONTROLLER]);
}

#[test]
fn fragments_are_dropped_where_that_is_configured() {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([], apply([output(2)]))));
    let mut fragment = ipv4(6, &tcp());
    fragment[14 + 6] = 0x20;
    assert_eq!(bench.pass(1, &fragment).len(), 1);
    let config = SwitchConfig {
        flags: fragments::DROP,
        miss_send_len: 0,
    };
    bench.done(Body::SetConfig(config));
    assert_eq!(
        bench.ask(Body::GetConfigRequest),
        Body::GetConfigReply(config)
    );
    assert_eq!(bench.pass(1, &fragment), []);
    assert_eq!(bench.account().dropped.of(DropReason::Fragment), 1);
    assert_eq!(bench.pass(1, &ipv4(6, &tcp())).len(), 1);
    let reassembly = SwitchConfig {
        flags: fragments::REASSEMBLE,
        ..config
    };
    assert_eq!(
        bench.refused(Body::SetConfig(reassembly)),
        SwitchConfigFailed::BadFlags.into()
    );
}
