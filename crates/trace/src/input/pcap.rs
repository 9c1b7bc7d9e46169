//! pcap: a header of the file, then frames (draft-ietf-opsawg-pcap).

use super::LinkType;
use super::order::Order;
use super::record::{Fault, Head, cut};
use super::window::{MAX_RECORD_BYTES, Window};
use crate::Nanos;

/// Bytes of the header of the file.
const FILE_HEADER_BYTES: usize = 24;
/// Bytes of the header of a frame.
const FRAME_HEADER_BYTES: usize = 16;

/// Nanoseconds of a second.
const SECOND: Nanos = 1_000_000_000;

/// Byte order and unit of time, from the first four bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Magic {
    order: Order,
    /// Nanoseconds of a unit of the fraction of a second.
    unit_ns: u32,
}

impl Magic {
    /// Returns the magic number of a file that begins like this.
    pub(super) fn new(begin: [u8; 4]) -> Option<Self> {
        let (order, unit_ns) = match begin {
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, 1000),
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, 1000),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, 1),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, 1),
            _ => return None,
        };
        Some(Self { order, unit_ns })
    }
}

/// A pcap file.
pub(super) struct Pcap {
    magic: Magic,
    interface: u32,
    link_type: LinkType,
}

impl Pcap {
    /// Reads the header of the file. `interface` is asked for the number of its only interface.
    pub(super) fn begin(
        magic: Magic,
        window: &mut Window,
        interface: impl FnOnce(LinkType) -> u32,
    ) -> Result<Self, String> {
        if !window.has(FILE_HEADER_BYTES) {
            return Err(cut(window, "the header of the file", FILE_HEADER_BYTES));
        }
        let header = window.bytes();
        let major = magic.order.u16(header, 4);
        if major != 2 {
            let minor = magic.order.u16(header, 6);
            return Err(format!("pcap of version {major}.{minor}, not 2.4"));
        }
        // The upper half tells the length of a frame check sequence, which the IP header's length
        // cuts off.
        let link_type = LinkType(magic.order.u32(header, 20) as u16);
        window.pass(FILE_HEADER_BYTES);
        Ok(Self {
            magic,
            interface: interface(link_type),
            link_type,
        })
    }

    /// Makes `head` that of the next frame; whether there is one.
    #[inline(always)]
    pub(super) fn next(&self, window: &mut Window, head: &mut Head) -> Result<bool, Fault> {
        if self.there(window, head).is_some() {
            return Ok(true);
        }
        self.next_rare(window, head)
    }

    /// Returns the next frame, if the window has it.
    #[inline(always)]
    fn there(&self, window: &mut Window, head: &mut Head) -> Option<()> {
        let unread = window.bytes();
        let (fields, _) = unread.first_chunk::<FRAME_HEADER_BYTES>()?.as_chunks();
        let field = |number: usize| self.magic.order.number(fields[number]);
        let captured = field(2);
        let bytes = captured as usize;
        let fraction = i64::from(field(1)) * i64::from(self.magic.unit_ns);
        if bytes > MAX_RECORD_BYTES
            || bytes > unread.len() - FRAME_HEADER_BYTES
            || fraction >= SECOND
        {
            return None;
        }
        head.original_bytes = field(3).max(captured);
        head.at = i64::from(field(0)) * SECOND + fraction;
        head.number += 1;
        head.interface = self.interface;
        head.link_type = self.link_type;
        head.from = window.pass(FRAME_HEADER_BYTES + bytes) + FRAME_HEADER_BYTES;
        head.bytes = bytes;
        head.options_end = 0;
        Some(())
    }

    #[cold]
    fn next_rare(&self, window: &mut Window, head: &mut Head) -> Result<bool, Fault> {
        if !window.has(FRAME_HEADER_BYTES) {
            if window.is_at_end() {
                return Ok(false);
            }
            return Err(cut(window, "the header of a frame", FRAME_HEADER_BYTES).into());
        }
        let bytes = self.magic.order.u32(window.bytes(), 8) as usize;
        if bytes > MAX_RECORD_BYTES {
            return Err(format!("a frame of {bytes} bytes: too many to be one").into());
        }
        let record = FRAME_HEADER_BYTES + bytes;
        if !window.has(record) {
            return Err(cut(window, "a frame", record).into());
        }
        if self.there(window, head).is_some() {
            return Ok(true);
        }
        let fraction = self.magic.order.u32(window.bytes(), 4);
        let unit = if self.magic.unit_ns == 1 {
            "nanoseconds"
        } else {
            "microseconds"
        };
        Err(format!("a frame with {fraction} {unit} beside its seconds: too many").into())
    }
}
