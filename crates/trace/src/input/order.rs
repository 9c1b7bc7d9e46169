//! Numbers in the byte order of the machine that wrote a capture.

/// An order of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Little,
    Big,
}

impl Order {
    /// Returns the number at a place of `bytes`, which has it.
    #[inline]
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let field = [bytes[at], bytes[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(field),
            Self::Big => u16::from_be_bytes(field),
        }
    }

    /// Returns the number at a place of `bytes`, which has it.
    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        self.number([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    /// Returns the number that 4 bytes are.
    #[inline(always)]
    pub(super) fn number(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// Returns the number that 8 bytes are.
    pub(super) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }
}
