//! Features of tables (section 7.3.5.5).

use alloc::vec::Vec;

use crate::error::{ErrorKind, TableFeaturesFailed};
use crate::matching::{self, Field};
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Put;

/// The number that an experimenter's instructions and actions have as their type.
const EXPERIMENTER: u16 = 0xffff;

const INSTRUCTIONS: u16 = 0;
const NEXT_TABLES: u16 = 2;
const WRITE_ACTIONS: u16 = 4;
const APPLY_ACTIONS: u16 = 6;
const MATCH: u16 = 8;
const WILDCARDS: u16 = 10;
const WRITE_SETFIELD: u16 = 12;
const APPLY_SETFIELD: u16 = 14;
const EXPERIMENTER_PROPERTY: u16 = 0xfffe;

/// A type of instruction or action that a table supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureId {
    /// The number of a type.
    Standard(u16),
    /// The experimenter id.
    Experimenter(u32),
}

impl FeatureId {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let number = reader.u16()?;
        let length = usize::from(reader.u16()?);
        let rest = length.checked_sub(4).ok_or(TableFeaturesFailed::BadLen)?;
        let mut body = reader.part(rest, TableFeaturesFailed::BadLen)?;
        Ok(match number {
            EXPERIMENTER => Self::Experimenter(body.u32()?),
            _ => Self::Standard(number),
        })
    }

    fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::Standard(number) => {
                out.put_u16(number);
                out.put_u16(4);
            }
            Self::Experimenter(experimenter) => {
                out.put_u16(EXPERIMENTER);
                out.put_u16(8);
                out.put_u32(experimenter);
            }
        }
    }
}

/// A field that a table supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OxmId {
    /// The first 32 bits of the field, of any class but that of experimenters.
    Standard(u32),
    /// The first 32 bits of an experimenter's field, and the experimenter id.
    Experimenter(u32, u32),
}

impl OxmId {
    /// A field of the class OpenFlow basic.
    pub fn of(field: Field, has_mask: bool) -> Self {
        Self::Standard(matching::header(field, has_mask))
    }

    /// The field, if it is of the class OpenFlow basic.
    pub fn field(self) -> Option<Field> {
        match self {
            Self::Standard(header) => matching::field_of(header),
            Self::Experimenter(..) => None,
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let header = reader.u32()?;
        Ok(match (header >> 16) as u16 {
            EXPERIMENTER => Self::Experimenter(header, reader.u32()?),
            _ => Self::Standard(header),
        })
    }

    fn encode(self, out: &mut Vec<u8>) {
        match self {
            Self::Standard(header) => out.put_u32(header),
            Self::Experimenter(header, experimenter) => {
                out.put_u32(header);
                out.put_u32(experimenter);
            }
        }
    }
}

/// A property of a table. `miss` says that it is one of the entry for table misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableProperty {
    /// Instructions.
    Instructions {
        /// Of table misses.
        miss: bool,
        /// Their types.
        ids: Vec<FeatureId>,
    },
    /// Tables that instructions may go on to.
    NextTables {
        /// Of table misses.
        miss: bool,
        /// Their numbers.
        tables: Vec<u8>,
    },
    /// Actions that may be written.
    WriteActions {
        /// Of table misses.
        miss: bool,
        /// Their types.
        ids: Vec<FeatureId>,
    },
    /// Actions that may be applied.
    ApplyActions {
        /// Of table misses.
        miss: bool,
        /// Their types.
        ids: Vec<FeatureId>,
    },
    /// Fields that may be matched; a mask says that it may have one.
    Match(Vec<OxmId>),
    /// Fields that may be omitted.
    Wildcards(Vec<OxmId>),
    /// Fields that written actions may set.
    WriteSetField {
        /// Of table misses.
        miss: bool,
        /// The fields.
        ids: Vec<OxmId>,
    },
    /// Fields that applied actions may set.
    ApplySetField {
        /// Of table misses.
        miss: bool,
        /// The fields.
        ids: Vec<OxmId>,
    },
    /// An experimenter's property.
    Experimenter {
        /// Of table misses.
        miss: bool,
        /// The experimenter id.
        experimenter: u32,
        /// The experimenter's own type.
        exp_type: u32,
        /// The rest.
        data: Vec<u8>,
    },
}

