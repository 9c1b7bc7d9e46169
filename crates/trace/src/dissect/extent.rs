//! Bytes of which not all need have been captured.

use super::Skip;

/// A part of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent<'a> {
    /// Captured bytes of it, from its beginning.
    pub(super) captured: &'a [u8],
    /// Bytes that it has as the headers before it tell: not fewer than were captured.
    pub(super) bytes: u32,
}

impl<'a> Extent<'a> {
    /// Returns its first bytes.
    #[inline]
    pub(super) fn front<const N: usize>(&self) -> Result<&'a [u8; N], Skip> {
        match self.captured.first_chunk() {
            Some(front) => Ok(front),
            None => Err(lacks(N, self.bytes)),
        }
    }

    /// Returns the extent behind its first bytes.
    #[inline]
    pub(super) fn after(&self, bytes: usize) -> Result<Self, Skip> {
        match self.captured.get(bytes..) {
            Some(captured) => Ok(Self {
                captured,
                bytes: self.bytes - bytes as u32,
            }),
            None => Err(lacks(bytes, self.bytes)),
        }
    }

    /// Cuts it after `bytes`; where the headers around it give less, it is taken as that long.
    #[inline]
    pub(super) fn with_bytes(&self, bytes: u32) -> Self {
        let captured = self.captured.len().min(bytes as usize);
        Self {
            captured: &self.captured[..captured],
            bytes,
        }
    }

    /// Returns whether all of it was captured.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.captured.len() == self.bytes as usize
    }
}

/// Returns why the first `wanted` bytes of an extent of `bytes` were not captured.
#[cold]
fn lacks(wanted: usize, bytes: u32) -> Skip {
    if wanted <= bytes as usize {
        Skip::Truncated
    } else {
        Skip::Malformed
    }
}
