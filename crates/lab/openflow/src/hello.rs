//! The hello that opens a connection, and the version that it agrees on (sections 6.3.1, 7.5.1).

use alloc::vec::Vec;

use crate::VERSION;
use crate::error::{BadRequest, ErrorKind};
use crate::reader::Reader;
use crate::writer::Put;

/// The type of the element that has the bitmap of versions.
const VERSION_BITMAP: u16 = 1;

/// A hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the header: the highest that the sender speaks.
    pub version: u8,
    /// The versions that the sender speaks, where it says so: version `n` is bit `n % 32` of word
    /// `n / 32`. Elements of other types are ignored.
    pub bitmap: Option<Vec<u32>>,
}

impl Hello {
    /// The hello of one that speaks version 1.3 alone.
    pub fn ours() -> Self {
        Self {
            version: VERSION,
            bitmap: Some([1 << VERSION].into()),
        }
    }

    /// Whether 1.3 is the version that this hello and [ours](Self::ours) agree on: it is in the
    /// bitmap or, without one, no higher than the version of the header, as ours is then the lower
    /// of the two and must be spoken by both.
    pub fn agrees(&self) -> bool {
        match &self.bitmap {
            Some(bitmap) => bitmap.first().is_some_and(|word| word >> VERSION & 1 == 1),
            None => self.version >= VERSION,
        }
    }

    pub(crate) fn decode(version: u8, mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let mut bitmap = None;
        while !reader.is_empty() {
            let kind = reader.u16()?;
            let length: usize = reader.u16()?.into();
            let content = length.checked_sub(4).ok_or(BadRequest::BadLen)?;
            let mut element = reader.part(content, BadRequest::BadLen)?;
            let padding = length.next_multiple_of(8) - length;
            reader.skip(padding.min(reader.len()))?;
            if kind == VERSION_BITMAP {
                let mut words = Vec::new();
                while element.len() >= 4 {
                    words.push(element.u32()?);
                }
                bitmap = Some(words);
            }
        }
        Ok(Self { version, bitmap })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        if let Some(bitmap) = &self.bitmap {
            let start = out.len();
            out.put_u16(VERSION_BITMAP);
            out.put_u16(0);
            bitmap.iter().for_each(|word| out.put_u32(*word));
            out.put_length(start + 2, start);
            out.pad8(start);
        }
    }
}
