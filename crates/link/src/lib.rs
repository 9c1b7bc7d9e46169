//! The link model: what one link does to packets, without I/O and without a clock.
//!
//! A [`Link`] joins two ends. Packets are offered to a [`Direction`] at a time that the caller
//! gives, and come out of [`Link::poll`] when they are due.

/// A moment or a span in nanoseconds; the caller says what zero is.
pub type Nanos = u64;
