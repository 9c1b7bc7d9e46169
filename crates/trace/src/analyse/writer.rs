//! The tables that grow while a capture is read.

use std::path::Path;

use super::worker::{Numbered, Rows};
use crate::Event;
use crate::tables::{EventRow, MappingRow, PacketRow, Row, SampleRow, Table, TableError};

/// The tables that grow while a capture is read.
pub(super) struct Writer {
    samples: Table<SampleRow>,
    events: Table<EventRow>,
    /// Rows of single packets, where they are wanted.
    single: Option<(Table<PacketRow>, Table<MappingRow>)>,
}

impl Writer {
    /// Creates empty tables in `folder`.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn create(folder: &Path, packets: bool) -> Result<Self, TableError> {
        Ok(Self {
            samples: Table::create(folder)?,
            events: Table::create(folder)?,
            single: match packets {
                true => Some((Table::create(folder)?, Table::create(folder)?)),
                false => None,
            },
        })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn write(&mut self, rows: &mut Rows) -> Result<(), TableError> {
        rows.samples.arrange();
        rows.samples
            .iter()
            .try_for_each(|row| self.samples.put(row))?;
        rows.samples.clear();
        put_all(&mut self.events, &mut rows.events)?;
        if let Some((packets, mappings)) = &mut self.single {
            put_all(packets, &mut rows.packets)?;
            put_all(mappings, &mut rows.mappings)?;
        }
        Ok(())
    }

    /// Writes the samples and events that are complete only at the end.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn write_last(
        &mut self,
        samples: Vec<SampleRow>,
        events: Vec<Event>,
    ) -> Result<(), TableError> {
        let mut events = events.into_iter().map(EventRow::from);
        samples
            .into_iter()
            .try_for_each(|row| self.samples.put(row))?;
        events.try_for_each(|row| self.events.put(row))
    }

    /// Completes the files.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn finish(self) -> Result<(), TableError> {
        self.samples.finish()?;
        self.events.finish()?;
        if let Some((packets, mappings)) = self.single {
            packets.finish()?;
            mappings.finish()?;
        }
        Ok(())
    }
}

fn put_all<R: Row>(table: &mut Table<R>, rows: &mut Numbered<R>) -> Result<(), TableError> {
    rows.drain(..).try_for_each(|(_, row)| table.put(row))
}
