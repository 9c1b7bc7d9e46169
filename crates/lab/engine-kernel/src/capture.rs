//! Captures: the packets that an interface sends and receives, as on a wire, in a pcapng file stamped
//! with the emulator's time.

mod whole_file;

use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mptcplab_link::Nanos;
use mptcplab_record::{PacketDirection, PcapngWriter};

use crate::frames::segments::{Frame, with_checksum};
use whole_file::WholeFile;

/// Packets that wait for the disk; the emulator itself never does.
const WAITING_PACKETS: usize = 100_000;

/// The time for which the thread that writes them sleeps when there are none. It is not woken up by
/// each packet, for which the emulator would have to call the system, and which would take the
/// processors from the hosts in the very moment in which they act.
const REST: Duration = Duration::from_millis(10);

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
    direction: PacketDirection,
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
    let mut writer = PcapngWriter::new(BufWriter::new(file), name, snap_length)?;
    let (packets, queue) = sync_channel::<Captured>(WAITING_PACKETS);
    let thread = thread::Builder::new()
        .name("capture".into())
        .spawn(move || {
            loop {
                match queue.try_recv() {
                    Ok(Captured {
                        at,
                        direction,
                        original_bytes,
                        bytes,
                    }) => writer.write(at, direction, original_bytes, &bytes)?,
                    Err(TryRecvError::Empty) => thread::sleep(REST),
                    Err(TryRecvError::Disconnected) => break,
                }
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
    /// Begins the run: its time zero is so many nanoseconds after the Unix epoch.
    pub fn begin(&mut self, epoch_ns: u64) {
        self.epoch_ns = epoch_ns;
    }

    /// Captures a packet that the interface sent: number `index` of a frame.
    pub fn sent(&mut self, at: Nanos, frame: &Frame, index: usize) {
        self.capture(at, PacketDirection::Outbound, frame, index);
    }

    /// Captures a packet that the interface received: number `index` of a frame.
    pub fn received(&mut self, at: Nanos, frame: &Frame, index: usize) {
        self.capture(at, PacketDirection::Inbound, frame, index);
    }

    /// Counts the packets that the file lacks because the disk was too slow.
    pub fn lost(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lost)
    }

    fn capture(&mut self, at: Nanos, direction: PacketDirection, frame: &Frame, index: usize) {
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
