//! An application that offers payload at a limited rate.

use mptcplab_link::Nanos;

/// Least amount of a write, but for the last one.
const SMALLEST_WRITE_BYTES: u64 = 1400;
/// Least time between writes.
const WRITE_INTERVAL_NS: Nanos = 1_000_000;

/// The rate of an application, from its first write on.
///
/// Makes up for writes that came late: the amount since the first write decides.
#[derive(Clone, Debug)]
pub struct Pacing {
    rate_bps: u64,
    began: Option<Nanos>,
}

/// The next step of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It writes so many bytes.
    Bytes(u64),
    /// It waits until this time.
    Wait(Nanos),
}

impl Pacing {
    /// An application that offers no more than this rate of payload.
    #[must_use]
    pub fn new(rate_bps: u64) -> Self {
        Self {
            rate_bps: rate_bps.max(1),
            began: None,
        }
    }

    /// The next step at a time, where `sent` bytes have been written and `left` are to come.
    pub fn offer(&mut self, now: Nanos, sent: u64, left: u64) -> Offer {
        let began = *self.began.get_or_insert(now);
        let bits = u128::from(now - began) * u128::from(self.rate_bps) / 1_000_000_000;
        let earned = u64::try_from(bits / 8)
            .unwrap_or(u64::MAX)
            .saturating_sub(sent);
        let write = self.write_bytes().min(left);
        if earned >= write {
            return Offer::Bytes(earned.min(left));
        }
        let bits = u128::from(sent + write) * 8 * 1_000_000_000;
        let wait = bits.div_ceil(u128::from(self.rate_bps));
        Offer::Wait(began.saturating_add(u64::try_from(wait).unwrap_or(Nanos::MAX)))
    }

    /// Bytes that it writes at once.
    fn write_bytes(&self) -> u64 {
        let rate_bps = u128::from(self.rate_bps);
        let in_an_interval = rate_bps * u128::from(WRITE_INTERVAL_NS) / 8_000_000_000;
        u64::try_from(in_an_interval)
            .unwrap_or(u64::MAX)
            .max(SMALLEST_WRITE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_a_write_of_1400_bytes_or_of_a_millisecond() {
        let mut slow = Pacing::new(1_000_000);
        assert_eq!(slow.offer(500, 0, u64::MAX), Offer::Wait(500 + 11_200_000));
        assert_eq!(slow.offer(11_200_500, 0, u64::MAX), Offer::Bytes(1400));
        let mut fast = Pacing::new(80_000_000);
        assert_eq!(fast.offer(0, 0, u64::MAX), Offer::Wait(1_000_000));
        assert_eq!(fast.offer(1_000_000, 0, u64::MAX), Offer::Bytes(10_000));
    }

    #[test]
    fn what_was_late_is_made_up_for_and_the_last_write_may_be_small() {
        let mut pacing = Pacing::new(8_000_000);
        pacing.offer(0, 0, 5000);
        assert_eq!(pacing.offer(3_000_000, 0, 5000), Offer::Bytes(3000));
        assert_eq!(pacing.offer(3_500_000, 3000, 2000), Offer::Wait(4_400_000));
        assert_eq!(pacing.offer(4_900_000, 4900, 100), Offer::Wait(5_000_000));
        assert_eq!(pacing.offer(9_000_000, 4900, 100), Offer::Bytes(100));
    }
}
