//! Bytes of a message, written at the end.

use alloc::vec::Vec;

/// Numbers in network byte order.
pub(crate) trait Put {
    fn put_u8(&mut self, value: u8);
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    fn put_zeros(&mut self, count: usize);
    /// Writes into the two bytes at `at` how many bytes there are from `start` on. A message that
    /// is longer than such a length can say is refused as a whole.
    fn put_length(&mut self, at: usize, start: usize);
    /// Zeros up to a multiple of 8 bytes from `start` on.
    fn pad8(&mut self, start: usize);
}

impl Put for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u16(&mut self, value: u16) {
        self.extend(value.to_be_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend(value.to_be_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend(value.to_be_bytes());
    }

    fn put_zeros(&mut self, count: usize) {
        self.resize(self.len() + count, 0);
    }

    fn put_length(&mut self, at: usize, start: usize) {
        let length = (self.len() - start) as u16;
        self[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }

    fn pad8(&mut self, start: usize) {
        let length = self.len() - start;
        self.put_zeros(length.next_multiple_of(8) - length);
    }
}
