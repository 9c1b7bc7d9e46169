//! Options of TCP, read and written.

use super::{Options, SackBlock, Timestamps};
use crate::option;
use crate::packet::{Header, put};

/// Most bytes of options in a TCP header.
pub const MAX_OPTION_BYTES: usize = 40;

/// Kinds of options (IANA's TCP parameters).
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NO_OPERATION: u8 = 1;
    pub(super) const MAX_SEGMENT_SIZE: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}

impl Options {
    /// The options in the bytes between TCP header and data. Options that are unknown or whose
    /// length is wrong for their kind are skipped, and so is what exceeds the room of
    /// [`Options`]; one that would reach beyond the end ends the list. Of TCP's options that are
    /// there twice the last counts.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        let mut rest = bytes;
        while let Some((&kind, after_kind)) = rest.split_first() {
            match kind {
                kind::END => break,
                kind::NO_OPERATION => rest = after_kind,
                _ => {
                    let length = usize::from(*after_kind.first().unwrap_or(&0));
                    let (Some(body), Some(after)) = (rest.get(2..length), rest.get(length..))
                    else {
                        break;
                    };
                    options.take(kind, body);
                    rest = after;
                }
            }
        }
        options
    }

    /// Takes up one option.
    fn take(&mut self, kind: u8, body: &[u8]) {
        match (kind, body) {
            (option::KIND, _) => {
                if let Some(option) = option::read(body) {
                    // More of them than there is room for have no use: see MAX_MPTCP_OPTIONS.
                    self.mptcp.try_push(option).ok();
                }
            }
            (kind::TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                self.timestamps = Some(Timestamps {
                    value: u32::from_be_bytes([a, b, c, d]),
                    echo: u32::from_be_bytes([e, f, g, h]),
                });
            }
            (kind::SACK, _) => {
                let (blocks, rest) = body.as_chunks::<8>();
                if rest.is_empty() && (1..=self.sack.capacity()).contains(&blocks.len()) {
                    self.sack = blocks.iter().copied().map(SackBlock::from_bytes).collect();
                }
            }
            (kind::MAX_SEGMENT_SIZE, &[high, low]) => {
                self.max_segment_bytes = Some(u16::from_be_bytes([high, low]));
            }
            (kind::WINDOW_SCALE, &[shift]) => self.window_shift = Some(shift),
            (kind::SACK_PERMITTED, []) => self.sack_permitted = true,
            _ => {}
        }
    }

    /// Bytes of these options in a header: a multiple of 4, and more than [`MAX_OPTION_BYTES`]
    /// where they do not fit. Each is padded to 4 bytes where there is room for that, and else
    /// only their end: then whatever was parsed fits again.
    pub fn encoded_bytes(&self) -> usize {
        let aligned = self.bytes(Padding::Each);
        if aligned <= MAX_OPTION_BYTES {
            aligned
        } else {
            self.bytes(Padding::End).next_multiple_of(4)
        }
    }

    fn bytes(&self, padding: Padding) -> usize {
        let mut total = 0;
        self.each_unit(|unit| total += padding.padded(unit.bytes()));
        total
    }

    /// Appends the options.
    pub(super) fn write(&self, header: &mut Header) {
        let padding = if self.bytes(Padding::Each) <= MAX_OPTION_BYTES {
            Padding::Each
        } else {
            Padding::End
        };
        let start = header.len();
        self.each_unit(|unit| {
            let bytes = unit.bytes();
            pad(header, padding.padded(bytes) - bytes);
            unit.write(header);
        });
        let written = header.len() - start;
        pad(header, written.next_multiple_of(4) - written);
    }

    /// Gives the options in the order in which they are written.
    fn each_unit<'a>(&'a self, mut unit: impl FnMut(Unit<'a>)) {
        if let Some(bytes) = self.max_segment_bytes {
            unit(Unit::MaxSegmentBytes(bytes));
        }
        match self.timestamps {
            Some(timestamps) => unit(Unit::Timestamps(timestamps, self.sack_permitted)),
            None if self.sack_permitted => unit(Unit::SackPermitted),
            None => {}
        }
        if let Some(shift) = self.window_shift {
            unit(Unit::WindowShift(shift));
        }
        if !self.sack.is_empty() {
            unit(Unit::Sack(&self.sack));
        }
        for option in &self.mptcp {
            unit(Unit::Mptcp(option));
        }
    }
}

/// What is padded together.
enum Unit<'a> {
    MaxSegmentBytes(u16),
    /// Timestamps, after SACK permitted where that is true: together they need no padding.
    Timestamps(Timestamps, bool),
    SackPermitted,
    WindowShift(u8),
    Sack(&'a [SackBlock]),
    Mptcp(&'a option::MptcpOption),
}

impl Unit<'_> {
    /// Bytes without padding.
    fn bytes(&self) -> usize {
        match self {
            Self::MaxSegmentBytes(_) => 4,
            Self::Timestamps(_, sack_permitted) => 10 + 2 * usize::from(*sack_permitted),
            Self::SackPermitted => 2,
            Self::WindowShift(_) => 3,
            Self::Sack(blocks) => 2 + 8 * blocks.len(),
            Self::Mptcp(option) => option.encoded_bytes(),
        }
    }

    fn write(&self, header: &mut Header) {
        match *self {
            Self::MaxSegmentBytes(bytes) => {
                put(header, &[kind::MAX_SEGMENT_SIZE, 4]);
                put(header, &bytes.to_be_bytes());
            }
            Self::Timestamps(timestamps, sack_permitted) => {
                if sack_permitted {
                    Unit::SackPermitted.write(header);
                }
                put(header, &[kind::TIMESTAMPS, 10]);
                put(header, &timestamps.value.to_be_bytes());
                put(header, &timestamps.echo.to_be_bytes());
            }
            Self::SackPermitted => put(header, &[kind::SACK_PERMITTED, 2]),
            Self::WindowShift(shift) => put(header, &[kind::WINDOW_SCALE, 3, shift]),
            Self::Sack(blocks) => {
                put(header, &[kind::SACK, 2 + 8 * blocks.len() as u8]);
                for block in blocks {
                    put(header, &block.left.to_be_bytes());
                    put(header, &block.right.to_be_bytes());
                }
            }
            Self::Mptcp(option) => option::write(option, header),
        }
    }
}

/// Where padding goes.
#[derive(Clone, Copy)]
enum Padding {
    /// Before each option, so that it ends at a multiple of 4 bytes.
    Each,
    /// After the last.
    End,
}

impl Padding {
    /// Bytes of a unit of `bytes` with the padding that stands before it.
    fn padded(self, bytes: usize) -> usize {
        match self {
            Self::Each => bytes.next_multiple_of(4),
            Self::End => bytes,
        }
    }
}

fn pad(header: &mut Header, bytes: usize) {
    put(header, &[kind::NO_OPERATION; 3][..bytes]);
}

impl SackBlock {
    fn from_bytes(bytes: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        Self {
            left: u32::from_be_bytes([a, b, c, d]),
            right: u32::from_be_bytes([e, f, g, h]),
        }
    }
}
