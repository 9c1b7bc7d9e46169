//! The receive ring of an AF_PACKET socket (TPACKET_V2): memory shared with the kernel.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use super::segments::{ETHERNET_BYTES, Frame, OffloadHeader};

const PACKET_RX_RING: libc::c_int = 5;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;

/// Room in a slot before the frame: the slot's header, its alignment and the offload header.
const SLOT_HEADER_BYTES: usize = 128;
/// A frame of the largest IP packet.
const LARGEST_FRAME_BYTES: usize = 65535 + ETHERNET_BYTES;
const PAGE_BYTES: usize = 4096;
/// At 1 Gbit/s of 1500-byte packets, 12 ms of arrivals.
const SLOTS: usize = 1024;
/// At 4 Gbit/s of 64 KiB segments, 16 ms of arrivals; of packets of 1500 bytes at 500 Mbit/s, 3 ms.
const LEAST_LARGE_SLOTS: usize = 128;
/// Memory of all rings for large segments that are opened together.
const LARGE_RINGS_BYTES: usize = 256 << 20;
/// The kernel rounds blocks up to a power of two of pages.
const LARGE_BLOCK_BYTES: usize = 1 << 20;

/// `struct tpacket2_hdr`.
#[repr(C)]
struct SlotHeader {
    status: AtomicU32,
    original_bytes: u32,
    bytes: u32,
    mac: u16,
    net: u16,
    seconds: u32,
    nanoseconds: u32,
    vlan_tci: u16,
    vlan_tpid: u16,
    padding: [u8; 4],
}

/// A frame and the time at which it arrived.
#[derive(Debug)]
pub struct Arrival {
    /// The frame.
    pub frame: Frame,
    /// Nanoseconds since the Unix epoch (CLOCK_REALTIME), as the kernel stamped it.
    pub realtime_ns: u64,
}

/// A ring of slots that the kernel fills in turn.
pub(super) struct Ring {
    memory: ptr::NonNull<u8>,
    bytes: NonZeroUsize,
    slots: usize,
    slot_bytes: usize,
    /// Slots lie in blocks of whole pages.
    slots_a_block: usize,
    block_bytes: usize,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone; it is only reached through `&mut self`.
unsafe impl Send for Ring {}

/// The frames that a ring has room for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slots {
    /// For frames of this MTU.
    Packets { mtu: u32 },
    /// So many for large segments.
    Segments(usize),
}

impl Slots {
    /// Those of one of so many rings for large segments.
    ///
    /// A sender with many slow connections hands over packets rather than segments, each of which
    /// takes a slot of 64 KiB: the fewer rings there are, the more slots each has.
    pub(super) fn of_segments(rings: usize) -> Self {
        let share = LARGE_RINGS_BYTES / slot_bytes(LARGEST_FRAME_BYTES) / rings.max(1);
        Self::Segments(share.clamp(LEAST_LARGE_SLOTS, SLOTS))
    }
}

fn slot_bytes(frame_bytes: usize) -> usize {
    (frame_bytes + SLOT_HEADER_BYTES).next_multiple_of(128)
}

impl Ring {
    pub(super) fn new(socket: &OwnedFd, slots: Slots) -> io::Result<Self> {
        let (frame_bytes, slots, block_bytes) = match slots {
            Slots::Packets { mtu } => {
                let frame_bytes = mtu as usize + ETHERNET_BYTES;
                let slot_bytes = slot_bytes(frame_bytes);
                let block_bytes = (slot_bytes * 8)
                    .next_multiple_of(PAGE_BYTES)
                    .min(slot_bytes.next_multiple_of(PAGE_BYTES).max(4 * PAGE_BYTES));
                (frame_bytes, SLOTS, block_bytes)
            }
            Slots::Segments(slots) => (LARGEST_FRAME_BYTES, slots, LARGE_BLOCK_BYTES),
        };
        let slot_bytes = slot_bytes(frame_bytes);
        let slots_a_block = block_bytes / slot_bytes;
        let blocks = slots.div_ceil(slots_a_block);
        let slots = blocks * slots_a_block;
        let request = [
            block_bytes as u32,
            blocks as u32,
            slot_bytes as u32,
            slots as u32,
        ];
        set_option(socket, PACKET_RX_RING, &request)?;
        let bytes = NonZeroUsize::new(block_bytes * blocks).expect("a ring has blocks");
        // SAFETY: a new shared mapping of the ring that the kernel has just made for the socket.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes.get(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = ptr::NonNull::new(memory.cast()).expect("mmap gives no null");
        Ok(Self {
            memory,
            bytes,
            slots,
            slot_bytes,
            slots_a_block,
            block_bytes,
            next: 0,
        })
    }

    /// Takes the next slot: `None` when the kernel has filled none, `Some(None)` when its frame
    /// was too large for the slot.
    pub(super) fn take(&mut self) -> Option<Option<Arrival>> {
        let offset = self.next / self.slots_a_block * self.block_bytes
            + self.next % self.slots_a_block * self.slot_bytes;
        // SAFETY: the slot lies inside the mapping and starts with a header, aligned to 16 bytes.
        let slot = unsafe { self.memory.add(offset) };
        // SAFETY: as above; the kernel writes the status last, so that after the acquiring load
        // the rest of the slot is ours until we give it back.
        let header = unsafe { slot.cast::<SlotHeader>().as_ref() };
        if header.status.load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return None;
        }
        self.next = (self.next + 1) % self.slots;
        let start = usize::from(header.mac);
        let length = header.bytes as usize;
        let fits = header.bytes == header.original_bytes
            && start >= OffloadHeader::BYTES
            && start + length <= self.slot_bytes;
        let arrival = fits.then(|| {
            // SAFETY: offload header and frame lie inside the slot, as just checked.
            let bytes = unsafe {
                std::slice::from_raw_parts(
                    slot.as_ptr().add(start - OffloadHeader::BYTES),
                    OffloadHeader::BYTES + length,
                )
            };
            let (offload, frame) = bytes.split_at(OffloadHeader::BYTES);
            let offload = OffloadHeader::from_bytes(offload.try_into().expect("split there"));
            let realtime_ns =
                u64::from(header.seconds) * 1_000_000_000 + u64::from(header.nanoseconds);
            Arrival {
                frame: Frame::new(offload, frame.to_vec()),
                realtime_ns,
            }
        });
        header.status.store(TP_STATUS_KERNEL, Ordering::Release);
        Some(arrival)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length and is not used any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes.get()) };
    }
}

pub(super) fn set_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of a plain value.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
