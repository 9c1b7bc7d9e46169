//! Cost of placing a packet of a known flow: data with a DSS and its acknowledgement, of few
//! connections and of more.

use std::hint::black_box;
use std::net::SocketAddr;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_trace::dissect::Layers;
use mptcplab_trace::{Registry, Segment};
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options, Timestamps};

/// Packets of a round of the benchmark: few enough to be as near at hand as one that was just read.
const PACKETS: usize = 1 << 9;
/// From one round to the next: copies of the packets are no longer looked for.
const LATER: i64 = 3_000_000_000;

fn segment(source: SocketAddr, destination: SocketAddr, sequence: u32) -> Segment {
    let number = DataNumber::Long((1 << 60) + u64::from(sequence));
    let mapping = Mapping {
        data_sequence: number,
        subflow_sequence: sequence,
        bytes: 1400,
        checksum: None,
    };
    let dss = Dss {
        data_fin: false,
        acknowledgement: Some(DataNumber::Long(1 << 50)),
        mapping: Some(mapping),
    };
    Segment {
        at: i64::from(sequence),
        frame: 1,
        interface: 0,
        source,
        destination,
        identification: Some(1),
        hop_limit: 64,
        ecn: Ecn::NotCapable,
        packet_bytes: 1500,
        sequence,
        acknowledgement: 1,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        window: 500,
        checksum: 0,
        payload_bytes: 1400,
        payload_sum: None,
        options: Options {
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            mptcp: [MptcpOption::Dss(dss)].into_iter().collect(),
            ..Options::default()
        },
        options_cut: false,
        layers: Layers::NONE,
    }
}

/// Packets of `flows` flows in turn, every second one an acknowledgement.
fn packets(flows: u32, ipv6: bool) -> Vec<Segment> {
    let server: SocketAddr = if ipv6 {
        "[fd00::1]:80".parse().expect("an address")
    } else {
        "10.0.0.1:80".parse().expect("an address")
    };
    let client = |flow: u32| -> SocketAddr {
        let [a, b, c, _] = (flow << 8).to_be_bytes();
        let (mut low, port) = (u128::from(flow) << 32 | 0xfd00 << 112, 40_000);
        low |= 7;
        if ipv6 {
            (std::net::Ipv6Addr::from_bits(low), port).into()
        } else {
            ([10 + a, b, c, 2], port).into()
        }
    };
    // Coprime to the number of flows: neighbours in the capture are none in memory.
    let flow = |number: u32| number.wrapping_mul(7919) % flows;
    (0..PACKETS as u32)
        .map(|number| {
            let client = client(flow(number / 2));
            if number.is_multiple_of(2) {
                segment(client, server, number)
            } else {
                let mut ack = segment(server, client, 1);
                ack.acknowledgement = number;
                ack.payload_bytes = 0;
                if let MptcpOption::Dss(dss) = &mut ack.options.mptcp[0] {
                    dss.mapping = None;
                }
                ack
            }
        })
        .collect()
}

fn place(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("place");
    group.throughput(Throughput::Elements(PACKETS as u64));
    for (name, flows, ipv6, several) in [
        ("v4", 4, false, false),
        ("v4", 250, false, false),
        ("v6", 4, true, false),
        ("v4, several interfaces", 4, false, true),
    ] {
        let mut packets = packets(flows, ipv6);
        let mut registry = Registry::new();
        if several {
            registry.expect_interfaces();
        }
        let mut events = Vec::new();
        for round in 0..10 {
            for packet in &mut packets {
                packet.at = round * LATER;
                registry.place(packet, &mut events);
            }
        }
        let id = BenchmarkId::new(name, flows);
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                for packet in &mut packets {
                    packet.at += LATER;
                    black_box(registry.place(black_box(packet), &mut events));
                }
            });
        });
    }
}

criterion_group!(benches, place);
criterion_main!(benches);
