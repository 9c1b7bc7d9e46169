//! Statistics of tables (section 7.3.5.4).

use alloc::vec::Vec;

use crate::error::ErrorKind;
use crate::reader::Reader;
use crate::writer::Put;

/// Statistics of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    /// The table.
    pub table: u8,
    /// Entries.
    pub active_count: u32,
    /// Packets that were looked up.
    pub lookup_count: u64,
    /// Packets that matched an entry.
    pub matched_count: u64,
}

impl TableStats {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let table = reader.u8()?;
        reader.skip(3)?;
        Ok(Self {
            table,
            active_count: reader.u32()?,
            lookup_count: reader.u64()?,
            matched_count: reader.u64()?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.table);
        out.put_zeros(3);
        out.put_u32(self.active_count);
        out.put_u64(self.lookup_count);
        out.put_u64(self.matched_count);
    }
}
