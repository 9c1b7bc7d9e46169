//! Serialisation: when a packet starts to be sent, and when its last bit has left.

mod channel;
mod fixed;

pub(crate) use channel::Channel;

/// Work of a serialiser in billionths of a bit: a rate of R bit/s does exactly R of it in each
/// nanosecond.
pub(crate) type Nanobits = u128;

/// Work of one byte.
pub(crate) const NANOBITS_PER_BYTE: Nanobits = 8_000_000_000;
