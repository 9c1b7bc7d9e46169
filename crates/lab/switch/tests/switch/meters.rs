//! Meters in the given time.

use mptcplab_openflow::error::MeterModFailed;
use mptcplab_openflow::meter::{BandKind, MeterBand, MeterCommand, MeterFlags, MeterMod, number};
use mptcplab_openflow::multipart::{Reply, Request};
use mptcplab_openflow::{Body, Instruction};
use mptcplab_switch::DropReason;

use crate::frames::{NETWORK, arp, ipv4, is_right, tcp};
use crate::support::{Bench, SECOND, apply, flow, output};

fn band(rate: u32, burst_size: u32, kind: BandKind) -> MeterBand {
    MeterBand {
        rate,
        burst_size,
        kind,
    }
}

fn add(flags: MeterFlags, bands: Vec<MeterBand>) -> Body {
    Body::MeterMod(MeterMod {
        command: MeterCommand::Add,
        flags,
        meter: 1,
        bands,
    })
}

/// A switch whose packets pass meter 1.
fn with_meter(flags: MeterFlags, bands: Vec<MeterBand>) -> Bench {
    let mut bench = Bench::new();
    bench.done(add(flags, bands));
    let instructions = [vec![Instruction::Meter(1)], apply([output(2)])].concat();
    bench.done(Body::FlowMod(flow([], instructions)));
    bench
}

/// Packets that pass of one each at times that are so far apart.
fn passed(bench: &mut Bench, frame: &[u8], count: u64, apart_ns: u64) -> usize {
    let pass = |_| {
        bench.now_ns += apart_ns;
        bench.pass(1, frame).len()
    };
    (0..count).map(pass).sum()
}

#[test]
fn packets_a_second_beyond_the_rate_are_dropped_after_the_burst() {
    let flags = MeterFlags::PKTPS | MeterFlags::BURST;
    let mut bench = with_meter(flags, vec![band(10, 5, BandKind::Drop)]);
    // The burst at once, and then ten in a second.
    assert_eq!(passed(&mut bench, &arp(), 20, 0), 5);
    assert_eq!(passed(&mut bench, &arp(), 100, SECOND / 100), 10);
    assert_eq!(bench.account().dropped.of(DropReason::Meter), 105);
}

#[test]
fn kilobits_a_second_beyond_the_rate_are_dropped() {
    let flags = MeterFlags::KBPS | MeterFlags::BURST;
    // A burst of 16 kbit is 2000 bytes, and 80 kbit/s are 10,000 bytes a second.
    let mut bench = with_meter(flags, vec![band(80, 16, BandKind::Drop)]);
    let frame = [&arp()[..], &[0; 958]].concat();
    assert_eq!(frame.len(), 1000);
    assert_eq!(passed(&mut bench, &frame, 10, 0), 2);
    assert_eq!(passed(&mut bench, &frame, 100, SECOND / 50), 20);
}

#[test]
fn the_band_of_the_highest_rate_that_is_exceeded_applies() {
    let flags = MeterFlags::PKTPS | MeterFlags::BURST;
    let remark = band(10, 1, BandKind::DscpRemark { prec_level: 1 });
    let mut bench = with_meter(flags, vec![remark, band(20, 3, BandKind::Drop)]);
    let frame = ipv4(6, &tcp());
    let classes: Vec<u8> = (0..5)
        .flat_map(|_| bench.pass(1, &frame))
        .map(|(_, frame)| {
            assert!(is_right(&frame));
            frame[NETWORK + 1] >> 2
        })
        .collect();
    // AF11, then AF12; the rest is dropped.
    assert_eq!(classes, [10, 12, 12]);
    bench.now_ns = 5;
    let Reply::Meter(stats) = bench.reply(Request::Meter(1)) else {
        panic!("no meters");
    };
    assert_eq!((stats[0].packet_in_count, stats[0].flow_count), (5, 1));
    assert_eq!(stats[0].byte_in_count, 5 * frame.len() as u64);
    let counts: Vec<_> = stats[0].bands.iter().map(|one| one.packet_count).collect();
    assert_eq!(counts, [2, 2]);
}

#[test]
fn without_a_burst_a_tenth_of_a_second_passes_at_once() {
    let mut bench = with_meter(MeterFlags::PKTPS, vec![band(100, 0, BandKind::Drop)]);
    assert_eq!(passed(&mut bench, &arp(), 50, 0), 10);
}

#[test]
fn a_modified_meter_has_its_new_bands_and_a_deleted_one_takes_its_entries_with_it() {
    let flags = MeterFlags::PKTPS | MeterFlags::BURST;
    let mut bench = with_meter(flags, vec![band(1, 1, BandKind::Drop)]);
    let modification = |command, meter, rate| {
        Body::MeterMod(MeterMod {
            command,
            flags,
            meter,
            bands: vec![band(rate, rate, BandKind::Drop)],
        })
    };
    bench.done(modification(MeterCommand::Modify, 1, 7));
    assert_eq!(passed(&mut bench, &arp(), 20, 0), 7);
    let Reply::MeterConfig(configs) = bench.reply(Request::MeterConfig(number::ALL)) else {
        panic!("no meters");
    };
    assert_eq!(configs[0].bands, [band(7, 7, BandKind::Drop)]);
    let unknown = modification(MeterCommand::Modify, 2, 7);
    assert_eq!(bench.refused(unknown), MeterModFailed::UnknownMeter.into());
    bench.done(modification(MeterCommand::Delete, number::ALL, 1));
    bench.pass(1, &arp());
    assert_eq!(bench.account().dropped.of(DropReason::TableMiss), 1);
}

#[test]
fn meters_that_are_wrong_are_refused_by_their_codes() {
    let mut bench = Bench::new();
    let drop = || vec![band(1, 1, BandKind::Drop)];
    let experimenter = BandKind::Experimenter {
        experimenter: 1,
        data: vec![],
    };
    let both = MeterFlags::KBPS | MeterFlags::PKTPS;
    let cases = [
        (both, drop(), MeterModFailed::BadFlags),
        (
            MeterFlags::from_bits_retain(0x8000),
            drop(),
            MeterModFailed::BadFlags,
        ),
        (
            MeterFlags::KBPS,
            vec![band(0, 0, BandKind::Drop)],
            MeterModFailed::BadRate,
        ),
        (
            MeterFlags::KBPS,
            vec![band(1, 1, experimenter)],
            MeterModFailed::BadBand,
        ),
        (
            MeterFlags::KBPS,
            vec![band(1, 1, BandKind::Drop); 17],
            MeterModFailed::OutOfBands,
        ),
    ];
    for (flags, bands, code) in cases {
        assert_eq!(bench.refused(add(flags, bands)), code.into());
    }
    bench.done(add(MeterFlags::KBPS, drop()));
    assert_eq!(
        bench.refused(add(MeterFlags::KBPS, drop())),
        MeterModFailed::MeterExists.into()
    );
    for meter in [0, number::SLOWPATH, number::CONTROLLER] {
        let body = Body::MeterMod(MeterMod {
            command: MeterCommand::Add,
            flags: MeterFlags::KBPS,
            meter,
            bands: vec![],
        });
        assert_eq!(bench.refused(body), MeterModFailed::InvalidMeter.into());
    }
    let without = Body::FlowMod(flow([], vec![Instruction::Meter(9)]));
    assert_eq!(bench.refused(without), MeterModFailed::UnknownMeter.into());
}
