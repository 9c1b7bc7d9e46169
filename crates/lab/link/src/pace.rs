//! The rate of a direction, prepared for the serialiser.

use alloc::boxed::Box;

use strength_reduce::StrengthReducedU64;

use crate::Nanos;
use crate::config::{Duplex, Rate};
use crate::replay::Replay;
use crate::serialise::{NANOBITS_PER_BYTE, Nanobits};
use crate::varying::VaryingRate;

/// The rate of a direction.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    Unlimited,
    Fixed(FixedRate),
    /// A trace on a half-duplex link.
    Varying(Box<VaryingRate>),
    /// A trace on a full-duplex link.
    Trace(Box<Replay>),
}

/// The settings of a token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) burst_bytes: u64,
    pub(crate) least_packet_ns: Nanos,
}

/// A constant rate and its token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedRate {
    /// Bits per second, prepared to divide by.
    pub(crate) bps: StrengthReducedU64,
    /// Work that the full bucket is worth.
    pub(crate) burst: Nanobits,
    /// Shortest time that a packet takes out of the bucket.
    pub(crate) least_packet_ns: Nanos,
}

impl Pace {
    /// A rate as it is from `now` on, with a bucket where it is a fixed one.
    pub(crate) fn new(rate: &Rate, bucket: Bucket, duplex: Duplex, now: Nanos) -> Self {
        match rate {
            Rate::Unlimited => Self::Unlimited,
            &Rate::Fixed { bits_per_second } => {
                let bps = StrengthReducedU64::new(bits_per_second);
                Self::Fixed(FixedRate {
                    bps,
                    burst: work_of(bucket.burst_bytes),
                    least_packet_ns: bucket.least_packet_ns,
                })
            }
            Rate::Trace { opportunities_ms } => match duplex {
                Duplex::Full => Self::Trace(Box::new(Replay::new(opportunities_ms, now))),
                Duplex::Half => Self::Varying(Box::new(VaryingRate::new(opportunities_ms, now))),
            },
        }
    }

    /// Work that the full bucket is worth.
    pub(crate) fn burst(&self) -> Nanobits {
        match self {
            Self::Fixed(rate) => rate.burst,
            Self::Unlimited | Self::Varying(_) | Self::Trace(_) => 0,
        }
    }
}

impl FixedRate {
    /// The same rate with a bucket of this size.
    pub(crate) fn with_burst(self, burst_bytes: u64) -> Self {
        Self {
            burst: work_of(burst_bytes),
            ..self
        }
    }
}

/// The work that so many bytes are worth.
fn work_of(bytes: u64) -> Nanobits {
    Nanobits::from(bytes) * NANOBITS_PER_BYTE
}
