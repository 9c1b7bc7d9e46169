//! Ports: configuration, links, statistics.

use mptcplab_openflow::error::{BadRequest, PortModFailed, QueueOpFailed};
use mptcplab_openflow::multipart::{PortStats, Reply, Request};
use mptcplab_openflow::port::{
    Port, PortConfig, PortMod, PortReason, PortState, PortStatus, number,
};
use mptcplab_openflow::queue::{ALL_QUEUES, QueueProperty};
use mptcplab_openflow::{Action, Body};
use mptcplab_switch::{DropReason, Output, PortSetup};

use crate::frames::arp;
use crate::support::{Bench, apply, flow, messages, output, packet_ins, to_controller};

fn port_mod(port: u32, config: PortConfig, mask: PortConfig) -> PortMod {
    PortMod {
        port,
        hw_addr: PortSetup::new(port).hw_addr,
        config,
        mask,
        advertise: 0,
    }
}

/// Sets a bit of a port, and returns the port as controllers are told.
fn configure(bench: &mut Bench, port: u32, config: PortConfig) -> Port {
    let told = messages(&bench.say(Body::PortMod(port_mod(port, config, config))));
    let [
        Body::PortStatus(PortStatus {
            reason: PortReason::Modify,
            port,
        }),
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    *port
}

/// A switch that floods.
fn flooding() -> Bench {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([], apply([output(number::FLOOD)]))));
    bench
}

fn stats(bench: &mut Bench, port: u32) -> PortStats {
    let Reply::PortStats(stats) = bench.reply(Request::PortStats(port)) else {
        panic!("no ports");
    };
    assert_eq!(stats.len(), 1);
    stats[0]
}

#[test]
fn a_port_that_is_down_takes_and_sends_nothing() {
    let mut bench = flooding();
    let port = configure(&mut bench, 2, PortConfig::PORT_DOWN);
    assert_eq!(
        (port.config, port.state),
        (PortConfig::PORT_DOWN, PortState::empty())
    );
    assert_eq!(bench.pass(2, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::PortDown), 1);
    let ports: Vec<_> = bench
        .pass(1, &arp())
        .into_iter()
        .map(|(port, _)| port)
        .collect();
    assert_eq!(ports, [3, 4]);
    // Told again only where something changes.
    assert!(
        bench
            .done(Body::PortMod(port_mod(
                2,
                PortConfig::PORT_DOWN,
                PortConfig::PORT_DOWN
            )))
            .is_empty()
    );
    let up = Body::PortMod(port_mod(2, PortConfig::empty(), PortConfig::PORT_DOWN));
    assert_eq!(messages(&bench.say(up)).len(), 1);
    assert_eq!(bench.pass(2, &arp()).len(), 3);
}

#[test]
fn ports_can_be_kept_from_receiving_from_forwarding_and_from_the_controller() {
    let mut bench = flooding();
    configure(&mut bench, 2, PortConfig::NO_RECV);
    assert_eq!(bench.pass(2, &arp()), []);
    assert_eq!(bench.account().dropped.of(DropReason::NoReceive), 1);
    configure(&mut bench, 3, PortConfig::NO_FWD);
    let ports: Vec<_> = bench
        .pass(1, &arp())
        .into_iter()
        .map(|(port, _)| port)
        .collect();
    assert_eq!(ports, [2, 4]);
    bench.done(Body::FlowMod(flow([], apply([output(3), to_controller()]))));
    configure(&mut bench, 1, PortConfig::NO_PACKET_IN);
    assert_eq!(bench.receive(1, &arp()), []);
    let account = bench.account();
    assert_eq!(account.blocked.of(DropReason::NoForward), 1);
    assert_eq!(account.blocked.of(DropReason::NoPacketIn), 1);
    assert_eq!(packet_ins(&bench.receive(4, &arp())).len(), 1);
}

