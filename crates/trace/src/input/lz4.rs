//! Frames of LZ4, one behind the other.

use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder;

/// A frame without content. Behind a whole frame it adds nothing; within one, it is no block.
const EMPTY_FRAME: [u8; 11] = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, 0, 0, 0, 0];

/// Decompresses all frames of a file. [`FrameDecoder`] stops after each of them, and takes a file
/// that ends between two blocks for one that is whole.
pub(super) struct Lz4<R: BufRead> {
    decoder: FrameDecoder<Ended<R>>,
    /// The input has ended, and the decoder was given the empty frame.
    ended: bool,
}

/// The file, and an end mark behind it.
struct Ended<R> {
    input: R,
    behind: &'static [u8],
}

impl<R: BufRead> Lz4<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            decoder: FrameDecoder::new(Ended { input, behind: &[] }),
            ended: false,
        }
    }

    pub(super) fn input(&self) -> &R {
        &self.decoder.get_ref().input
    }
}

impl<R: BufRead> Read for Lz4<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.decoder.read(to) {
                Ok(0) if self.ended => return Ok(0),
                Ok(0) => {}
                Err(_) if self.ended => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the end of the frame is missing",
                    ));
                }
                done => return done,
            }
            let read = self.decoder.get_mut();
            if read.input.fill_buf()?.is_empty() {
                read.behind = &EMPTY_FRAME;
                self.ended = true;
            }
        }
    }
}

impl<R: BufRead> Read for Ended<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.input.read(to)? {
            0 => self.behind.read(to),
            bytes => Ok(bytes),
        }
    }
}
