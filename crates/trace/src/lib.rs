//! What the connections of TCP and MPTCP in a capture did.
//!
//! ```text
//! files ─▶ input ─▶ dissect ─▶ identify ─▶ subflow ─▶ connection ─▶ tables
//!          frames   segments   whose?      TCP        MPTCP         rows
//! ```
//!
//! Each room knows those before it only. Memory grows with connections and with what is under
//! way in them, not with packets.

#![forbid(unsafe_code)]

mod analyse;
mod connection;
pub mod dissect;
mod ends;
mod event;
mod identify;
pub mod input;
mod place;
mod segment;
mod subflow;
mod tables;
mod verdict;

pub use analyse::{AnalyseError, Capture, Request, analyse};
pub use connection::{Connection, ConnectionSummary, DataEnd, SentData, Silence, Spread};
pub use ends::Ends;
pub use event::Event;
pub use identify::{
    ConnectionIdentity, Fallback, News, Placed, Registry, SubflowIdentity, keys, spell, spell_all,
};
pub use place::{Place, Side};
pub use segment::{Nanos, Segment};
pub use subflow::{SentSummary, Subflow, TcpEnd, TcpSummary};
pub use tables::TableError;
pub use verdict::{DataVerdict, Kind, RttMethod, Verdict};
