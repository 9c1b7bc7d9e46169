//! A pcapng file that is written: one section, little-endian, times in nanoseconds
//! (draft-ietf-opsawg-pcapng).

use std::collections::HashMap;
use std::io::{self, Write};

use crate::input::{Frame, Interface};

/// Types of blocks.
mod block {
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const ENHANCED_PACKET: u32 = 6;
    pub(super) const SECTION: u32 = 0x0a0d_0d0a;
}

/// The option `if_tsresol`: nanoseconds, padded.
const NANOSECONDS: [u8; 8] = [9, 0, 1, 0, 9, 0, 0, 0];
/// The option `shb_userappl`, of eight bytes.
const APPLICATION: [u8; 12] = *b"\x04\0\x08\0mptcplab";
/// The option that ends the options of a block.
const END: [u8; 4] = [0; 4];
/// Bytes of type and lengths of a block.
const FRAME_BYTES: usize = 12;

/// The file.
pub(super) struct Pcapng<W: Write> {
    to: W,
    /// Numbers in this file of the interfaces that have had a frame.
    numbers: HashMap<u32, u32>,
    /// The content of the block that is being written.
    content: Vec<u8>,
}

impl<W: Write> Pcapng<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Those of `to`.
    pub(super) fn begin(to: W) -> io::Result<Self> {
        let mut file = Self {
            to,
            numbers: HashMap::new(),
            content: Vec::new(),
        };
        file.numbers_in_content(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]);
        file.content.extend(APPLICATION);
        file.content.extend(END);
        file.block(block::SECTION)?;
        Ok(file)
    }

    /// Writes a frame, and before the first of its interface this one's description.
    ///
    /// # Errors
    /// Those of `to`.
    pub(super) fn frame(
        &mut self,
        frame: &Frame<'_>,
        interface: &Interface,
        options: &[u8],
    ) -> io::Result<()> {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(frame.interface).or_insert(next);
        if number == next {
            self.interface(interface)?;
        }
        // The format has no times before the epoch.
        let ticks = u64::try_from(frame.at).unwrap_or_default();
        self.numbers_in_content(&[
            number,
            (ticks >> 32) as u32,
            ticks as u32,
            frame.captured.len() as u32,
            frame.original_bytes,
        ]);
        self.content.extend_from_slice(frame.captured);
        self.content
            .resize(self.content.len().next_multiple_of(4), 0);
        self.options(options);
        self.block(block::ENHANCED_PACKET)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Those of `to`.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn interface(&mut self, interface: &Interface) -> io::Result<()> {
        // No limit of the captured bytes is written: that of each frame shows what was cut.
        self.numbers_in_content(&[interface.link_type.0.into(), 0]);
        self.content.extend(NANOSECONDS);
        self.content.extend_from_slice(&interface.options);
        self.content.extend(END);
        self.block(block::INTERFACE)
    }

    fn options(&mut self, options: &[u8]) {
        if !options.is_empty() {
            self.content.extend_from_slice(options);
            self.content.extend(END);
        }
    }

    fn numbers_in_content(&mut self, numbers: &[u32]) {
        self.content
            .extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    /// Writes the content as a block.
    fn block(&mut self, kind: u32) -> io::Result<()> {
        let bytes = ((self.content.len() + FRAME_BYTES) as u32).to_le_bytes();
        self.to.write_all(&kind.to_le_bytes())?;
        self.to.write_all(&bytes)?;
        self.to.write_all(&self.content)?;
        self.to.write_all(&bytes)?;
        self.content.clear();
        Ok(())
    }
}
