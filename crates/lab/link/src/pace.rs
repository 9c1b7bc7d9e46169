//! The rate of a direction, prepared for the serialiser.

use alloc::boxed::Box;

use strength_reduce::StrengthReducedU64;

use crate::Nanos;
use crate::config::Rate;
use crate::replay::Replay;

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
