//! When the next experiment of which plan begins. Time is that since the boot; of UTC only windows
//! and ends are judged.

use std::sync::Arc;
use std::time::Duration;

use mptcplab_measure::steps::Chance;

use crate::clock::Now;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::window::open_for;

/// Time after which all is looked at anew: a clock may have been set, the machine may have slept.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// All plans.
#[derive(Debug)]
pub struct Schedule {
    entries: Vec<Entry>,
    boot_id: String,
    chance: Chance,
}

#[derive(Debug)]
struct Entry {
    plan: Arc<Plan>,
    /// The time of the experiment, without its spread.
    time: Duration,
    /// The same with it.
    due: Duration,
    /// How long after the opening of a window it begins, where it found all of them closed.
    after_opening_s: Option<u64>,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// An experiment of this plan.
    Begin(Arc<Plan>),
    /// Wait for so long.
    Wait(Duration),
}

impl Schedule {
    /// Without plans; chance decides the spread.
    pub fn new(boot_id: String, chance: Chance) -> Self {
        Self {
            entries: Vec::new(),
            boot_id,
            chance,
        }
    }

    /// Takes these plans, and no others. One that is new begins now, or where it was left.
    pub fn set_plans(&mut self, plans: &[Arc<Plan>], ledger: &Ledger, now: Duration) {
        let mut entries = Vec::with_capacity(plans.len());
        for plan in plans {
            let same = |entry: &Entry| entry.plan.id == plan.id;
            if entries.iter().any(same) {
                continue;
            }
            entries.push(match self.entries.iter().position(same) {
                Some(place) => {
                    let mut entry = self.entries.swap_remove(place);
                    entry.plan = Arc::clone(plan);
                    entry
                }
                None => self.entry(plan, ledger, now),
            });
        }
        self.entries = entries;
    }

    fn entry(&mut self, plan: &Arc<Plan>, ledger: &Ledger, now: Duration) -> Entry {
        let every = plan.schedule.every();
        let kept = ledger.next_time(plan, &self.boot_id);
        // One that is further away than its interval is of another plan, or of no clock.
        let time = kept.filter(|time| *time <= now + every);
        let time = time.map_or(now, |time| at_or_after(time, every, now));
        Entry {
            plan: Arc::clone(plan),
            time,
            due: time + spread(plan, &mut self.chance),
            after_opening_s: None,
        }
    }

    /// The thing to do now.
    pub fn next(&mut self, now: &Now, ledger: &Ledger) -> Next {
        let mut wait = LOOK_AGAIN;
        let mut first: Option<&Entry> = None;
        for entry in &mut self.entries {
            if ledger.is_over(&entry.plan, now) {
                continue;
            }
            if entry.due > now.boot {
                wait = wait.min(entry.due - now.boot);
            } else if entry.may_begin(now, &mut self.chance)
                && first.is_none_or(|first| entry.due < first.due)
            {
                first = Some(entry);
            }
        }
        match first {
            Some(entry) => Next::Begin(Arc::clone(&entry.plan)),
            None => Next::Wait(wait),
        }
    }

    /// An experiment of a plan begins: gives the time of the next one. Those that were missed are
    /// not made up for.
    pub fn begun(&mut self, plan: &Plan, now: Duration) -> Option<Duration> {
        let entry = self.entries.iter_mut().find(|one| one.plan.id == plan.id)?;
        let every = plan.schedule.every();
        let from = match entry.after_opening_s.take() {
            Some(_) => now,
            None => entry.time,
        };
        entry.time = at_or_after(from + every, every, now);
        entry.due = entry.time + spread(plan, &mut self.chance);
        Some(entry.time)
    }
}

impl Entry {
    /// It is due: whether its windows and the clock allow it.
    fn may_begin(&mut self, now: &Now, chance: &mut Chance) -> bool {
        let Some(utc_s) = now.utc_s() else {
            return !self.plan.needs_utc();
        };
        let open = open_for(&self.plan.windows, utc_s);
        match (open, self.after_opening_s) {
            (Some(_), None) => true,
            (Some((since, length)), Some(after)) => {
                u64::from(since) >= after.min(u64::from(length) / 2)
            }
            (None, Some(_)) => false,
            (None, None) => {
                self.after_opening_s = Some(chance.below(self.plan.schedule.spread_s));
                false
            }
        }
    }
}

/// The first time of a grid that is now or later.
fn at_or_after(time: Duration, every: Duration, now: Duration) -> Duration {
    let behind_ms = now.saturating_sub(time).as_millis();
    let steps = behind_ms.div_ceil(every.as_millis().max(1));
    time + every.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX))
}

fn spread(plan: &Plan, chance: &mut Chance) -> Duration {
    Duration::from_millis(chance.below(plan.schedule.spread_s.saturating_mul(1_000)))
}

#[cfg(test)]
mod tests;
