//! Analysis of the TCP and MPTCP connections in captures.
//!
//! ```text
//! files ─▶ input ─▶ dissect ─▶ identify ─▶ subflow ─▶ connection ─▶ tables
//!          frames   segments   place       TCP        MPTCP         rows
//! ```
//!
//! Each stage depends on earlier ones only. Memory grows with the number of connections and with
//! the data in flight, not with the number of packets.

#![deny(unsafe_code)]

mod analyse;
mod connection;
pub mod dissect;
mod ends;
mod event;
mod extract;
mod identify;
pub mod input;
mod place;
mod prefetch;
mod segment;
mod subflow;
mod tables;
mod verdict;

pub use analyse::{AnalyseError, Capture, Request, analyse};
pub use connection::{Connection, ConnectionSummary, DataEnd, DataGap, SentData, Spread};
pub use ends::Ends;
pub use event::Event;
pub use extract::{ExtractError, payloads, write_chosen};
pub use identify::{
    ConnectionIdentity, Fallback, IdentityEvent, Placed, Registry, SubflowIdentity, format_option,
    format_options, keys,
};
pub use place::{Place, Side};
pub use segment::{Nanos, Segment};
pub use subflow::{SentSummary, Subflow, TcpEnd, TcpSummary};
pub use tables::TableError;
pub use verdict::{DataVerdict, Kind, RttMethod, Verdict};
