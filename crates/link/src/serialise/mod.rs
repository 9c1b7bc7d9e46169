//! Serialisation: when a packet starts to be sent, and when its last bit has left.

mod channel;
mod fixed;
pub(crate) mod trace;

pub(crate) use channel::Channel;

use alloc::boxed::Box;

use strength_reduce::StrengthReducedU64;

use crate::Nanos;
use crate::config::Rate;
use trace::Replay;

/// Work of a serialiser in billionths of a bit: a rate of R bit/s does exactly R of it in each
/// nanosecond.
pub(crate) type Nanobits = u128;

/// Work of one byte.
pub(crate) const NANOBITS_PER_BYTE: Nanobits = 8_000_000_000;

/// The rate of a direction.
#[derive(Debug)]
pub(crate) enum Pace {
    Unlimited,
    /// Bits per second, prepared to divide by.
    Fixed(StrengthReducedU64),
    Trace(Box<Replay>),
}

impl Pace {
    /// A rate as it is from `now` on.
    pub(crate) fn new(rate: &Rate, now: Nanos) -> Self {
        match rate {
            Rate::Unlimited => Self::Unlimited,
            &Rate::Fixed { bits_per_second } => {
                Self::Fixed(StrengthReducedU64::new(bits_per_second))
            }
            Rate::Trace { opportunities_ms } => {
                Self::Trace(Box::new(Replay::new(opportunities_ms, now)))
            }
        }
    }
}
