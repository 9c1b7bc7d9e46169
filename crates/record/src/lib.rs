//! What both engines write: rows of the recording's tables, a JSON line each (`docs/recording.md`).

#![forbid(unsafe_code)]

mod line;
mod rows;

pub use line::write_line;
pub use rows::{Counter, Delivery, Event, Latency, LinkSample, Transfer, Warning};
