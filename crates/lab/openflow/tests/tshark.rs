//! Messages as tshark reads them: each to its end, with the same numbers, and no complaint.

mod strategies;

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use mptcplab_openflow::meter::{BandKind, MeterBand};
use mptcplab_openflow::multipart::{Part, Reply};
use mptcplab_openflow::{Action, Body, Instruction, Message};
use mptcplab_wire::{Ecn, Flags, Options, Packet, Segment};
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const MESSAGES: u16 = 2000;

/// Fields that tshark shows of a message.
const FIELDS: [&str; 6] = [
    "_ws.malformed",
    "openflow_v4.type",
    "openflow_v4.xid",
    "openflow_v4.length",
    "openflow_v4.action.type",
    "openflow_v4.instruction.type",
];

/// A segment of a connection of its own to the port of OpenFlow.
fn packet(number: u16, payload: Vec<u8>) -> Packet {
    let ends = [10_000 + number, 6653].map(|port| ([10, 0, 0, 1], port).into());
    Segment {
        source: ends[0],
        destination: ends[1],
        sequence: 1,
        acknowledgement: 1,
        flags: Flags {
            ack: true,
            psh: true,
            ..Flags::default()
        },
        window: 1000,
        urgent: 0,
        options: Options::default(),
        ecn: Ecn::NotCapable,
        payload: Bytes::from(payload),
    }
    .into_packet(64)
}

fn write(path: &Path, messages: &[Message]) {
    let mut writer = PcapNgWriter::new(File::create(path).unwrap()).unwrap();
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: 0,
        options: vec![],
    };
    writer.write_pcapng_block(interface).unwrap();
    for (number, message) in (0..).zip(messages) {
        let mut payload = Vec::new();
        message.encode(&mut payload).unwrap();
        let mut data = Vec::new();
        packet(number, payload).write_to(&mut data);
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_millis(number.into()),
            original_len: data.len() as u32,
            data: data.into(),
            options: vec![],
        };
        writer.write_pcapng_block(block).unwrap();
    }
}

/// The fields of each message; `None` without tshark.
fn tshark(messages: &[Message]) -> Option<Vec<Vec<String>>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openflow.pcapng");
    write(&path, messages);
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields"]);
    command.args(["-d", "tcp.port==6653,openflow"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: this machine has no tshark: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().map(row).collect())
}

/// Types of the actions and of the instructions of a message, in their order.
fn kinds(body: &Body) -> Option<(Vec<u16>, Vec<u16>)> {
    let of = |actions: &[Action]| actions.iter().map(Action::kind).collect();
    match body {
        Body::PacketOut(packet) => Some((of(&packet.actions), vec![])),
        Body::GroupMod(group) => {
            let lists = group.buckets.iter().map(|bucket| of(&bucket.actions));
            Some((lists.collect::<Vec<Vec<u16>>>().concat(), vec![]))
        }
        Body::FlowMod(flow_mod) => {
            let lists = flow_mod.instructions.iter().map(|one| match one {
                Instruction::WriteActions(actions) | Instruction::ApplyActions(actions) => {
                    of(actions)
                }
                _ => vec![],
            });
            let instructions = flow_mod.instructions.iter().map(Instruction::kind);
            Some((
                lists.collect::<Vec<Vec<u16>>>().concat(),
                instructions.collect(),
            ))
        }
        _ => None,
    }
}

fn is_standard(band: &MeterBand) -> bool {
    !matches!(band.kind, BandKind::Experimenter { .. })
}

/// A message without what tshark reads as something else than OpenFlow 1.3.
fn readable(mut message: Message) -> Option<Message> {
    match &mut message.body {
        // Read by the dissector of the version that it says.
        Body::Hello(_) => return None,
        // Read beyond its end, as are an experimenter's bands.
        Body::MultipartReply(Part {
            content: Reply::Experimenter(_),
            ..
        }) => return None,
        Body::MeterMod(meter) => meter.bands.retain(is_standard),
        Body::MultipartReply(Part {
            content: Reply::MeterConfig(meters),
            ..
        }) => meters
            .iter_mut()
            .for_each(|meter| meter.bands.retain(is_standard)),
        // Read as frames.
        Body::PacketIn(packet) => packet.data.clear(),
        Body::PacketOut(packet) => packet.data.clear(),
        // Read as the request that failed.
        Body::Error(error) => error.data = vec![4, 20, 0, 8, 0, 0, 0, 1],
        _ => {}
    }
    Some(message)
}

fn numbers(text: &str) -> Vec<u16> {
    text.split(',').filter_map(|one| one.parse().ok()).collect()
}

#[test]
fn tshark_reads_every_message_to_its_end() {
    let mut runner = TestRunner::deterministic();
    let strategy = strategies::message();
    let mut message = || strategy.new_tree(&mut runner).unwrap().current();
    let messages: Vec<Message> = std::iter::repeat_with(&mut message)
        .filter_map(readable)
        .take(MESSAGES.into())
        .collect();
    let Some(rows) = tshark(&messages) else {
        return;
    };
    assert_eq!(rows.len(), messages.len());
    for (row, message) in rows.iter().zip(&messages) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes).unwrap();
        assert_eq!(row[0], "", "{message:?}");
        let first = |text: &str| numbers(text).first().copied();
        assert_eq!(
            first(&row[1]),
            Some(message.body.number().into()),
            "{message:?}"
        );
        let xid = message.xid.to_string();
        assert_eq!(row[2].split(',').next(), Some(&*xid), "{message:?}");
        assert_eq!(first(&row[3]), Some(bytes.len() as u16), "{message:?}");
        if let Some((actions, instructions)) = kinds(&message.body) {
            assert_eq!(numbers(&row[4]), actions, "{message:?}");
            assert_eq!(numbers(&row[5]), instructions, "{message:?}");
        }
    }
}
