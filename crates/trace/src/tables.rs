//! The results as tables, in Parquet files.
//!
//! A row is a structure; the macro `table` makes its columns of its fields. What a column means,
//! and its unit, stands at its field and in `docs/trace.md`.

mod cell;
mod column;
mod file;
mod rows;
#[cfg(test)]
mod tests;

pub use file::TableError;
pub(crate) use file::{Row, Table};
pub(crate) use rows::{
    AddressRow, ConnectionEndRow, ConnectionRow, EventRow, MappingRow, PacketRow, SampleRow,
    SubflowEndRow, SubflowRow,
};
