//! Messages in a stream of bytes (section 7.1.1: each begins with its length).

use alloc::vec::Vec;

use crate::error::{BadRequest, DecodeError};
use crate::message::{HEADER_BYTES, Message};

/// Cuts a stream of bytes that comes in any pieces into messages.
///
/// It holds no more than one message that is not whole yet and what was [fed](Self::feed) since
/// messages were last taken.
#[derive(Clone, Debug)]
pub struct Framer {
    limit: usize,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been taken.
    taken: usize,
    /// The error that ended the stream.
    broken: Option<DecodeError>,
}

/// A message of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its content; an error may be answered, and the stream goes on.
    pub message: Result<Message, DecodeError>,
}

impl Framer {
    /// A framer for messages of at most `limit` bytes.
    pub fn new(limit: u16) -> Self {
        Self {
            limit: limit.into(),
            buffer: Vec::new(),
            taken: 0,
            broken: None,
        }
    }

    /// Takes the next bytes of the stream. After a [broken](Self::next_frame) length they are ignored.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.broken.is_none() {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            self.buffer.extend(bytes);
        }
    }

    /// The next message that is whole; `None`: more bytes are needed.
    ///
    /// # Errors
    ///
    /// A message that is shorter than its header or longer than the limit: it cannot be known where
    /// the next one begins, so that the connection must be closed. From then on the error is given
    /// again.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, DecodeError> {
        if let Some(error) = self.broken {
            return Err(error);
        }
        let rest = &self.buffer[self.taken..];
        let Some(header) = rest.first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length: usize = u16::from_be_bytes([header[2], header[3]]).into();
        if !(HEADER_BYTES..=self.limit).contains(&length) {
            let error = DecodeError {
                xid: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
                kind: BadRequest::BadLen.into(),
            };
            self.broken = Some(error);
            self.buffer = Vec::new();
            self.taken = 0;
            return Err(error);
        }
        let Some(bytes) = rest.get(..length) else {
            return Ok(None);
        };
        self.taken += length;
        Ok(Some(Frame {
            bytes: bytes.to_vec(),
            message: Message::decode(bytes),
        }))
    }
}
