//! One field of a match, or the value of a set-field (section 7.2.3.2).

use alloc::vec::Vec;

use super::Field;
use crate::error::{BadMatch, ErrorKind};
use crate::reader::Reader;
use crate::writer::Put;

/// The class OpenFlow basic.
const OPENFLOW_BASIC: u16 = 0x8000;

/// A field with the value that it must have, and the bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Oxm {
    /// The field.
    pub field: Field,
    /// The value, in the last [`bits`](Field::bits) of the number.
    pub value: u128,
    /// The bits that count; `None`: all.
    pub mask: Option<u128>,
}

/// A field of another class, or one that the class OpenFlow basic does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownOxm {
    /// The class.
    pub class: u16,
    /// The field (7 bits).
    pub field: u8,
    /// Whether the second half of the payload is a mask.
    pub has_mask: bool,
    /// At most 255 bytes: an experimenter id in the class 0xffff, value, mask.
    pub payload: Vec<u8>,
}

/// A field that was read.
pub(crate) enum Read {
    Known(Oxm),
    Unknown(UnknownOxm),
}

impl Oxm {
    /// A field with a value, all bits of which count.
    pub fn exact(field: Field, value: impl Into<u128>) -> Self {
        Self {
            field,
            value: value.into(),
            mask: None,
        }
    }

    /// A field with a value of which some bits count.
    pub fn masked(field: Field, value: impl Into<u128>, mask: impl Into<u128>) -> Self {
        Self {
            field,
            value: value.into(),
            mask: Some(mask.into()),
        }
    }

    /// The mask, also where it is all bits.
    pub fn effective_mask(&self) -> u128 {
        self.mask.unwrap_or(self.field.all_ones())
    }

    /// The 32 bits that begin a field of a match: class, field, whether there is a mask, length.
    pub fn header(&self) -> u32 {
        header(self.field, self.mask.is_some())
    }

    /// Bytes in a message.
    pub(crate) fn encoded_len(&self) -> usize {
        let values = if self.mask.is_some() { 2 } else { 1 };
        4 + self.field.bytes() * values
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.header());
        let skipped = 16 - self.field.bytes();
        for value in [Some(self.value), self.mask].into_iter().flatten() {
            out.extend(&value.to_be_bytes()[skipped..]);
        }
    }

    fn read(field: Field, has_mask: bool, payload: &[u8]) -> Result<Self, ErrorKind> {
        let bytes = field.bytes();
        if payload.len() != bytes * if has_mask { 2 } else { 1 } {
            return Err(BadMatch::BadLen.into());
        }
        let number = |bytes: &[u8]| {
            let value = bytes
                .iter()
                .fold(0, |value, byte| value << 8 | u128::from(*byte));
            if value & !field.all_ones() == 0 {
                Ok(value)
            } else {
                Err(BadMatch::BadValue)
            }
        };
        let (value, mask) = payload.split_at(bytes);
        Ok(Self {
            field,
            value: number(value)?,
            mask: has_mask.then(|| number(mask)).transpose()?,
        })
    }
}

impl UnknownOxm {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16(self.class);
        out.put_u8(self.field << 1 | u8::from(self.has_mask));
        out.put_u8(self.payload.len() as u8);
        out.extend(&self.payload);
    }
}

/// The 32 bits that begin a field of a match.
pub(crate) fn header(field: Field, has_mask: bool) -> u32 {
    let length = field.bytes() * if has_mask { 2 } else { 1 };
    u32::from(OPENFLOW_BASIC) << 16
        | u32::from(field.number()) << 9
        | u32::from(has_mask) << 8
        | length as u32
}

/// The field of such 32 bits, if it is of the class OpenFlow basic.
pub(crate) fn field_of(header: u32) -> Option<Field> {
    let is_basic = header >> 16 == u32::from(OPENFLOW_BASIC);
    Field::of((header >> 9 & 0x7f) as u8).filter(|_| is_basic)
}

/// Reads one field.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Read, ErrorKind> {
    let class = reader.u16()?;
    let field_and_mask = reader.u8()?;
    let length = reader.u8()?;
    let payload = reader.take(length.into())?;
    let (field, has_mask) = (field_and_mask >> 1, field_and_mask & 1 == 1);
    match Field::of(field).filter(|_| class == OPENFLOW_BASIC) {
        Some(field) => Oxm::read(field, has_mask, payload).map(Read::Known),
        None => Ok(Read::Unknown(UnknownOxm {
            class,
            field,
            has_mask,
            payload: payload.to_vec(),
        })),
    }
}
