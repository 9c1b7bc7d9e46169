//! Bytes that grow within the memory in which they lie.

use core::ops::Deref;

use bytes::{Buf, Bytes};

/// A stretch of bytes, and the memory behind it, which may become a part of it.
///
/// An application often writes on with the rest of what was not taken, and segments are cut from
/// what it wrote: what follows in the same memory is joined without a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    memory: Bytes,
    len: usize,
}

impl Stretch {
    /// The first `len` bytes of some memory.
    pub(crate) fn new(memory: Bytes, len: usize) -> Self {
        let len = len.min(memory.len());
        Self { memory, len }
    }

    /// Some of the bytes.
    pub(crate) fn slice(&self, from: usize, len: usize) -> Bytes {
        self.memory.slice(from..from + len)
    }

    /// Some of the bytes, with the memory behind them.
    pub(crate) fn part(&self, from: usize, len: usize) -> Self {
        Self::new(self.memory.slice(from..), len)
    }

    /// Whether all of what follows lies behind it in its memory.
    pub(crate) fn has_behind(&self, next: &Self) -> bool {
        let behind = &self.memory[self.len..];
        behind.len() >= next.len && core::ptr::eq(behind.as_ptr(), next.memory.as_ptr())
    }

    /// Takes in what follows, as far as that lies behind it in its memory. Gives how many bytes.
    pub(crate) fn grow(&mut self, next: &Self) -> usize {
        let behind = &self.memory[self.len..];
        if !core::ptr::eq(behind.as_ptr(), next.memory.as_ptr()) {
            return 0;
        }
        let grown = behind.len().min(next.len);
        self.len += grown;
        grown
    }

    /// Leaves out the first bytes.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.memory.advance(bytes);
        self.len -= bytes;
    }

    /// Leaves out all but the first bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl Deref for Stretch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

impl From<Bytes> for Stretch {
    fn from(memory: Bytes) -> Self {
        let len = memory.len();
        Self { memory, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_in_the_same_memory_is_taken_in_and_nothing_else() {
        let memory = Bytes::from_static(b"abcdefgh");
        let mut stretch = Stretch::new(memory.clone(), 3);
        assert_eq!(stretch.grow(&Stretch::new(memory.slice(3..), 2)), 2);
        assert_eq!(&stretch[..], b"abcde");
        assert_eq!(stretch.grow(&Stretch::new(memory.slice(6..), 1)), 0);
        let copy = Bytes::copy_from_slice(b"fgh");
        assert_eq!(stretch.grow(&copy.into()), 0);
        let mut part = stretch.part(1, 2);
        assert_eq!(&part[..], b"bc");
        assert_eq!(part.grow(&stretch.part(3, 2)), 2);
        assert_eq!(&part[..], b"bcde");
        assert_eq!(part.slice(1, 2), b"cd"[..]);
    }

    #[test]
    fn memory_that_ends_does_not_grow() {
        let mut stretch = Stretch::from(Bytes::from_static(b"abc"));
        assert_eq!(stretch.grow(&Stretch::default()), 0);
        assert_eq!(stretch.grow(&Bytes::from_static(b"def").into()), 0);
    }
}
