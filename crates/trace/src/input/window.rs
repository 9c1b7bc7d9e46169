//! A part of a stream at a time.

use std::io::{self, Read};

use super::stream::Stream;

/// Most bytes that a file is read by: they stay in the processor's cache.
const MAX_BUFFER_BYTES: usize = 256 * 1024;
/// Fewest of them: beyond that a call to the system costs more than what it brings.
const MIN_BUFFER_BYTES: usize = 16 * 1024;
/// Bytes that the buffers of many files share.
const SHARED_BUFFER_BYTES: usize = 16 << 20;

/// Most bytes that a record may have: the limit of Wireshark. The buffer grows to twice as much at
/// most, and only with bytes that are there.
pub(super) const MAX_RECORD_BYTES: usize = 16 << 20;

/// The bytes of a stream that are looked at: those that were read and not yet passed over.
pub(super) struct Window {
    stream: Stream,
    buffer: Vec<u8>,
    /// The first byte in `buffer` that was not passed over.
    start: usize,
    /// Where the bytes that were read end in `buffer`.
    end: usize,
    /// Place in the stream of the first byte of `buffer`.
    base: u64,
    /// No more is to be read: the stream has ended, or failed.
    ended: bool,
    failure: Option<io::Error>,
    /// Returns how many bytes of the file, compressed as it is, were read.
    bytes_read: u64,
}

impl Window {
    /// Creates a window on one stream of `streams` that are read at the same time.
    pub(super) fn new(stream: Stream, streams: usize) -> Self {
        let share = SHARED_BUFFER_BYTES / streams.max(1);
        Self {
            stream,
            buffer: vec![0; share.clamp(MIN_BUFFER_BYTES, MAX_BUFFER_BYTES)],
            start: 0,
            end: 0,
            base: 0,
            ended: false,
            failure: None,
            bytes_read: 0,
        }
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns how many bytes of the file, compressed as it is, were read.
    #[inline]
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns the place in the stream of the first byte that was not passed over.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Reads until the window has `bytes`; whether it has. What was passed over may be lost then.
    #[inline]
    pub(super) fn has(&mut self, bytes: usize) -> bool {
        self.end - self.start >= bytes || self.fill(bytes)
    }

    /// Returns all bytes of the window.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Passes over bytes that the window has; gives where they begin, for [`at`](Self::at).
    #[inline]
    pub(super) fn pass(&mut self, bytes: usize) -> usize {
        debug_assert!(bytes <= self.end - self.start);
        let at = self.start;
        self.start += bytes;
        at
    }

    /// Bytes that were passed over since the window was last asked whether it [`has`](Self::has)
    /// some.
    #[inline]
    pub(super) fn at(&self, at: usize, bytes: usize) -> &[u8] {
        &self.buffer[at..at + bytes]
    }

    /// Passes over bytes without keeping them; whether the stream has as many.
    pub(super) fn skip(&mut self, mut bytes: u64) -> bool {
        loop {
            let here = bytes.min((self.end - self.start) as u64);
            self.start += here as usize;
            bytes -= here;
            if bytes == 0 {
                return true;
            }
            if !self.has(1) {
                return false;
            }
        }
    }

    /// Returns whether the stream has ended here as it should.
    pub(super) fn is_at_end(&self) -> bool {
        self.ended && self.failure.is_none() && self.start == self.end
    }

    /// Returns why the stream ended, where that was no end of the file.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    #[cold]
    fn fill(&mut self, bytes: usize) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        self.base += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        while self.end < bytes && !self.ended {
            if self.end == self.buffer.len() {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(error);
                }
            }
        }
        self.bytes_read = self.stream.bytes_read();
        self.end >= bytes
    }
}
