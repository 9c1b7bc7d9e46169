//! Measures TCP and MPTCP over the paths between this host and a target.
//!
//! A [`target`] listens at two ports. At the first it takes control channels, which are TLS 1.3, and
//! connections whose SYN it looks at; at the second, by MPTCP, connections for data. A [`client`]
//! proves on a control channel that it holds the target's [`token`], and asks for an experiment: some
//! connections at once, each of TCP or MPTCP from an address of its own, in which the target sends,
//! receives or echoes. The target takes or sends no byte of data before a connection has shown an
//! authorisation that was given for it ([`authorisation`]). It sends no more than was granted; it ends
//! a connection on which more comes, and charges that to the holder.
//!
//! [`steps`] is the whole that a probe or an agent measures: many such experiments, one after the
//! other.
//!
//! [`frame`], [`message`], [`ledger`], [`bucket`] and [`syn`] are without I/O and without a clock.

mod arrival;
pub mod authorisation;
pub mod bucket;
mod channel;
pub mod client;
pub mod congestion;
mod content;
mod data;
pub mod error;
pub mod frame;
pub mod ledger;
pub mod message;
mod observe;
pub mod settings;
pub mod steps;
pub mod syn;
pub mod target;
pub mod tls;
pub mod token;

pub use error::Error;
