//! Captures: what an interface sends and receives, as the frames that a wire would carry, in a
//! pcapng file stamped with virtual time after the Unix epoch.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::time::Duration;

use mptcplab_wire::Packet;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};

use crate::Nanos;

/// `epb_flags`, bits 0 and 1: direction as the interface sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    Inbound = 1,
    Outbound = 2,
}

/// The capture of one interface.
pub(crate) struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    snap_length: usize,
    /// Hardware addresses of the interface and of the link's other end.
    hardware: [[u8; 6]; 2],
    frame: Vec<u8>,
}

impl Capture {
    /// Of the interface `subject` at `end` of link number `link`, to the file at `path`, which has
    /// another name until it is complete.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn create(
        path: PathBuf,
        subject: &str,
        (link, end): (usize, usize),
        snap_length: u32,
    ) -> io::Result<Self> {
        let file = File::create(part(&path))?;
        let mut writer = PcapNgWriter::new(BufWriter::new(file)).map_err(io::Error::other)?;
        let description = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: snap_length,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(subject)),
                // Nanoseconds.
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        };
        writer
            .write_pcapng_block(description)
            .map_err(io::Error::other)?;
        Ok(Self {
            path,
            writer,
            snap_length: snap_length as usize,
            hardware: [hardware_address(link, end), hardware_address(link, 1 - end)],
            frame: Vec::new(),
        })
    }

    /// Writes a packet that the interface sends or receives.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn write(&mut self, now: Nanos, seen: Seen, packet: &Packet) -> io::Result<()> {
        let [own, other] = self.hardware;
        let (from, to) = match seen {
            Seen::Outbound => (own, other),
            Seen::Inbound => (other, own),
        };
        let kind: [u8; 2] = match packet.source().is_ipv4() {
            true => [0x08, 0x00],
            false => [0x86, 0xdd],
        };
        self.frame.clear();
        for bytes in [&to[..], &from[..], &kind[..]] {
            self.frame.extend_from_slice(bytes);
        }
        packet.write_to(&mut self.frame);
        let kept = self.frame.len().min(self.snap_length);
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(now),
            original_len: self.frame.len() as u32,
            data: Cow::Borrowed(&self.frame[..kept]),
            options: vec![EnhancedPacketOption::Flags(seen as u32)],
        };
        self.writer
            .write_pcapng_block(block)
            .map_err(io::Error::other)?;
        Ok(())
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.writer.into_inner().into_inner()?;
        fs::rename(part(&self.path), &self.path)
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").field("path", &self.path).finish()
    }
}

/// The name of a file until it is complete.
fn part(path: &std::path::Path) -> PathBuf {
    path.with_extension("part")
}

/// A locally administered hardware address that tells its place, as in the kernel engine.
fn hardware_address(link: usize, end: usize) -> [u8; 6] {
    let [high, low] = (link as u16).to_be_bytes();
    [0x02, 0, 0, high, low, end as u8]
}
