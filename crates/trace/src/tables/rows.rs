//! The rows of the tables: a structure each, by what they are about.

mod connection;
mod packet;
mod series;
mod subflow;

pub(crate) use connection::{ConnectionEndRow, ConnectionRow};
pub(crate) use packet::{MappingRow, PacketRow};
pub(crate) use series::{AddressRow, EventRow, SampleRow};
pub(crate) use subflow::{SubflowEndRow, SubflowRow};
