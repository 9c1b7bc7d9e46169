//! How long the level of data takes of a packet: a connection, and beside it only its subflows'
//! TCP. Run with `cargo bench -p mptcplab-trace --bench connection`.

use std::hint::black_box;
use std::net::SocketAddr;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_trace::dissect::Layers;
use mptcplab_trace::{Connection, Place, Segment, Side, Subflow};
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options, Timestamps};

const SEGMENTS: u32 = 20_000;
const MSS: u32 = 1420;
/// Segments under way on each subflow.
const WINDOW: u32 = 100;
const INTERVAL_NS: i64 = 100_000;

type Tape = Vec<(Segment, Place)>;

/// Data and the subflow's acknowledgement, both from 1 on; `dss` as in the option.
struct Draft {
    subflow: u32,
    from: Side,
    sequence: u32,
    bytes: u32,
    acknowledgement: u32,
    dss: Option<Dss>,
}

fn push(tape: &mut Tape, draft: &Draft) {
    let at = tape.len() as i64 * INTERVAL_NS;
    let client: SocketAddr = ([10, 0, 0, 1], 1000).into();
    let server: SocketAddr = ([10, 0, 0, 2], 80).into();
    let (source, destination) = match draft.from {
        Side::Client => (client, server),
        Side::Server => (server, client),
    };
    let syn = draft.sequence == 0;
    let segment = Segment {
        at,
        frame: tape.len() as u64 + 1,
        interface: 0,
        source,
        destination,
        identification: Some(tape.len() as u16),
        hop_limit: 64,
        ecn: Ecn::NotCapable,
        packet_bytes: draft.bytes + 100,
        sequence: draft.sequence,
        acknowledgement: draft.acknowledgement,
        flags: Flags {
            ack: !syn || draft.from == Side::Server,
            syn,
            ..Flags::default()
        },
        window: 60_000,
        checksum: 0,
        payload_bytes: draft.bytes,
        payload_sum: None,
        options: Options {
            window_shift: syn.then_some(7),
            timestamps: Some(Timestamps {
                value: (at / 1_000_000) as u32,
                echo: (at / 1_000_000) as u32,
            }),
            mptcp: draft.dss.map(MptcpOption::Dss).into_iter().collect(),
            ..Options::default()
        },
        options_cut: false,
        layers: Layers::NONE,
    };
    let place = Place {
        connection: 0,
        subflow: draft.subflow,
        from: draft.from,
    };
    tape.push((segment, place));
}

/// A transfer by the client with an acknowledgement for every second segment. `schedule` tells of
/// the n-th segment which subflow carries it and which segment of data it is.
fn transfer(subflows: u32, mptcp: bool, schedule: impl Fn(u32) -> (u32, u32)) -> Tape {
    let mut tape = Tape::new();
    let draft = |subflow, from| Draft {
        subflow,
        from,
        sequence: 0,
        bytes: 0,
        acknowledgement: 1,
        dss: None,
    };
    for subflow in 0..subflows {
        push(&mut tape, &draft(subflow, Side::Client));
        push(&mut tape, &draft(subflow, Side::Server));
    }
    let number = |n: u32| 1 + n * MSS;
    let data = |n: u32| DataNumber::Long(1 + u64::from(n) * u64::from(MSS));
    let mut sent = vec![0; subflows as usize];
    let mut data_sent = 0;
    for n in 0..SEGMENTS {
        let (subflow, of_data) = schedule(n);
        let on_subflow = sent[subflow as usize];
        sent[subflow as usize] += 1;
        data_sent = data_sent.max(of_data + 1);
        let mapping = Mapping {
            data_sequence: data(of_data),
            subflow_sequence: number(on_subflow),
            bytes: MSS as u16,
            checksum: None,
        };
        let dss = Dss {
            acknowledgement: Some(DataNumber::Long(1)),
            mapping: Some(mapping),
            ..Dss::default()
        };
        push(
            &mut tape,
            &Draft {
                sequence: number(on_subflow),
                bytes: MSS,
                dss: mptcp.then_some(dss),
                ..draft(subflow, Side::Client)
            },
        );
        if on_subflow >= WINDOW && on_subflow % 2 == 1 {
            let dss = Dss {
                acknowledgement: Some(data(data_sent.saturating_sub(WINDOW * subflows))),
                ..Dss::default()
            };
            push(
                &mut tape,
                &Draft {
                    sequence: 1,
                    acknowledgement: number(on_subflow - WINDOW),
                    dss: mptcp.then_some(dss),
                    ..draft(subflow, Side::Server)
                },
            );
        }
    }
    tape
}

fn take(criterion: &mut Criterion) {
    let tapes = [
        ("TCP", true, transfer(1, false, |n| (0, n))),
        ("one subflow", false, transfer(1, true, |n| (0, n))),
        (
            "two in bursts of 45",
            false,
            transfer(2, true, |n| (n / 45 % 2, n)),
        ),
        ("four in turn", false, transfer(4, true, |n| (n % 4, n))),
        (
            "two redundant",
            false,
            transfer(2, true, |n| (n % 2, n / 2)),
        ),
    ];
    for (name, plain, tape) in tapes {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(tape.len() as u64));
        group.bench_function("subflows only", |bencher| {
            bencher.iter(|| {
                let mut subflows = vec![Subflow::new(); 4];
                for (segment, place) in &tape {
                    black_box(subflows[place.subflow as usize].take(segment, place.from));
                }
                subflows
            });
        });
        group.bench_function("connection", |bencher| {
            bencher.iter(|| {
                let mut connection = Connection::new(plain);
                connection.set_initial(Side::Client, 0);
                connection.set_initial(Side::Server, 0);
                let mut events = Vec::new();
                for (segment, place) in &tape {
                    black_box(connection.take(segment, *place, &mut events));
                }
                connection.summary()
            });
        });
        group.finish();
    }
}

criterion_group!(connection, take);
criterion_main!(connection);
