//! The common part of path managers, without I/O and without a clock.
//!
//! A policy says which subflows a connection should have, on which paths ([`Desired`]); [`joins`]
//! says which of them are to be opened now; [`Attempts`] tells what is under way and when a path
//! that failed is tried again. The policies themselves are their users': the stack follows the
//! endpoints of Linux's own path manager, the daemon of a running host follows its interfaces.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod attempts;
mod desired;

use core::net::{IpAddr, SocketAddr};

pub use attempts::{Attempts, Pauses};
pub use desired::{Desired, Join, joins, ndiffports};

/// A moment or a span in nanoseconds; the caller says what zero is.
pub type Nanos = u64;

/// An address pair, with the port that is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Here.
    pub local: IpAddr,
    /// There.
    pub remote: SocketAddr,
}

impl Path {
    /// Whether both ends are of one family: no subflow goes from one to the other.
    pub fn is_of_one_family(&self) -> bool {
        self.local.is_ipv4() == self.remote.is_ipv4()
    }
}
