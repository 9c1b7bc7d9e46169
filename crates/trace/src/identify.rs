//! Whose is a segment, and what do the options of MPTCP say of identity?
//!
//! ```text
//! segment ─▶ twins ─▶ table ─▶ flow ─────────────────────────────▶ place
//!            seen on  by the   usual: nothing to tell of identity    ▲
//!            another  4-tuple    │ SYN, RST, other options than DSS  │
//!            interface           ▼                                   │
//!                              arrive, handshake, numbers, signals ──┤
//!                                │ whose it is is not known          │
//!                                ▼                                   │
//!                              held back ────────────────────────────┘
//! ```
//!
//! What is kept: some 300 bytes for each connection of one subflow. What waits, what is remembered
//! of packets, announcements and addresses is bounded, and the bounds are constants of their files.

mod addresses;
mod arrive;
mod attach;
mod capable;
mod connection;
mod evidence;
mod fallback;
mod flow;
mod handshake;
mod held;
mod identity;
mod join;
pub mod keys;
mod news;
mod numbers;
mod registry;
mod settle;
mod signals;
mod spell;
mod subflow;
mod table;
mod tokens;
mod twins;

pub use fallback::Fallback;
pub use identity::{ConnectionIdentity, SubflowIdentity};
pub use news::News;
pub use registry::{Placed, Registry};
pub use spell::{spell, spell_all};

#[cfg(test)]
mod tests;
