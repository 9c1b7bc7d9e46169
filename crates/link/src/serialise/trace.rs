//! Traces.
pub(crate) const NANOS_PER_MS: u64 = 1_000_000;
