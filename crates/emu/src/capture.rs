//! Captures: what an interface sends and receives, as the packets that a wire would carry, in a
//! pcapng file stamped with the emulator's time.

mod whole_file;

use std::borrow::Cow;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mptcplab_link::Nanos;
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};

use crate::frames::segments::{Frame, with_checksum};
use whole_file::WholeFile;

/// Packets that wait for the disk; the emulator itself never does.
const WAITING_PACKETS: usize = 100_000;
/// `epb_flags`, bits 0 and 1: direction as the interface sees it.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// The capture of one interface, as the emulator's thread holds it.
pub struct Tap {
    packets: SyncSender<Captured>,
    /// Time zero, in nanoseconds since the Unix epoch.
    epoch_ns: u64,
    snap_length: usize,
    lost: Arc<AtomicU64>,
}

/// The thread that writes a capture's file.
pub struct Writer(JoinHandle<io::Result<()>>);

struct Captured {
    /// Since the Unix epoch.
    at: Duration,
    direction: u32,
    original_bytes: u32,
    bytes: Vec<u8>,
}

/// Starts a capture of the interface `name` to the file at `path`. Its room for packets that wait
/// is made here, which takes milliseconds.
///
/// # Errors
/// When the file cannot be made.
pub fn start(path: &Path, name: &str, snap_length: u32) -> io::Result<(Tap, Writer)> {
    let (whole, file) = WholeFile::create(path)?;
    let mut writer = PcapNgWriter::new(BufWriter::new(file)).map_err(io::Error::other)?;
    writer
        .write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: snap_length,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                // Nanoseconds.
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        })
        .map_err(io::Error::other)?;
    let (packets, queue) = sync_channel::<Captured>(WAITING_PACKETS);
    let thread = thread::Builder::new()
        .name("capture".into())
        .spawn(move || {
            for packet in queue {
                writer
                    .write_pcapng_block(EnhancedPacketBlock {
                        interface_id: 0,
                        timestamp: packet.at,
                        original_len: packet.original_bytes,
                        data: Cow::Owned(packet.bytes),
                        options: vec![EnhancedPacketOption::Flags(packet.direction)],
                    })
                    .map_err(io::Error::other)?;
            }
            whole.publish(&writer.into_inner().into_inner()?)
        })?;
    Ok((
        Tap {
            packets,
            epoch_ns: 0,
            snap_length: snap_length as usize,
            lost: Arc::default(),
        },
        Writer(thread),
    ))
}

impl Tap {
    /// The run begins: its time zero is so many nanoseconds after the Unix epoch.
    pub fn begin(&mut self, epoch_ns: u64) {
        self.epoch_ns = epoch_ns;
    }

    /// The interface sent packet `index` of a frame.
    pub fn sent(&mut self, at: Nanos, frame: &Frame, index: usize) {
        self.capture(at, OUTBOUND, frame, index);
    }

    /// The interface received packet `index` of a frame.
    pub fn received(&mut self, at: Nanos, frame: &Frame, index: usize) {
        self.capture(at, INBOUND, frame, index);
    }

    /// Counts the packets that the file lacks because the disk was too slow.
    pub fn lost(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lost)
    }

    fn capture(&mut self, at: Nanos, direction: u32, frame: &Frame, index: usize) {
        let (offload, bytes) = frame.carve(index..index + 1);
        let mut bytes = with_checksum(&offload, bytes);
        let original_bytes = bytes.len() as u32;
        bytes.truncate(self.snap_length);
        if self
            .packets
            .try_send(Captured {
                at: Duration::from_nanos(self.epoch_ns + at),
                direction,
                original_bytes,
                bytes,
            })
            .is_err()
        {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Writer {
    /// Waits until everything is in the file; the capture's [`Tap`] must be gone.
    ///
    /// # Errors
    /// When the file could not be written.
    ///
    /// # Panics
    /// When the thread did.
    pub fn finish(self) -> io::Result<()> {
        self.0
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
