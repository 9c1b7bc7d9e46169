//! The connection, subflow and side of each segment, and what MPTCP's options say of identity.
//!
//! ```text
//! segment ─▶ dedup ─▶ table ─▶ flow ────────────────────────────────▶ place
//!            seen on  by the   usual: nothing about identity            ▲
//!            another  4-tuple    │ SYN, RST, other options than DSS     │
//!            interface           ▼                                      │
//!                              classify, handshake, numbers, signals ───┤
//!                                │ the connection is not known yet      │
//!                                ▼                                      │
//!                              pending ─▶ resolve_pending ──────────────┘
//! ```
//!
//! Memory: some 300 bytes for each connection of one subflow. Pending segments, and the packets,
//! announcements and addresses that are remembered, are bounded by constants of their files.

mod acceptable;
mod addresses;
mod attach;
mod capable;
mod classify;
mod connection;
mod dedup;
mod dsn_match;
mod fallback;
mod flow;
mod format_option;
mod handshake;
mod identity;
mod identity_events;
mod join;
pub mod keys;
mod numbers;
mod order;
mod pending;
mod registry;
mod resolve_pending;
mod signals;
mod subflow;
mod table;
mod tokens;

pub use fallback::Fallback;
pub use format_option::{format_option, format_options};
pub use identity::{ConnectionIdentity, SubflowIdentity};
pub use identity_events::IdentityEvent;
pub use registry::{Placed, Registry};

#[cfg(test)]
mod tests;
