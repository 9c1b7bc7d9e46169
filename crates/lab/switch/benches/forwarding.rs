//! Time that a packet takes through the switch, by what its entries do and how many there are.

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::{Action, Body, Field, Instruction, Match, Message, Oxm, group, port};
use mptcplab_switch::{Config, ControllerId, PortSetup, Switch};

/// Bytes of a frame.
const FRAME_BYTES: usize = 1514;

/// A frame of TCP from a port.
fn frame(source: u16) -> Bytes {
    let mut frame = vec![0; FRAME_BYTES];
    frame[12] = 8;
    let length = (FRAME_BYTES - 14) as u16;
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&length.to_be_bytes());
    frame[22..24].copy_from_slice(&[64, 6]);
    frame[34..36].copy_from_slice(&source.to_be_bytes());
    frame[46] = 0x50;
    frame.into()
}

/// A switch with an entry for each of so many flows.
fn switch(flows: u16, actions: &[Action]) -> Switch {
    let ports = vec![PortSetup::new(1), PortSetup::new(2)];
    let mut switch = Switch::new(Config {
        ports,
        ..Config::default()
    });
    let controller = ControllerId(0);
    let mut out = Vec::new();
    switch.connect(controller, &mut out);
    for source in 0..flows {
        let fields = [
            Oxm::exact(Field::EthType, 0x0800_u16),
            Oxm::exact(Field::IpProto, 6_u8),
            Oxm::exact(Field::Ipv4Src, 0_u8),
            Oxm::exact(Field::Ipv4Dst, 0_u8),
            Oxm::exact(Field::TcpSrc, source),
            Oxm::exact(Field::TcpDst, 0_u8),
        ];
        let flow_mod = FlowMod {
            cookie: 0,
            cookie_mask: 0,
            table: 0,
            command: FlowCommand::Add,
            idle_timeout: 10,
            hard_timeout: 0,
            priority: 1,
            buffer: None,
            out_port: port::number::ANY,
            out_group: group::number::ANY,
            flags: FlowFlags::empty(),
            fields: Match::new(fields),
            instructions: vec![Instruction::ApplyActions(actions.to_vec())],
        };
        let message = Message::new(0, Body::FlowMod(flow_mod));
        switch.receive_message(0, controller, &message, &mut out);
    }
    switch
}

fn forwarding(criterion: &mut Criterion) {
    let output = Action::Output {
        port: 2,
        max_len: 0,
    };
    let set = Action::SetField(Oxm::exact(Field::EthDst, 7_u8));
    let routed = [set, Action::DecNwTtl, output.clone()];
    let cases = [
        ("one flow", 1, &[output.clone()][..]),
        ("10,000 flows", 10_000, &[output]),
        ("10,000 flows, address and TTL changed", 10_000, &routed),
    ];
    let mut group = criterion.benchmark_group("forwarding");
    group.throughput(Throughput::Elements(1));
    for (name, flows, actions) in cases {
        let mut switch = switch(flows, actions);
        let frames: Vec<Bytes> = (0..flows).map(frame).collect();
        let mut out = Vec::new();
        let mut frames = frames.iter().cycle();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let frame = frames.next().expect("there always is one").clone();
                switch.receive_packet(0, 1, frame, &mut out);
                black_box(&out);
                out.clear();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, forwarding);
criterion_main!(benches);
