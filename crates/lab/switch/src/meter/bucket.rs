//! Token buckets of a meter's bands (section 5.7).

use mptcplab_openflow::meter::{MeterBand, MeterFlags};

/// Time in which a band without a burst may take as much as its rate gives.
const DEFAULT_BURST_NS: u128 = 100_000_000;
const NANOS: u128 = 1_000_000_000;
/// A packet that every bucket can hold, in bits.
const LEAST_BURST_BITS: u128 = 8 * 1518;

/// A bucket. Tokens are billionths of a bit or of a packet, so that a nanosecond is worth a whole
/// number of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// Tokens a nanosecond: bits or packets a second.
    rate: u128,
    /// Most tokens.
    burst: u128,
    tokens: u128,
    filled_ns: u64,
}

impl Bucket {
    /// A bucket that is full.
    pub(crate) fn new(band: &MeterBand, flags: MeterFlags, now_ns: u64) -> Self {
        let counts_packets = flags.contains(MeterFlags::PKTPS);
        let unit = if counts_packets { 1 } else { 1000 };
        let least = if counts_packets { 1 } else { LEAST_BURST_BITS };
        let rate = u128::from(band.rate) * unit;
        let burst = if flags.contains(MeterFlags::BURST) {
            u128::from(band.burst_size) * unit * NANOS
        } else {
            rate * DEFAULT_BURST_NS
        };
        let burst = burst.max(least * NANOS);
        Self {
            rate,
            burst,
            tokens: burst,
            filled_ns: now_ns,
        }
    }

    /// Takes the tokens of a packet; `false`: there are not enough, and the band applies.
    pub(crate) fn take(&mut self, now_ns: u64, amount: u64) -> bool {
        let gained = u128::from(now_ns.saturating_sub(self.filled_ns)) * self.rate;
        self.tokens = (self.tokens + gained).min(self.burst);
        self.filled_ns = self.filled_ns.max(now_ns);
        let cost = u128::from(amount) * NANOS;
        let is_enough = self.tokens >= cost;
        if is_enough {
            self.tokens -= cost;
        }
        is_enough
    }
}
