//! Frames of the control channel: four bytes of length, the most significant first, and a message.

use thiserror::Error;

/// Bytes before a message.
pub const HEADER_BYTES: usize = 4;
/// The longest message that a target takes.
pub const LONGEST_REQUEST_BYTES: usize = 4 << 10;
/// The longest message that a probe takes, but for reports.
pub const LONGEST_ANSWER_BYTES: usize = 4 << 10;
/// The longest report that a probe takes: one with all its samples.
pub const LONGEST_REPORT_BYTES: usize = 512 << 10;

/// A frame that is longer than what is taken, told before any of it is stored.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a message of {length} bytes, where at most {longest} are taken")]
pub struct TooLong {
    /// By its header.
    pub length: usize,
    /// The limit.
    pub longest: usize,
}

/// Finds the messages in a stream of bytes.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
}

impl Decoder {
    /// One at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes of the stream, in whatever pieces they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message, of at most so many bytes; `None` until there is one.
    ///
    /// # Errors
    /// A header that announces more than is taken; nothing after it can be found.
    pub fn next_message(&mut self, longest: usize) -> Result<Option<Vec<u8>>, TooLong> {
        let Some((header, rest)) = self.buffer.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*header) as usize;
        if length > longest {
            return Err(TooLong { length, longest });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let message = rest[..length].to_vec();
        self.buffer.drain(..HEADER_BYTES + length);
        Ok(Some(message))
    }
}

/// A message as a frame; of less than 4 GiB.
pub fn encode(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("messages are short");
    [&length.to_be_bytes(), message].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_come_out_however_the_stream_is_cut(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..8),
            cut in 1usize..70,
        ) {
            let stream: Vec<u8> = messages.iter().flat_map(|message| encode(message)).collect();
            let mut decoder = Decoder::new();
            let mut found = Vec::new();
            for piece in stream.chunks(cut) {
                decoder.push(piece);
                while let Some(message) = decoder.next_message(50).unwrap() {
                    found.push(message);
                }
            }
            prop_assert_eq!(found, messages);
        }

        #[test]
        fn any_bytes_give_messages_within_the_limit_or_an_error(bytes: Vec<u8>) {
            let mut decoder = Decoder::new();
            decoder.push(&bytes);
            while let Ok(Some(message)) = decoder.next_message(20) {
                prop_assert!(message.len() <= 20);
            }
        }
    }

    #[test]
    fn a_header_beyond_the_limit_is_refused_before_its_message_comes() {
        let mut decoder = Decoder::new();
        decoder.push(&21u32.to_be_bytes());
        let refused = TooLong {
            length: 21,
            longest: 20,
        };
        assert_eq!(decoder.next_message(20), Err(refused));
    }
}
