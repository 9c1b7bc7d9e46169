//! Options of TCP, read and written.

use super::{MAX_MPTCP_OPTIONS, Options, SackBlock, Timestamps, usual};
use crate::buffer::{Header, put};
use crate::option;

/// Most bytes of options in a TCP header.
pub const MAX_OPTION_BYTES: usize = 40;

/// Kinds of options (IANA's TCP parameters).
pub(super) mod kind {
    pub(crate) const END: u8 = 0;
    pub(crate) const NO_OPERATION: u8 = 1;
    pub(crate) const MAX_SEGMENT_SIZE: u8 = 2;
    pub(crate) const WINDOW_SCALE: u8 = 3;
    pub(crate) const SACK_PERMITTED: u8 = 4;
    pub(crate) const SACK: u8 = 5;
    pub(crate) const TIMESTAMPS: u8 = 8;
}

impl Options {
    /// The options in the bytes between TCP header and data. Options that are unknown or whose
    /// length is wrong for their kind are skipped, and so is what exceeds the room of
    /// [`Options`]; one that would reach beyond the end ends the list. Of TCP's options that are
    /// there twice the last counts.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        options.parse_more(bytes);
        options
    }

    /// Adds the options in `bytes` to these: a caller that has them in their place already saves
    /// a copy of all of them.
    pub(super) fn parse_more(&mut self, bytes: &[u8]) {
        let mut rest = usual::read(bytes, self);
        while let Some((&kind, after_kind)) = rest.split_first() {
            match kind {
                kind::END => break,
                kind::NO_OPERATION => rest = after_kind,
                _ => {
                    let length = usize::from(*after_kind.first().unwrap_or(&0));
                    if !(2..=rest.len()).contains(&length) {
                        break;
                    }
                    let (option, after) = rest.split_at(length);
                    self.take(kind, &option[2..]);
                    rest = after;
                }
            }
        }
    }

    /// Takes up one option.
    fn take(&mut self, kind: u8, body: &[u8]) {
        match (kind, body) {
            (option::KIND, _) => {
                // More of them have no use.
                if self.mptcp.len() < MAX_MPTCP_OPTIONS
                    && let Some(option) = option::read(body)
                {
                    self.mptcp.push(option);
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
    #[inline]
    pub fn encoded_bytes(&self) -> usize {
        self.layout().1
    }

    /// Where padding goes, and the bytes of all options with it.
    #[inline]
    pub(super) fn layout(&self) -> (Padding, usize) {
        let each = self.sum(|bytes| bytes.next_multiple_of(4));
        if each <= MAX_OPTION_BYTES {
            (Padding::Each, each)
        } else {
            (Padding::End, self.sum(|bytes| bytes).next_multiple_of(4))
        }
    }

    /// Sum of the bytes of all options, each `padded`.
    #[inline]
    fn sum(&self, padded: impl Fn(usize) -> usize) -> usize {
        let mut sum = padded(self.timestamps_bytes());
        if self.max_segment_bytes.is_some() {
            sum += MAX_SEGMENT_SIZE_BYTES;
        }
        if self.window_shift.is_some() {
            sum += padded(WINDOW_SCALE_BYTES);
        }
        if !self.sack.is_empty() {
            sum += padded(self.sack_bytes());
        }
        for option in &self.mptcp {
            sum += padded(option.encoded_bytes());
        }
        sum
    }

    /// Appends the options, laid out as [`layout`](Self::layout) says.
    pub(super) fn write(&self, padding: Padding, header: &mut Header) {
        let start = header.len();
        if let Some(bytes) = self.max_segment_bytes {
            put(
                header,
                &[kind::MAX_SEGMENT_SIZE, MAX_SEGMENT_SIZE_BYTES as u8],
            );
            put(header, &bytes.to_be_bytes());
        }
        if self.timestamps.is_some() || self.sack_permitted {
            padding.before(self.timestamps_bytes(), header);
        }
        if self.sack_permitted {
            put(header, &[kind::SACK_PERMITTED, SACK_PERMITTED_BYTES as u8]);
        }
        if let Some(timestamps) = self.timestamps {
            let mut option = [0; TIMESTAMPS_BYTES];
            option[0] = kind::TIMESTAMPS;
            option[1] = TIMESTAMPS_BYTES as u8;
            option[2..6].copy_from_slice(&timestamps.value.to_be_bytes());
            option[6..10].copy_from_slice(&timestamps.echo.to_be_bytes());
            put(header, &option);
        }
        if let Some(shift) = self.window_shift {
            padding.before(WINDOW_SCALE_BYTES, header);
            put(
                header,
                &[kind::WINDOW_SCALE, WINDOW_SCALE_BYTES as u8, shift],
            );
        }
        if !self.sack.is_empty() {
            padding.before(self.sack_bytes(), header);
            put(header, &[kind::SACK, self.sack_bytes() as u8]);
            for block in &self.sack {
                put(header, &block.left.to_be_bytes());
                put(header, &block.right.to_be_bytes());
            }
        }
        for option in &self.mptcp {
            let bytes = option.encoded_bytes();
            padding.before(bytes, header);
            option::write(option, bytes, header);
        }
        let written = header.len() - start;
        pad(header, written.next_multiple_of(4) - written);
    }

    /// Bytes of SACK permitted and timestamps, which together need no padding.
    #[inline]
    fn timestamps_bytes(&self) -> usize {
        SACK_PERMITTED_BYTES * usize::from(self.sack_permitted)
            + TIMESTAMPS_BYTES * usize::from(self.timestamps.is_some())
    }

    #[inline]
    fn sack_bytes(&self) -> usize {
        2 + 8 * self.sack.len()
    }
}

/// Bytes of options of one length.
const MAX_SEGMENT_SIZE_BYTES: usize = 4;
const WINDOW_SCALE_BYTES: usize = 3;
const SACK_PERMITTED_BYTES: usize = 2;
const TIMESTAMPS_BYTES: usize = 10;

/// Where padding goes.
#[derive(Clone, Copy)]
pub(super) enum Padding {
    /// Before each option, so that it ends at a multiple of 4 bytes.
    Each,
    /// After the last.
    End,
}

impl Padding {
    /// Appends what stands before an option of `bytes`.
    fn before(self, bytes: usize, header: &mut Header) {
        match self {
            Self::Each => pad(header, bytes.next_multiple_of(4) - bytes),
            Self::End => {}
        }
    }
}

/// Appends less than a word of padding.
#[inline]
fn pad(header: &mut Header, bytes: usize) {
    const NO_OPERATIONS: [u8; 3] = [kind::NO_OPERATION; 3];
    match bytes {
        0 => {}
        1 => put(header, &NO_OPERATIONS[..1]),
        2 => put(header, &NO_OPERATIONS[..2]),
        _ => put(header, &NO_OPERATIONS),
    }
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
