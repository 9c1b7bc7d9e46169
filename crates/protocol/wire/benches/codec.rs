//! Costs of the codec for the most frequent packets: a data segment with timestamps and a DSS
//! of 8-byte numbers, and the acknowledgement that answers it.

use bytes::Bytes;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options, Packet, Segment, Timestamps};

/// A segment of `payload` whose DSS has a mapping where there is any.
fn segment(source: &str, destination: &str, payload: Bytes) -> Segment {
    let mapping = Mapping {
        data_sequence: DataNumber::Long(0x0102_0304_0506_0708),
        subflow_sequence: 1_000_000,
        bytes: payload.len() as u16,
        checksum: None,
    };
    let dss = Dss {
        data_fin: false,
        acknowledgement: Some(DataNumber::Long(0x1112_1314_1516_1718)),
        mapping: (!payload.is_empty()).then_some(mapping),
    };
    Segment {
        source: source.parse().expect("an address"),
        destination: destination.parse().expect("an address"),
        sequence: 1_000_000,
        acknowledgement: 2_000_000,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        window: 500,
        urgent: 0,
        options: Options {
            timestamps: Some(Timestamps {
                value: 12345,
                echo: 67890,
            }),
            mptcp: [MptcpOption::Dss(dss)].into_iter().collect(),
            ..Options::default()
        },
        ecn: Ecn::NotCapable,
        payload,
    }
}

fn codec(criterion: &mut Criterion) {
    let payload = || Bytes::from(vec![7; 1428]);
    let cases = [
        ("data v4", "10.0.0.1:1000", "10.0.0.2:2000", payload()),
        ("data v6", "[fd00::1]:1000", "[fd00::2]:2000", payload()),
        ("ack v4", "10.0.0.2:2000", "10.0.0.1:1000", Bytes::new()),
    ];
    for (name, source, destination, payload) in cases {
        let segment = segment(source, destination, payload);
        let packet = segment.clone().into_packet(64);
        let mut bytes = Vec::new();
        packet.write_to(&mut bytes);
        let bytes = Bytes::from(bytes);
        criterion.bench_function(&format!("into_packet, {name}"), |bencher| {
            let segment = || segment.clone();
            bencher.iter_batched(
                segment,
                |segment| segment.into_packet(64),
                BatchSize::SmallInput,
            );
        });
        criterion.bench_function(&format!("parse, {name}"), |bencher| {
            bencher.iter_batched(|| packet.clone(), Segment::parse, BatchSize::SmallInput);
        });
        criterion.bench_function(&format!("flow_hash, {name}"), |bencher| {
            bencher.iter(|| packet.flow_hash(1));
        });
        criterion.bench_function(&format!("write_to, {name}"), |bencher| {
            let vec = || Vec::with_capacity(2000);
            bencher.iter_batched_ref(vec, |to| packet.write_to(to), BatchSize::SmallInput);
        });
        criterion.bench_function(&format!("read, {name}"), |bencher| {
            bencher.iter(|| Packet::read(bytes.clone()));
        });
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
