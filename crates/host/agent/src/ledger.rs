//! The account that an agent keeps: results, what was dropped, and what each plan has used.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Now;
use crate::plan::Plan;

/// Plans whose accounts are kept at most.
const MOST_KEPT: usize = 1_000;

/// The account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Of the next result.
    pub next_sequence: u64,
    /// Results that were never sent.
    pub dropped: Dropped,
    /// Files of results that are counted as dropped, and may still be there.
    pub dropping: Vec<String>,
    /// By the plan's id.
    experiments: BTreeMap<String, Experiments>,
    /// By the plan's name.
    days: BTreeMap<String, Day>,
}

/// Results that were never sent, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// There was no room for them.
    pub size: u64,
    /// They had become too old.
    pub age: u64,
}

/// Experiments of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Experiments {
    begun: u64,
    /// The time of the next one, since this boot.
    next: Option<(String, u64)>,
}

/// Data of a day, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Day {
    /// Days since 1970.
    day: i64,
    used_bytes: u64,
    /// Some of them were used while the server's time was not known.
    #[serde(default)]
    is_guess: bool,
}

impl Ledger {
    /// Experiments of a plan that have begun.
    pub fn begun(&self, plan: &Plan) -> u64 {
        self.experiments.get(&plan.id).map_or(0, |one| one.begun)
    }

    /// No further experiment is to begin, as far as it can be told.
    pub fn is_over(&self, plan: &Plan, now: &Now) -> bool {
        let is_enough = plan
            .most_experiments
            .is_some_and(|most| self.begun(plan) >= most);
        let until = plan.until_unix_s.zip(now.utc_s());
        is_enough || until.is_some_and(|(until, utc_s)| utc_s >= until)
    }

    /// The time of a plan's next experiment, where it was set in this boot.
    pub fn next_time(&self, plan: &Plan, boot_id: &str) -> Option<Duration> {
        let (boot, ms) = self.experiments.get(&plan.id)?.next.as_ref()?;
        (boot == boot_id).then(|| Duration::from_millis(*ms))
    }

    /// Sets the time of a plan's next experiment.
    pub fn set_next_time(&mut self, plan: &Plan, boot_id: &str, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let one = self.experiments.entry(plan.id.clone()).or_default();
        one.next = Some((boot_id.to_owned(), ms));
    }

    /// Data that a plan may still use today. A day that is not known is the last one that was; one
    /// before it, where a clock was wrong, brings no new budget.
    pub fn left_today(&self, plan: &Plan, now: &Now) -> u64 {
        let used = match (self.days.get(&plan.name), now.utc_day()) {
            (Some(kept), Some(day)) if day > kept.day => 0,
            (Some(kept), _) => kept.used_bytes,
            (None, _) => 0,
        };
        plan.daily_bytes.saturating_sub(used)
    }

    /// Counts an experiment that begins, and takes its data from the day's: an end without notice
    /// costs data, and gains none.
    pub fn begin(&mut self, plan: &Plan, now: &Now, most_bytes: u64) {
        self.experiments.entry(plan.id.clone()).or_default().begun += 1;
        let kept = self.days.entry(plan.name.clone()).or_default();
        kept.go_on(now);
        kept.used_bytes = kept.used_bytes.saturating_add(most_bytes);
    }

    /// Gives back what an experiment that has begun did not use. One that ends on another day than
    /// it began has used its data on both, as far as it can be told.
    pub fn end(&mut self, plan: &Plan, now: &Now, most_bytes: u64, used_bytes: u64) {
        if let Some(kept) = self.days.get_mut(&plan.name) {
            let without = kept.used_bytes.saturating_sub(most_bytes);
            kept.used_bytes = without;
            kept.go_on(now);
            kept.used_bytes = kept.used_bytes.saturating_add(used_bytes);
        }
    }

    /// An experiment that has begun and ended was none: it counts for no limit of them.
    pub fn uncount(&mut self, plan: &Plan) {
        if let Some(one) = self.experiments.get_mut(&plan.id) {
            one.begun = one.begun.saturating_sub(1);
        }
    }

    /// The server's time is known: data that were used before it was, or by a clock that was ahead,
    /// are today's. Gives whether that changes anything.
    pub fn settle(&mut self, today: i64) -> bool {
        let mut is_changed = false;
        for kept in self.days.values_mut() {
            if kept.is_guess || kept.day > today {
                kept.day = today;
                kept.is_guess = false;
                is_changed = true;
            }
        }
        is_changed
    }

    /// Forgets plans that are not listed any more, where there are very many.
    pub fn forget(&mut self, listed: &[&Plan]) {
        if self.experiments.len() > MOST_KEPT {
            self.experiments
                .retain(|id, _| listed.iter().any(|plan| plan.id == *id));
        }
        if self.days.len() > MOST_KEPT {
            self.days
                .retain(|name, _| listed.iter().any(|plan| plan.name == *name));
        }
    }
}

