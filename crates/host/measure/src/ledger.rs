//! The data that each holder of a token has moved, within a day.

use std::time::Duration;

/// Time after which a holder's volume is counted anew.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The account of each holder.
#[derive(Debug)]
pub struct Ledger {
    limit_bytes: Option<u64>,
    accounts: Vec<Account>,
}

#[derive(Clone, Debug, Default)]
struct Account {
    used_bytes: u64,
    /// Since the beginning.
    day_began: Duration,
}

impl Ledger {
    /// Accounts for so many holders, each of whom may move so much within a day.
    pub fn new(holders: usize, limit_bytes: Option<u64>) -> Self {
        Self {
            limit_bytes,
            accounts: vec![Account::default(); holders],
        }
    }

    /// Data that a holder may move still; `None` without a limit.
    pub fn left(&mut self, holder: usize, now: Duration) -> Option<u64> {
        let limit = self.limit_bytes?;
        let account = self.account(holder, now);
        Some(limit.saturating_sub(account.used_bytes))
    }

    /// Counts data that is going to be moved; false, with nothing counted, where it is too much.
    pub fn reserve(&mut self, holder: usize, bytes: u64, now: Duration) -> bool {
        let is_enough = self.left(holder, now).is_none_or(|left| bytes <= left);
        if is_enough {
            let account = self.account(holder, now);
            account.used_bytes = account.used_bytes.saturating_add(bytes);
        }
        is_enough
    }

    /// Counts what was moved in place of what was reserved: less, or more of a peer that does
    /// not keep to it.
    pub fn settle(&mut self, holder: usize, reserved: u64, moved: u64) {
        let account = &mut self.accounts[holder];
        let others = account.used_bytes.saturating_sub(reserved);
        account.used_bytes = others.saturating_add(moved);
    }

    fn account(&mut self, holder: usize, now: Duration) -> &mut Account {
        let account = &mut self.accounts[holder];
        if now.saturating_sub(account.day_began) >= DAY {
            *account = Account {
                used_bytes: 0,
                day_began: now,
            };
        }
        account
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_holder_has_its_own_volume_a_day() {
        let mut ledger = Ledger::new(2, Some(100));
        let now = Duration::from_secs(1);
        assert!(ledger.reserve(0, 60, now));
        assert!(!ledger.reserve(0, 41, now));
        assert_eq!(ledger.left(0, now), Some(40));
        assert!(ledger.reserve(1, 100, now));
        ledger.settle(0, 60, 10);
        assert!(ledger.reserve(0, 90, now));
        assert!(!ledger.reserve(0, 1, now));
        ledger.settle(0, 90, 95);
        assert_eq!(ledger.left(0, now), Some(0));
        assert!(ledger.reserve(0, 1, DAY));
    }

    #[test]
    fn without_a_limit_nothing_is_too_much() {
        let mut ledger = Ledger::new(1, None);
        assert!(ledger.reserve(0, u64::MAX, Duration::ZERO));
        assert!(ledger.reserve(0, u64::MAX, Duration::ZERO));
        assert_eq!(ledger.left(0, Duration::ZERO), None);
    }
}
