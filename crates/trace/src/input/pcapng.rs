//! pcapng: sections of blocks (draft-ietf-opsawg-pcapng).

mod clock;
mod interface;
mod packet;

pub(in crate::input) use interface::Described;
use interface::describe;
use packet::Layout;

use super::LinkType;
use super::order::Order;
use super::record::{Fault, Head, cut, cut_of};
use super::window::{MAX_RECORD_BYTES, Window};

/// Types of blocks.
mod block {
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const PACKET: u32 = 2;
    pub(super) const SIMPLE_PACKET: u32 = 3;
    pub(super) const ENHANCED_PACKET: u32 = 6;
    pub(super) const SECTION: u32 = 0x0a0d_0d0a;
}

/// Types of blocks that Wireshark numbers as frames although they hold no packet: journal entries,
/// events of Sysdig, custom blocks.
const OTHER_FRAMES: [u32; 7] = [9, 0x204, 0x208, 0x216, 0x221, 0xbad, 0x4000_0bad];

/// Most different interfaces of a file; each is remembered.
const MAX_INTERFACES: usize = 1 << 16;

/// First bytes of a file: the type of a section header block, in either byte order.
pub(super) const BEGIN: [u8; 4] = block::SECTION.to_be_bytes();

/// Bytes of type and length of a block.
const BLOCK_HEADER_BYTES: usize = 8;
/// Bytes of a block without content: type, and the length at both ends.
const EMPTY_BLOCK_BYTES: usize = BLOCK_HEADER_BYTES + 4;
/// Byte-order mark of a section, read in the right order.
const BYTE_ORDER_MARK: u32 = 0x1a2b_3c4d;

/// A pcapng file.
#[derive(Default)]
pub(super) struct Pcapng {
    order: Order,
    /// Interfaces of the section.
    interfaces: Vec<Interface>,
    /// Interfaces of the sections before, by their place: the same one in the same place is the
    /// same interface.
    earlier: Vec<Interface>,
    /// Different interfaces that the file has shown, those of all sections together.
    numbered: usize,
}

/// An interface of a section.
#[derive(Clone)]
struct Interface {
    number: u32,
    described: Described,
}

impl Pcapng {
    /// Makes `head` that of the next frame; whether there is one. `interface` is asked for the
    /// numbers of interfaces.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        window: &mut Window,
        head: &mut Head,
        interface: impl FnMut(&Described) -> u32,
    ) -> Result<bool, Fault> {
        if self.packet_here(window, head, Layout::Enhanced).is_some() {
            return Ok(true);
        }
        self.next_rare(window, head, interface)
    }

    #[cold]
    fn next_rare(
        &mut self,
        window: &mut Window,
        head: &mut Head,
        mut interface: impl FnMut(&Described) -> u32,
    ) -> Result<bool, Fault> {
        loop {
            if !window.has(EMPTY_BLOCK_BYTES) {
                if window.is_at_end() {
                    return Ok(false);
                }
                return Err(cut(window, "a block", EMPTY_BLOCK_BYTES).into());
            }
            let kind = self.order.u32(window.bytes(), 0);
            match kind {
                block::ENHANCED_PACKET => {
                    self.packet(window, head, Layout::Enhanced)?;
                    return Ok(true);
                }
                block::SECTION => self.section(window)?,
                block::INTERFACE => self.interface(window, &mut interface)?,
                block::PACKET => {
                    self.packet(window, head, Layout::Obsolete)?;
                    return Ok(true);
                }
                block::SIMPLE_PACKET => {
                    self.simple_packet(window, head)?;
                    return Ok(true);
                }
                _ => self.other(window, kind, head)?,
            }
        }
    }

    /// Returns the byte order of the section.
    pub(super) fn order(&self) -> Order {
        self.order
    }

    /// Waits for all of a block; gives its bytes, which are at least those of an empty one.
    fn block(&self, window: &mut Window, name: &str) -> Result<usize, String> {
        let bytes = self.length(window)?;
        if bytes > MAX_RECORD_BYTES {
            return Err(format!("a block of {bytes} bytes: too many for {name}"));
        }
        if !window.has(bytes) {
            return Err(cut(window, name, bytes));
        }
        let again = self.order.u32(window.bytes(), bytes - 4) as usize;
        if again != bytes {
            return Err(two_lengths(bytes, again));
        }
        Ok(bytes)
    }

    /// Returns the length that the block says at its front.
    fn length(&self, window: &Window) -> Result<usize, String> {
        let bytes = self.order.u32(window.bytes(), 4) as usize;
        if bytes < EMPTY_BLOCK_BYTES || !bytes.is_multiple_of(4) {
            return Err(format!("a block of {bytes} bytes: no length of a block"));
        }
        Ok(bytes)
    }

    /// Takes the header of a section: its byte order counts from its own length on.
    #[cold]
    fn section(&mut self, window: &mut Window) -> Result<(), String> {
        /// Bytes of the block without options.
        const BYTES: usize = 28;
        let mark = &window.bytes()[8..12];
        self.order = if Order::Little.u32(mark, 0) == BYTE_ORDER_MARK {
            Order::Little
        } else if Order::Big.u32(mark, 0) == BYTE_ORDER_MARK {
            Order::Big
        } else {
            return Err("the header of a section without a byte-order mark".into());
        };
        let bytes = self.block(window, "the header of a section")?;
        if bytes < BYTES {
            return Err(format!("the header of a section of {bytes} bytes: too few"));
        }
        let [major, minor] = [12, 14].map(|at| self.order.u16(window.bytes(), at));
        if major != 1 {
            return Err(format!("pcapng of version {major}.{minor}, not 1.0"));
        }
        window.pass(bytes);
        let known = self.interfaces.len().min(self.earlier.len());
        self.earlier.splice(..known, self.interfaces.drain(..));
        Ok(())
    }

    /// Takes the description of an interface.
    #[cold]
    fn interface(
        &mut self,
        window: &mut Window,
        number: &mut impl FnMut(&Described) -> u32,
    ) -> Result<(), String> {
        let bytes = self.block(window, "the description of an interface")?;
        let described = describe(self.order, &window.bytes()[..bytes - 4])?;
        let number = match self.earlier.get(self.interfaces.len()) {
            Some(earlier) if earlier.described.is_same(&described) => earlier.number,
            _ if self.numbered == MAX_INTERFACES => {
                return Err(format!("more than {MAX_INTERFACES} interfaces"));
            }
            _ => {
                self.numbered += 1;
                number(&described)
            }
        };
        self.interfaces.push(Interface { number, described });
        window.pass(bytes);
        Ok(())
    }

    /// Passes over a block, which may be longer than the window.
    #[cold]
    fn other(&self, window: &mut Window, kind: u32, head: &mut Head) -> Result<(), Fault> {
        let bytes = self.length(window)?;
        let begin = window.offset();
        let fault = |message| Fault {
            offset: Some(begin),
            message,
        };
        if !window.skip(bytes as u64 - 4) || !window.has(4) {
            let here = window.offset() - begin + window.bytes().len() as u64;
            return Err(fault(cut_of(window, "a block", here, bytes)));
        }
        let again = self.order.u32(window.bytes(), 0) as usize;
        if again != bytes {
            return Err(fault(two_lengths(bytes, again)));
        }
        window.pass(4);
        head.number += u64::from(OTHER_FRAMES.contains(&kind));
        Ok(())
    }
}

fn two_lengths(front: usize, back: usize) -> String {
    format!("a block of {front} bytes at its front and {back} at its end")
}
