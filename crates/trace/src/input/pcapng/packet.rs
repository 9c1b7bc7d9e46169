//! Blocks that hold a packet.

use super::{Pcapng, block};
use crate::input::record::Head;
use crate::input::window::Window;

/// Where the bytes of a frame begin in a packet block.
const FRAME: usize = 28;
/// The same in a simple packet block.
const SIMPLE_FRAME: usize = 12;
/// Bytes of the length that ends a block.
const LENGTH_BYTES: usize = 4;

/// Field of the interface in a packet block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A number of four bytes: an enhanced packet block.
    Enhanced,
    /// A number of two bytes and a count of frames that were dropped: the block which that
    /// replaced.
    Obsolete,
}

impl Layout {
    fn block_type(self) -> u32 {
        match self {
            Self::Enhanced => block::ENHANCED_PACKET,
            Self::Obsolete => block::PACKET,
        }
    }
}

impl Pcapng {
    /// Makes `head` that of the packet at the front of the window, where this has all of its block
    /// and nothing is wrong with it.
    #[inline(always)]
    pub(super) fn packet_here(
        &self,
        window: &mut Window,
        head: &mut Head,
        layout: Layout,
    ) -> Option<()> {
        let unread = window.bytes();
        let (fields, _) = unread.first_chunk::<FRAME>()?.as_chunks();
        let field = |number: usize| self.order.number(fields[number]);
        let (length, captured) = (field(1), field(5));
        let (block, bytes) = (length as usize, captured as usize);
        let last = unread.get(block.wrapping_sub(LENGTH_BYTES)..block)?;
        let is_sound = field(0) == layout.block_type()
            && self.order.u32(last, 0) == length
            && length.is_multiple_of(4)
            && bytes <= block.checked_sub(FRAME + LENGTH_BYTES)?;
        if !is_sound {
            return None;
        }
        let number = match layout {
            Layout::Enhanced => field(2) as usize,
            Layout::Obsolete => usize::from(self.order.u16(unread, 8)),
        };
        let interface = self.interfaces.get(number)?;
        let ticks = u64::from(field(3)) << 32 | u64::from(field(4));
        head.original_bytes = field(6).max(captured);
        head.at = interface.described.clock.nanos(ticks);
        head.number += 1;
        head.interface = interface.number;
        head.link_type = interface.described.link_type;
        head.from = window.pass(block) + FRAME;
        head.bytes = bytes;
        head.options_end = head.from + block - FRAME - LENGTH_BYTES;
        Some(())
    }

    /// Makes `head` that of a packet, for which it waits.
    pub(super) fn packet(
        &self,
        window: &mut Window,
        head: &mut Head,
        layout: Layout,
    ) -> Result<(), String> {
        let block = self.block(window, "a packet block")?;
        if self.packet_here(window, head, layout).is_some() {
            return Ok(());
        }
        if block < FRAME + LENGTH_BYTES {
            return Err(too_few(block));
        }
        let fields = window.bytes();
        let bytes = self.order.u32(fields, 20);
        if bytes as usize > block - FRAME - LENGTH_BYTES {
            return Err(format!("a frame of {bytes} bytes in a block of {block}"));
        }
        Err(no_interface(match layout {
            Layout::Enhanced => self.order.u32(fields, 8),
            Layout::Obsolete => self.order.u16(fields, 8).into(),
        }))
    }

    /// Makes `head` that of a packet of the first interface, without a time: it has that of the
    /// frame before.
    pub(super) fn simple_packet(&self, window: &mut Window, head: &mut Head) -> Result<(), String> {
        let block = self.block(window, "a packet block")?;
        if block < SIMPLE_FRAME + LENGTH_BYTES {
            return Err(too_few(block));
        }
        let Some(interface) = self.interfaces.first() else {
            return Err(no_interface(0));
        };
        let original = self.order.u32(window.bytes(), 8);
        let kept = match interface.described.snap_bytes {
            0 => original,
            limit => original.min(limit),
        };
        // Some writers name no limit and cut nevertheless.
        let bytes = (kept as usize).min(block - SIMPLE_FRAME - LENGTH_BYTES);
        head.number += 1;
        head.interface = interface.number;
        head.link_type = interface.described.link_type;
        head.from = window.pass(block) + SIMPLE_FRAME;
        head.bytes = bytes;
        head.options_end = 0;
        head.original_bytes = original.max(bytes as u32);
        Ok(())
    }
}

fn too_few(block: usize) -> String {
    format!("a packet block of {block} bytes: too few")
}

fn no_interface(number: u32) -> String {
    format!("a frame of interface {number}, which its section does not describe")
}
