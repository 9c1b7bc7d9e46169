//! The capture file of one interface (pcapng).

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};

/// `epb_flags`, bits 0 and 1: direction as the interface sees it.
#[derive(Clone, Copy, Debug)]
pub enum PacketDirection {
    /// The interface received the packet.
    Inbound = 1,
    /// The interface sent it.
    Outbound = 2,
}

/// Writes the Ethernet frames of one interface.
pub struct PcapngWriter<W: Write> {
    writer: PcapNgWriter<W>,
    snap_length: usize,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the headers of a file of the interface `name`, of whose frames `snap_length` bytes
    /// are kept.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, name: &str, snap_length: u32) -> io::Result<Self> {
        let mut writer = PcapNgWriter::new(out).map_err(cause)?;
        let description = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: snap_length,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                // Nanoseconds.
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        };
        writer.write_pcapng_block(description).map_err(cause)?;
        Ok(Self {
            writer,
            snap_length: snap_length as usize,
        })
    }

    /// Writes a frame of `original_bytes`, of which `frame` holds all or the first part, with its
    /// time since the Unix epoch.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(
        &mut self,
        at: Duration,
        direction: PacketDirection,
        original_bytes: u32,
        frame: &[u8],
    ) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: at,
            original_len: original_bytes,
            data: Cow::Borrowed(&frame[..frame.len().min(self.snap_length)]),
            options: vec![EnhancedPacketOption::Flags(direction as u32)],
        };
        self.writer.write_pcapng_block(block).map_err(cause)?;
        Ok(())
    }

    /// The file, with all frames written to it.
    pub fn into_inner(self) -> W {
        self.writer.into_inner()
    }
}

/// The file system's own error, which that of the writer leaves out.
fn cause(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
