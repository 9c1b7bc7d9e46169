//! How long TCP's part of a packet takes. Run with `cargo bench -p mptcplab-trace --bench subflow`.

use std::hint::black_box;
use std::net::SocketAddr;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_trace::dissect::Layers;
use mptcplab_trace::{Segment, Side, Subflow};
use mptcplab_wire::{Ecn, Flags, Options, SackBlock, Timestamps};

const SEGMENTS: u32 = 20_000;
const MSS: u32 = 1420;
/// Segments under way.
const WINDOW: u32 = 100;
const INTERVAL_NS: i64 = 100_000;

type Tape = Vec<(Segment, Side)>;

fn segment(at: i64, from: Side, sequence: u32, bytes: u32, acknowledgement: u32) -> Segment {
    let client: SocketAddr = ([10, 0, 0, 1], 1000).into();
    let server: SocketAddr = ([10, 0, 0, 2], 80).into();
    let (source, destination) = match from {
        Side::Client => (client, server),
        Side::Server => (server, client),
    };
    let timestamps = Timestamps {
        value: (at / 1_000_000) as u32,
        echo: (at / 1_000_000) as u32,
    };
    Segment {
        at,
        frame: 1,
        interface: 0,
        source,
        destination,
        identification: Some((at / INTERVAL_NS) as u16),
        hop_limit: 64,
        ecn: Ecn::NotCapable,
        packet_bytes: bytes + 80,
        sequence,
        acknowledgement,
        flags: Flags {
            ack: true,
            ..Flags::default()
        },
        window: 1000,
        checksum: 0,
        payload_bytes: bytes,
        payload_sum: None,
        options: Options {
            timestamps: Some(timestamps),
            ..Options::default()
        },
        options_cut: false,
        layers: Layers::NONE,
    }
}

/// A transfer by the client with an acknowledgement for every second segment. Of `lost_every`
/// segments one is lost: SACK tells of it, and it is sent again.
fn transfer(lost_every: Option<u32>) -> Tape {
    let number = |n: u32| 1 + n * MSS;
    let mut tape = Tape::new();
    let mut at = 0;
    let mut send = |from, sequence, bytes, acknowledgement, sack: &[(u32, u32)]| {
        at += INTERVAL_NS;
        let mut segment = segment(at, from, sequence, bytes, acknowledgement);
        segment.options.sack = sack
            .iter()
            .map(|&(left, right)| SackBlock { left, right })
            .collect();
        tape.push((segment, from));
    };
    for n in 0..SEGMENTS {
        send(Side::Client, number(n), MSS, 1, &[]);
        if n < WINDOW {
            continue;
        }
        let arrived = n - WINDOW;
        match lost_every.map(|every| arrived % every) {
            // Lost: the next tells of it, and what was sent again arrives a window later.
            Some(0) => {}
            Some(behind) if behind <= WINDOW => {
                let lost = arrived - behind;
                let block = (number(lost + 1), number(arrived + 1));
                send(Side::Server, 1, 0, number(lost), &[block]);
                if behind == 1 {
                    send(Side::Client, number(lost), MSS, 1, &[]);
                }
            }
            _ if arrived % 2 == 1 => send(Side::Server, 1, 0, number(arrived + 1), &[]),
            _ => {}
        }
    }
    tape
}

/// Requests of 100 bytes, answers of 1000.
fn exchange() -> Tape {
    (0..SEGMENTS)
        .map(|n| {
            let (round, at) = (n / 2, i64::from(n) * INTERVAL_NS);
            let (from, sequence, bytes, acknowledgement) = match n % 2 {
                0 => (Side::Client, 1 + 100 * round, 100, 1 + 1000 * round),
                _ => (Side::Server, 1 + 1000 * round, 1000, 101 + 100 * round),
            };
            let segment = segment(at, from, sequence, bytes, acknowledgement);
            (segment, from)
        })
        .collect()
}

fn take(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("take");
    let tapes = [
        ("transfer", transfer(None)),
        ("transfer, 1 of 1000 lost", transfer(Some(1000))),
        ("transfer, 1 of 200 lost", transfer(Some(200))),
        ("exchange", exchange()),
    ];
    for (name, tape) in tapes {
        group.throughput(Throughput::Elements(tape.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut subflow = Subflow::new();
                for (segment, from) in &tape {
                    black_box(subflow.take(segment, *from));
                }
                subflow.summary()
            });
        });
    }
    group.finish();
}

criterion_group!(subflow, take);
criterion_main!(subflow);
