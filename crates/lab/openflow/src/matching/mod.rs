//! Matches: fields with values and masks (section 7.2.3).

mod check;
mod field;
mod oxm;

use alloc::vec::Vec;

use bitflags::bitflags;

pub use field::Field;
pub use oxm::{Oxm, UnknownOxm};
pub(crate) use oxm::{Read, field_of, header, read};

use crate::error::{BadMatch, ErrorKind};
use crate::reader::Reader;
use crate::writer::Put;

/// The type of an extensible match, the only one of version 1.3.
const OXM: u16 = 1;

/// The bit of [`Field::VlanVid`] that says that there is a tag (OFPVID_PRESENT).
pub const VLAN_PRESENT: u16 = 0x1000;

bitflags! {
    /// The bits of [`Field::Ipv6Exthdr`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ExtensionHeaders: u16 {
        /// No next header.
        const NONEXT = 1 << 0;
        /// Encapsulating security payload.
        const ESP = 1 << 1;
        /// Authentication header.
        const AUTH = 1 << 2;
        /// One or two headers of destination options.
        const DEST = 1 << 3;
        /// Fragment header.
        const FRAG = 1 << 4;
        /// Routing header.
        const ROUTER = 1 << 5;
        /// Hop-by-hop options.
        const HOP = 1 << 6;
        /// Unexpected repetitions.
        const UNREP = 1 << 7;
        /// Unexpected order.
        const UNSEQ = 1 << 8;
    }
}

/// Fields that a packet must have; none: every packet matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Match {
    /// Fields of the class OpenFlow basic.
    pub fields: Vec<Oxm>,
    /// All other fields.
    pub unknown: Vec<UnknownOxm>,
}

impl Match {
    /// A match of these fields.
    pub fn new(fields: impl IntoIterator<Item = Oxm>) -> Self {
        Self {
            fields: fields.into_iter().collect(),
            unknown: Vec::new(),
        }
    }

    /// A field, if it is in the match.
    pub fn get(&self, field: Field) -> Option<&Oxm> {
        self.fields.iter().find(|oxm| oxm.field == field)
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        if reader.u16()? != OXM {
            return Err(BadMatch::BadType.into());
        }
        let length: usize = reader.u16()?.into();
        let fields = length.checked_sub(4).ok_or(BadMatch::BadLen)?;
        let mut inner = reader.part(fields, BadMatch::BadLen)?;
        reader.skip(length.next_multiple_of(8) - length)?;
        let mut read = Self::default();
        while !inner.is_empty() {
            match oxm::read(&mut inner)? {
                Read::Known(oxm) => read.fields.push(oxm),
                Read::Unknown(oxm) => read.unknown.push(oxm),
            }
        }
        Ok(read)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(OXM);
        out.put_u16(0);
        self.fields.iter().for_each(|oxm| oxm.encode(out));
        self.unknown.iter().for_each(|oxm| oxm.encode(out));
        out.put_length(start + 2, start);
        out.pad8(start);
    }
}
