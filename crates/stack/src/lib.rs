//! A TCP and Multipath TCP endpoint without I/O: packets and the time in, packets and the next
//! deadline out.
//!
//! The crate is `no_std` and forbids `unsafe`: it has no clock, no thread and no socket to ask.
//! Time is an argument of every call; the granularity of the clock is a setting.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod congestion;
mod counters;
pub mod endpoint;
pub mod mptcp;
pub mod path_manager;
mod rtt;
pub mod scheduler;
mod sequence;
pub mod tcp;

/// A moment or a span in nanoseconds; the caller says what zero is.
pub type Nanos = u64;
