//! The common part of both engines' traffic: the content of transfers, the heads of their HTTP, the
//! times at which limited senders send, the frames of streams, failures, the receiver's account, and the verdict on
//! multipath.

#![forbid(unsafe_code)]

mod content;
pub mod datagrams;
mod deliveries;
mod failure;
mod frames;
pub mod http;
mod pacing;
pub mod verdict;

pub use content::{Content, splitmix64};
pub use deliveries::{Bin, Deliveries, Silence};
pub use failure::{Failure, complete, connecting, delivered};
pub use frames::Frames;
pub use pacing::{Offer, Pacing};

/// Senders of payload write at most so much at once.
pub const WRITE_BYTES: u64 = 64 * 1024;