impl Day {
    /// Begins a new day where it is one. A clock that was set back brings none.
    fn go_on(&mut self, now: &Now) {
        if let Some(day) = now.utc_day().filter(|day| *day > self.day) {
            *self = Self {
                day,
                ..Self::default()
            };
        }
        self.is_guess |= !now.is_servers;
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Utc;
    use crate::plan::tests::plan;

    const DAY_MS: i64 = 86_400_000;
    /// 1 January 2027.
    const AT: i64 = 1_798_761_600_000;

    fn at(utc_ms: Option<i64>) -> Now {
        Now {
            boot: Duration::ZERO,
            utc_ms,
            is_servers: true,
        }
    }

    fn by_the_system(utc_ms: Option<i64>) -> Now {
        Now {
            is_servers: false,
            ..at(utc_ms)
        }
    }

    #[test]
    fn a_day_has_a_budget() {
        let plan = plan(|plan| plan.daily_bytes = 100);
        let mut ledger = Ledger::default();
        assert_eq!(ledger.left_today(&plan, &at(None)), 100);
        ledger.begin(&plan, &at(Some(AT)), 60);
        assert_eq!(ledger.left_today(&plan, &at(Some(AT))), 40);
        ledger.end(&plan, &at(Some(AT)), 60, 10);
        for now in [Some(AT), Some(AT - DAY_MS), None] {
            assert_eq!(ledger.left_today(&plan, &at(now)), 90);
        }
        assert_eq!(ledger.left_today(&plan, &at(Some(AT + DAY_MS))), 100);
        ledger.begin(&plan, &at(Some(AT - DAY_MS)), 50);
        assert_eq!(ledger.left_today(&plan, &at(Some(AT - DAY_MS))), 40);
        assert_eq!(ledger.left_today(&plan, &at(Some(AT))), 40);
    }

    #[test]
    fn data_that_were_used_by_a_wrong_clock_are_todays_once_the_time_is_known() {
        let plan = plan(|plan| plan.daily_bytes = 100);
        for wrong in [None, Some(AT - 3 * DAY_MS), Some(AT + 3 * DAY_MS)] {
            let mut ledger = Ledger::default();
            ledger.begin(&plan, &by_the_system(wrong), 70);
            assert!(ledger.settle(AT / DAY_MS));
            assert_eq!(ledger.left_today(&plan, &at(Some(AT))), 30, "{wrong:?}");
            assert!(!ledger.settle(AT / DAY_MS + 1));
            assert_eq!(ledger.left_today(&plan, &at(Some(AT + DAY_MS))), 100);
        }
    }

    #[test]
    fn an_experiment_over_midnight_uses_data_of_both_days() {
        let plan = plan(|plan| plan.daily_bytes = 100);
        let mut ledger = Ledger::default();
        ledger.begin(&plan, &at(Some(AT - 1)), 70);
        ledger.end(&plan, &at(Some(AT)), 70, 50);
        assert_eq!(ledger.left_today(&plan, &at(Some(AT))), 50);
    }

    #[test]
    fn one_that_was_skipped_counts_for_no_limit() {
        let plan = plan(|plan| plan.most_experiments = Some(1));
        let mut ledger = Ledger::default();
        ledger.begin(&plan, &at(None), 0);
        ledger.uncount(&plan);
        assert!(!ledger.is_over(&plan, &at(None)));
    }

    #[test]
    fn a_changed_plan_counts_its_experiments_anew_and_not_its_data() {
        let first = plan(|plan| plan.most_experiments = Some(1));
        let second = plan(|plan| plan.id = "lines@4".to_owned());
        let mut ledger = Ledger::default();
        assert!(!ledger.is_over(&first, &at(None)));
        ledger.begin(&first, &at(Some(AT)), 1_000);
        assert!(ledger.is_over(&first, &at(None)));
        assert_eq!(ledger.begun(&second), 0);
        assert_eq!(
            ledger.left_today(&second, &at(Some(AT))),
            second.daily_bytes - 1_000
        );
    }

    #[test]
    fn a_plan_ends_at_its_time() {
        let plan = plan(|plan| plan.until_unix_s = Some(AT / 1_000));
        let ledger = Ledger::default();
        assert!(!ledger.is_over(&plan, &at(Some(AT - 1))));
        assert!(ledger.is_over(&plan, &at(Some(AT))));
        assert!(!ledger.is_over(&plan, &at(None)));
    }

    #[test]
    fn the_next_time_is_of_one_boot() {
        let plan = plan(|_| ());
        let mut ledger = Ledger::default();
        let time = Duration::from_millis(1_500);
        ledger.set_next_time(&plan, "this", time);
        let text = serde_json::to_string(&ledger).unwrap();
        let kept: Ledger = serde_json::from_str(&text).unwrap();
        assert_eq!(kept, ledger);
        assert_eq!(kept.next_time(&plan, "this"), Some(time));
        assert_eq!(kept.next_time(&plan, "that"), None);
    }

    proptest! {
        /// Steps of the system's clock after the server's time is known change nothing.
        #[test]
        fn no_step_of_a_clock_gains_data(
            steps in vec((0_u64..40_000_000, any::<i64>(), 1_u64..200), 1..60),
        ) {
            let plan = plan(|plan| plan.daily_bytes = 1_000);
            let mut ledger = Ledger::default();
            let mut utc = Utc::default();
            utc.set(Duration::ZERO, AT);
            let (mut boot, mut used) = (Duration::ZERO, BTreeMap::new());
            for (later_ms, system_ms, bytes) in steps {
                boot += Duration::from_millis(later_ms);
                let now = utc.now(boot, system_ms);
                let allowed = bytes.min(ledger.left_today(&plan, &now));
                ledger.begin(&plan, &now, allowed);
                ledger.end(&plan, &now, allowed, allowed);
                let true_day = (AT + boot.as_millis() as i64) / DAY_MS;
                *used.entry(true_day).or_insert(0) += allowed;
            }
            prop_assert!(used.values().all(|used| *used <= 1_000));
        }
    }
}
