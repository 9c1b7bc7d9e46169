//! The results as tables, in Parquet files.
//!
//! A row is a structure; the macro `columns` makes its columns of its fields. Meaning and unit of a
//! column are at its field and in `docs/trace.md`.

mod cell;
mod column;
mod file;
mod renumber;
mod rows;
#[cfg(test)]
mod tests;

pub use file::TableError;
pub(crate) use file::{Row, Table};
pub(crate) use renumber::renumber;
pub(crate) use rows::{
    AddressRow, ConnectionEndRow, ConnectionRow, EventRow, MappingRow, PacketRow, SampleRow,
    SubflowEndRow, SubflowRow,
};
