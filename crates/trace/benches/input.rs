//! Cost of reading a packet from a capture and dissecting it: of 54 to 100 bytes, as captures
//! of headers have them, and of 1500.
//!
//! Captures stand in files in the folder of the build, which the page cache holds.

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};

use common::{Capture, Format, link, packet, segment};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mptcplab_trace::dissect::Dissector;
use mptcplab_trace::input::Merge;
use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};
use mptcplab_wire::{Segment, Timestamps};

/// Packets of a capture.
const PACKETS: u64 = 200_000;

/// Data with timestamps and a mapping of MPTCP, and what acknowledges it.
fn conversation() -> [Segment; 2] {
    let options = |segment: &mut Segment, mapping| {
        segment.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
        let dss = Dss {
            data_fin: false,
            acknowledgement: Some(DataNumber::Long(1 << 40)),
            mapping,
        };
        segment.options.mptcp = [MptcpOption::Dss(dss)].into_iter().collect();
    };
    let mut data = segment("10.0.0.1:1000 > 10.0.0.2:80 PA seq=8 ack=100 len=1400");
    let mapping = Mapping {
        data_sequence: DataNumber::Long(1 << 41),
        subflow_sequence: 1,
        bytes: 1400,
        checksum: None,
    };
    options(&mut data, Some(mapping));
    let mut answer = segment("10.0.0.2:80 > 10.0.0.1:1000 A seq=100 ack=1408");
    options(&mut answer, None);
    [data, answer]
}

/// A file of packets, of which as many bytes are captured; gives its name and length.
fn capture(name: &str, format: Format, captured: usize) -> (PathBuf, u64) {
    let frames = conversation().map(|segment| link::frame(link::ETHERNET, &packet(&segment)));
    let mut capture = Capture::new(format, link::ETHERNET);
    for number in 0..PACKETS {
        let at_ns = 1_700_000_000_000_000_000 + number * 10_000;
        capture.cut_frame(0, at_ns, &frames[number as usize % 2], captured);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, &capture.bytes).expect("room for a capture");
    (path, capture.bytes.len() as u64)
}

fn input(criterion: &mut Criterion) {
    let files = [
        ("headers.pcap", Format::PCAP, 94),
        ("headers.pcapng", Format::PCAPNG, 94),
        ("data.pcap", Format::PCAP, 2000),
        ("data.pcapng", Format::PCAPNG, 2000),
    ];
    for (name, format, captured) in files {
        let (path, bytes) = capture(name, format, captured);
        let paths = [path];
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20);
        group.throughput(Throughput::ElementsAndBytes {
            elements: PACKETS,
            bytes,
        });
        group.bench_function("input", |bencher| {
            bencher.iter(|| {
                let mut merge = Merge::open(&paths).expect("a capture");
                while let Some(frame) = merge.next() {
                    std::hint::black_box(&frame);
                }
            });
        });
        group.bench_function("input and dissect", |bencher| {
            bencher.iter(|| {
                let mut merge = Merge::open(&paths).expect("a capture");
                let mut dissector = Dissector::new(false);
                while let Some(frame) = merge.next() {
                    let segment = dissector.take(&frame);
                    assert!(segment.is_some());
                    std::hint::black_box(&segment);
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, input);
criterion_main!(benches);
