//! Limits of rates.

const SECOND: u64 = 1_000_000_000;

/// A token bucket that holds what comes in a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: u32,
    /// Tokens, in parts of 10⁻⁹.
    tokens: u64,
    at_ns: u64,
}

impl Bucket {
    /// A full bucket for a rate per second.
    pub(crate) fn new(rate: u32, now_ns: u64) -> Self {
        Self {
            rate,
            tokens: u64::from(rate) * SECOND,
            at_ns: now_ns,
        }
    }

    /// Takes one token, if there is one.
    pub(crate) fn take(&mut self, now_ns: u64) -> bool {
        let elapsed = now_ns.saturating_sub(self.at_ns).min(SECOND);
        let most = u64::from(self.rate) * SECOND;
        self.tokens = (self.tokens + elapsed * u64::from(self.rate)).min(most);
        self.at_ns = self.at_ns.max(now_ns);
        match self.tokens.checked_sub(SECOND) {
            Some(left) => {
                self.tokens = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_pass_than_the_rate_allows() {
        let mut bucket = Bucket::new(10, 0);
        assert_eq!((0..100).filter(|_| bucket.take(0)).count(), 10);
        let passed = (1..=1000).filter(|at| bucket.take(at * SECOND / 1000));
        assert_eq!(passed.count(), 10);
    }
}
