//! Time that something has been there.

use alloc::vec::Vec;

use crate::error::ErrorKind;
use crate::reader::Reader;
use crate::writer::Put;

const NANOS: u64 = 1_000_000_000;

/// A time in the two numbers that messages have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elapsed {
    /// Whole seconds.
    pub seconds: u32,
    /// Nanoseconds beyond them.
    pub nanoseconds: u32,
}

impl Elapsed {
    /// A time in nanoseconds; at most 2³² s.
    pub fn from_nanos(nanos: u64) -> Self {
        Self {
            seconds: u32::try_from(nanos / NANOS).unwrap_or(u32::MAX),
            nanoseconds: (nanos % NANOS) as u32,
        }
    }

    /// The time in nanoseconds.
    pub fn as_nanos(self) -> u64 {
        u64::from(self.seconds) * NANOS + u64::from(self.nanoseconds)
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            seconds: reader.u32()?,
            nanoseconds: reader.u32()?,
        })
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        out.put_u32(self.seconds);
        out.put_u32(self.nanoseconds);
    }
}
