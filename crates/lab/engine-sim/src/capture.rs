//! Captures: the packets that an interface sends and receives, as Ethernet frames in a pcapng file
//! stamped with virtual time after the Unix epoch.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mptcplab_record::{PacketDirection, PcapngWriter};
use mptcplab_segment::hardware_address;
use mptcplab_wire::Packet;

use crate::Nanos;

/// The capture of one interface.
pub(crate) struct Capture {
    part: Part,
    writer: PcapngWriter<BufWriter<File>>,
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
        let (part, file) = Part::create(path)?;
        Ok(Self {
            part,
            writer: PcapngWriter::new(BufWriter::new(file), subject, snap_length)?,
            hardware: [hardware_address(link, end), hardware_address(link, 1 - end)],
            frame: Vec::new(),
        })
    }

    /// The file's name once it is complete.
    pub(crate) fn path(&self) -> &Path {
        &self.part.path
    }

    /// Writes a frame that the interface sends or receives.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn write_frame(
        &mut self,
        now: Nanos,
        direction: PacketDirection,
        frame: &[u8],
    ) -> io::Result<()> {
        let (at, bytes) = (Duration::from_nanos(now), frame.len() as u32);
        self.writer.write(at, direction, bytes, frame)
    }

    /// Writes a packet that the interface sends or receives.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn write(
        &mut self,
        now: Nanos,
        direction: PacketDirection,
        packet: &Packet,
    ) -> io::Result<()> {
        let [own, other] = self.hardware;
        let (from, to) = match direction {
            PacketDirection::Outbound => (own, other),
            PacketDirection::Inbound => (other, own),
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
        let (at, bytes) = (Duration::from_nanos(now), self.frame.len() as u32);
        self.writer.write(at, direction, bytes, &self.frame)
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.writer.into_inner().into_inner()?;
        self.part.publish()
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture")
            .field("path", &self.path())
            .finish()
    }
}

/// The name of a file until it is complete; the file goes with this unless it was published.
struct Part {
    path: PathBuf,
}

impl Part {
    fn create(path: PathBuf) -> io::Result<(Self, File)> {
        let part = Self { path };
        let file = File::create(part.name())?;
        Ok((part, file))
    }

    fn name(&self) -> PathBuf {
        self.path.with_extension("part")
    }

    fn publish(self) -> io::Result<()> {
        fs::rename(self.name(), &self.path)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Of a published file this is no longer the name.
        let _ = fs::remove_file(self.name());
    }
}
