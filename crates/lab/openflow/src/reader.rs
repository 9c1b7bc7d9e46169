//! Bytes of a message, read from the front.

use alloc::vec::Vec;

use crate::error::ErrorKind;

/// Bytes that are left to read, and the error for reading beyond their end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    short: ErrorKind,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], short: impl Into<ErrorKind>) -> Self {
        Self {
            rest: bytes,
            short: short.into(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    /// The error for a length that does not fit.
    pub(crate) fn short(&self) -> ErrorKind {
        self.short
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], ErrorKind> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(self.short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// All that is left.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.rest)
    }

    /// The rest of an entry that begins with its length, two bytes; `error` is for a length that
    /// does not fit.
    pub(crate) fn entry(&mut self, error: impl Into<ErrorKind>) -> Result<Self, ErrorKind> {
        let error = error.into();
        let length = usize::from(self.u16()?);
        let rest = length.checked_sub(2).ok_or(error)?;
        self.part(rest, error)
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), ErrorKind> {
        self.take(count).map(|_| ())
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], ErrorKind> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(self.short)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ErrorKind> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ErrorKind> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ErrorKind> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ErrorKind> {
        self.array().map(u64::from_be_bytes)
    }

    /// The next `count` bytes, to be read by themselves.
    pub(crate) fn part(
        &mut self,
        count: usize,
        short: impl Into<ErrorKind>,
    ) -> Result<Self, ErrorKind> {
        Ok(Self::new(self.take(count)?, short))
    }

    /// Refuses bytes that are left.
    pub(crate) fn end(self) -> Result<(), ErrorKind> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.short)
        }
    }

    /// One value after the other, to the end.
    pub(crate) fn all<T>(
        mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, ErrorKind>,
    ) -> Result<Vec<T>, ErrorKind> {
        let mut read = Vec::new();
        while !self.is_empty() {
            let before = self.len();
            read.push(one(&mut self)?);
            if self.len() == before {
                return Err(self.short);
            }
        }
        Ok(read)
    }
}
