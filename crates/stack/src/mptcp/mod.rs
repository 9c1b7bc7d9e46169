//! Multipath TCP, version 1 (RFC 8684).
//!
//! A [`Connection`] has subflows, each a [`Tcp`](crate::tcp::Tcp), and speaks of them to its peer
//! in options. Like TCP it takes segments and the time, and gives segments and the next deadline;
//! what it needs from its host it asks for by a [`Change`].
//!
//! Places in the data are offsets of 64 bits, 0 is the first byte; places in the stream of a
//! subflow are offsets too, 1 is the first byte.

mod addresses;
mod closing;
mod config;
mod connection;
mod counters;
mod fallback;
mod handshake;
mod incoming;
mod info;
mod mappings;
mod numbers;
mod outgoing;
mod paths;
mod ranges;
mod reassembly;
mod receiver;
mod send_buffer;
mod send_queue;
mod sender;
mod sending;
mod signals;
mod subflow;

pub use config::MptcpConfig;
pub use connection::{Change, Connection, Opening};
pub use counters::MptcpCounters;