impl TableProperty {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let number = reader.u16()?;
        let length = usize::from(reader.u16()?);
        let content = length.checked_sub(4).ok_or(TableFeaturesFailed::BadLen)?;
        let mut body = reader.part(content, TableFeaturesFailed::BadLen)?;
        reader.skip(length.next_multiple_of(8) - length)?;
        // Types come in pairs, the second of which is the one of table misses.
        let miss = number & 1 == 1;
        Ok(match number & !1 {
            INSTRUCTIONS => Self::Instructions {
                miss,
                ids: body.all(FeatureId::decode)?,
            },
            NEXT_TABLES => Self::NextTables {
                miss,
                tables: body.take_rest().to_vec(),
            },
            WRITE_ACTIONS => Self::WriteActions {
                miss,
                ids: body.all(FeatureId::decode)?,
            },
            APPLY_ACTIONS => Self::ApplyActions {
                miss,
                ids: body.all(FeatureId::decode)?,
            },
            MATCH if !miss => Self::Match(body.all(OxmId::decode)?),
            WILDCARDS if !miss => Self::Wildcards(body.all(OxmId::decode)?),
            WRITE_SETFIELD => Self::WriteSetField {
                miss,
                ids: body.all(OxmId::decode)?,
            },
            APPLY_SETFIELD => Self::ApplySetField {
                miss,
                ids: body.all(OxmId::decode)?,
            },
            EXPERIMENTER_PROPERTY => Self::Experimenter {
                miss,
                experimenter: body.u32()?,
                exp_type: body.u32()?,
                data: body.take_rest().to_vec(),
            },
            _ => return Err(TableFeaturesFailed::BadType.into()),
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (number, miss) = match self {
            Self::Instructions { miss, .. } => (INSTRUCTIONS, *miss),
            Self::NextTables { miss, .. } => (NEXT_TABLES, *miss),
            Self::WriteActions { miss, .. } => (WRITE_ACTIONS, *miss),
            Self::ApplyActions { miss, .. } => (APPLY_ACTIONS, *miss),
            Self::Match(_) => (MATCH, false),
            Self::Wildcards(_) => (WILDCARDS, false),
            Self::WriteSetField { miss, .. } => (WRITE_SETFIELD, *miss),
            Self::ApplySetField { miss, .. } => (APPLY_SETFIELD, *miss),
            Self::Experimenter { miss, .. } => (EXPERIMENTER_PROPERTY, *miss),
        };
        let start = out.len();
        out.put_u16(number | u16::from(miss));
        out.put_u16(0);
        match self {
            Self::Instructions { ids, .. }
            | Self::WriteActions { ids, .. }
            | Self::ApplyActions { ids, .. } => ids.iter().for_each(|id| id.encode(out)),
            Self::NextTables { tables, .. } => out.extend(tables),
            Self::Match(ids)
            | Self::Wildcards(ids)
            | Self::WriteSetField { ids, .. }
            | Self::ApplySetField { ids, .. } => ids.iter().for_each(|id| id.encode(out)),
            Self::Experimenter {
                experimenter,
                exp_type,
                data,
                ..
            } => {
                out.put_u32(*experimenter);
                out.put_u32(*exp_type);
                out.extend(data);
            }
        }
        out.put_length(start + 2, start);
        out.pad8(start);
    }
}

/// Features of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFeatures {
    /// The table.
    pub table: u8,
    /// The name.
    pub name: Text<32>,
    /// Bits of metadata that may be matched.
    pub metadata_match: u64,
    /// Bits of metadata that may be written.
    pub metadata_write: u64,
    /// Deprecated bits.
    pub config: u32,
    /// Most entries.
    pub max_entries: u32,
    /// Properties.
    pub properties: Vec<TableProperty>,
}

impl TableFeatures {
    /// Bytes of the table in a reply.
    pub fn encoded_len(&self) -> usize {
        let mut out = Vec::new();
        self.encode(&mut out);
        out.len()
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let mut body = reader.entry(TableFeaturesFailed::BadLen)?;
        let table = body.u8()?;
        body.skip(5)?;
        Ok(Self {
            table,
            name: Text::read(body.take(32)?),
            metadata_match: body.u64()?,
            metadata_write: body.u64()?,
            config: body.u32()?,
            max_entries: body.u32()?,
            properties: body.all(TableProperty::decode)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(0);
        out.put_u8(self.table);
        out.put_zeros(5);
        out.extend(self.name.bytes());
        out.put_u64(self.metadata_match);
        out.put_u64(self.metadata_write);
        out.put_u32(self.config);
        out.put_u32(self.max_entries);
        self.properties.iter().for_each(|one| one.encode(out));
        out.put_length(start, start);
    }
}
