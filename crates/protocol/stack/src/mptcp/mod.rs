//! Multipath TCP, version 1 (RFC 8684).
//!
//! A [`Connection`] has subflows, each a [`Tcp`](crate::tcp::Tcp), and speaks of them to its peer
//! in options. Like TCP it takes segments and the time, and gives segments and the next deadline;
//! what it needs from its host it asks for by a [`Change`].
//!
//! Places in the data are offsets of 64 bits, 0 is the first byte; places in the stream of a
//! subflow are offsets too, 1 is the first byte.

mod ack_length;
mod addresses;
mod announcements;
mod capable;
mod closing;
mod config;
mod connection;
mod counters;
mod data_receiver;
mod data_sender;
mod data_timer;
mod detail;
mod fail;
mod fallback;
mod fragments;
mod handshake;
mod incoming;
mod info;
mod join;
mod lifetime;
mod mappings;
mod middlebox;
mod numbers;

mod opportunistic;
mod option_writer;
mod path_management;
mod ranges;
mod reassembly;
mod reinjection;
mod reset;
mod retransmission_timer;
mod scheduling;
mod send_buffer;
mod send_queue;
mod signals;
mod staleness;
mod subflow;
mod subflow_end;
mod subflows;
mod transmit;

pub use config::{MAX_SOFTIRQ_NS, MptcpConfig, WorkerTimes};
pub(crate) use connection::{Change, Connection, Opening};
pub(crate) use counters::MptcpCounters;
