//! The time until the next try after failures.

use std::time::Duration;

use mptcplab_measure::steps::Chance;

/// After the first failure, at most.
const FIRST: Duration = Duration::from_secs(2);
/// After many, at most.
const LONGEST: Duration = Duration::from_secs(600);
/// Where the server refuses this agent: it may be taken in again.
const RARELY: Duration = Duration::from_secs(1_800);
/// The longest time that a server can ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(3_600);

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It may be over at any time.
    Passing,
    /// The server asks to be left alone for so long.
    Asked(Duration),
    /// It lasts until a person does something about it.
    Lasting,
    /// The server does not take this agent.
    Revoked,
}

/// Failures one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The time until the next try: of chance, so that agents do not come all at once.
    pub fn failed(&mut self, failure: Failure, chance: &mut Chance) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let doubled = FIRST.saturating_mul(1 << (self.failures - 1).min(16));
        let limit = doubled.min(LONGEST);
        match failure {
            Failure::Passing => between(limit / 2, limit, chance),
            Failure::Lasting | Failure::Revoked => between(RARELY / 2, RARELY, chance),
            Failure::Asked(asked) => {
                let asked = asked.min(LONGEST_ASKED);
                between(asked, asked + (asked / 4).max(limit / 2), chance)
            }
        }
    }

    /// It works again.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }
}

fn between(least: Duration, most: Duration, chance: &mut Chance) -> Duration {
    let range = u64::try_from((most - least).as_millis()).unwrap_or(0);
    least + Duration::from_millis(chance.below(range + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tries_become_rarer_until_one_succeeds() {
        let mut backoff = Backoff::default();
        let mut chance = Chance::new(1);
        let mut waits = [(); 40].map(|()| backoff.failed(Failure::Passing, &mut chance));
        assert!(waits[0] <= FIRST && waits[39] >= LONGEST / 2);
        backoff.succeeded();
        assert!(backoff.failed(Failure::Passing, &mut chance) <= FIRST);
        waits.sort_unstable();
        assert!(waits.windows(2).any(|two| two[0] != two[1]));
    }

    proptest! {
        #[test]
        fn a_try_is_neither_early_nor_given_up(seed: u64, before in 0_u32..1_000, asked_s: u32) {
            let mut backoff = Backoff { failures: before };
            let mut chance = Chance::new(seed);
            let asked = Duration::from_secs(asked_s.into());
            let wait = backoff.failed(Failure::Asked(asked), &mut chance);
            prop_assert!(wait >= asked.min(LONGEST_ASKED) && wait <= 2 * LONGEST_ASKED);
            let wait = backoff.failed(Failure::Passing, &mut chance);
            prop_assert!(wait >= FIRST / 2 && wait <= LONGEST);
            let wait = backoff.failed(Failure::Lasting, &mut chance);
            prop_assert!(wait >= RARELY / 2 && wait <= RARELY);
        }
    }
}
