//! Packets put before tshark.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mptcplab_wire::Packet;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;

/// The fields of each packet as tshark reads them; `None` without tshark.
pub(crate) fn tshark<'a>(
    name: &str,
    packets: impl IntoIterator<Item = &'a Packet>,
    fields: &[&str],
) -> Option<Vec<Vec<String>>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
    write(&path, packets);
    let mut command = Command::new("tshark");
    for preference in ["ip", "tcp", "udp"] {
        command.args(["-o", &format!("{preference}.check_checksum:TRUE")]);
    }
    command.arg("-r").arg(&path).args(["-T", "fields"]);
    for field in fields {
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

/// Writes packets, a millisecond apart, as a capture without link headers.
fn write<'a>(path: &Path, packets: impl IntoIterator<Item = &'a Packet>) {
    let mut writer = PcapNgWriter::new(File::create(path).unwrap()).unwrap();
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: 0,
        options: vec![],
    };
    writer.write_pcapng_block(interface).unwrap();
    for (index, packet) in packets.into_iter().enumerate() {
        let mut data = Vec::new();
        packet.write_to(&mut data);
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_millis(index as u64),
            original_len: data.len() as u32,
            data: data.into(),
            options: vec![],
        };
        writer.write_pcapng_block(block).unwrap();
    }
}