#[test]
fn changes_of_ports_and_links_are_told() {
    let mut bench = Bench::new();
    let mut told = |change: &dyn Fn(&mut Bench, &mut Vec<Output>)| {
        let mut out = Vec::new();
        change(&mut bench, &mut out);
        let told = messages(&out);
        told.iter()
            .map(|body| match body {
                Body::PortStatus(status) => (status.reason, status.port.port, status.port.state),
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    let link = |up: bool| {
        move |bench: &mut Bench, out: &mut Vec<Output>| bench.switch.set_link(3, up, out)
    };
    assert_eq!(told(&link(true)), []);
    assert_eq!(
        told(&link(false)),
        [(PortReason::Modify, 3, PortState::LINK_DOWN)]
    );
    assert_eq!(
        told(&link(true)),
        [(PortReason::Modify, 3, PortState::LIVE)]
    );
    let add = |bench: &mut Bench, out: &mut Vec<Output>| {
        bench.switch.add_port(5, PortSetup::new(9), out);
    };
    assert_eq!(told(&add), [(PortReason::Add, 9, PortState::LIVE)]);
    let remove = |bench: &mut Bench, out: &mut Vec<Output>| bench.switch.remove_port(9, out);
    assert_eq!(told(&remove), [(PortReason::Delete, 9, PortState::LIVE)]);
    assert_eq!(told(&remove), []);
}

#[test]
fn modifications_that_are_wrong_are_refused_by_their_codes() {
    let mut bench = Bench::new();
    let down = PortConfig::PORT_DOWN;
    let right = port_mod(1, down, down);
    let cases = [
        (PortMod { port: 9, ..right }, PortModFailed::BadPort),
        (
            PortMod {
                hw_addr: [0; 6],
                ..right
            },
            PortModFailed::BadHwAddr,
        ),
        (
            port_mod(1, PortConfig::from_bits_retain(2), down),
            PortModFailed::BadConfig,
        ),
        (
            PortMod {
                advertise: 1,
                ..right
            },
            PortModFailed::BadAdvertise,
        ),
    ];
    for (request, code) in cases {
        assert_eq!(bench.refused(Body::PortMod(request)), code.into());
    }
}

#[test]
fn packets_of_ports_and_queues_are_counted() {
    let mut bench = Bench::new();
    let actions = [Action::SetQueue(1), output(2), output(1)];
    bench.done(Body::FlowMod(flow([], apply(actions))));
    bench.pass(1, &arp());
    bench.now_ns = 4;
    let bytes = arp().len() as u64;
    let first = stats(&mut bench, 1);
    assert_eq!(
        (first.rx_packets, first.rx_bytes, first.tx_packets),
        (1, bytes, 0)
    );
    let second = stats(&mut bench, 2);
    assert_eq!(
        (
            second.tx_packets,
            second.tx_bytes,
            second.duration.nanoseconds
        ),
        (1, bytes, 4)
    );
    let Reply::Queue(queues) = bench.reply(Request::Queue {
        port: number::ANY,
        queue: ALL_QUEUES,
    }) else {
        panic!("no queues");
    };
    let counts: Vec<_> = queues
        .iter()
        .map(|one| (one.port, one.queue, one.tx_packets, one.tx_bytes))
        .collect();
    assert_eq!(counts, [(2, 1, 1, bytes), (2, 2, 0, 0)]);
    configure(&mut bench, 2, PortConfig::NO_FWD);
    bench.pass(1, &arp());
    assert_eq!(stats(&mut bench, 2).tx_dropped, 1);
}

#[test]
fn ports_and_queues_that_are_not_there_are_refused() {
    let mut bench = Bench::new();
    let ask = |bench: &mut Bench, content| {
        bench.refused(Body::MultipartRequest(mptcplab_openflow::multipart::Part {
            more: false,
            content,
        }))
    };
    assert_eq!(
        ask(&mut bench, Request::PortStats(9)),
        BadRequest::BadPort.into()
    );
    let no_port = Request::Queue { port: 9, queue: 1 };
    assert_eq!(ask(&mut bench, no_port), QueueOpFailed::BadPort.into());
    let no_queue = Request::Queue { port: 2, queue: 9 };
    assert_eq!(ask(&mut bench, no_queue), QueueOpFailed::BadQueue.into());
    assert_eq!(
        bench.refused(Body::QueueGetConfigRequest(9)),
        QueueOpFailed::BadPort.into()
    );
}

#[test]
fn queues_are_told_as_they_were_set_up() {
    let mut bench = Bench::new();
    let Body::QueueGetConfigReply(config) = bench.ask(Body::QueueGetConfigRequest(2)) else {
        panic!("no queues");
    };
    assert_eq!(config.queues.len(), 2);
    assert_eq!(config.queues[0].properties, [QueueProperty::MinRate(100)]);
    let Body::QueueGetConfigReply(all) = bench.ask(Body::QueueGetConfigRequest(number::ANY)) else {
        panic!("no queues");
    };
    assert_eq!(all.queues, config.queues);
}
