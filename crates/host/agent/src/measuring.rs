//! Experiments, one after the other.

use std::ffi::OsString;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use mptcplab_measure::authorisation::random;
use mptcplab_measure::client::Path;
use mptcplab_measure::congestion;
use mptcplab_measure::steps::Chance;

use crate::api::{PathName, sentence};
use crate::clock::{boot_time, millis};
use crate::experiment::{Experiment, skipped, used_up};
use crate::host::{Watch, boot_id};
use crate::plan::Plan;
use crate::report::bounded;
use crate::result::{Outcome, Record};
use crate::schedule::{Next, Schedule};
use crate::shared::{Shared, State};

/// Data that it takes to find out how much is needed.
const LEAST_BYTES: u64 = 64 << 10;
/// Distance of two looks whether a result is still being sent.
const TIME_TO_LOOK: Duration = Duration::from_secs(1);
/// Time that results have to be sent before an experiment that is late already.
const TIME_TO_SEND: Duration = Duration::from_secs(20);
/// Seeds below this are exact in every reader of JSON.
const SEED_BITS: u32 = 53;

/// An agent's measurements.
pub(crate) struct Measuring<'a> {
    pub(crate) shared: &'a Shared,
    /// Its id at the server.
    pub(crate) agent: &'a str,
    /// The command of a process that holds endpoints; none where they are left as they are.
    pub(crate) hold: Option<&'a [OsString]>,
}

impl Measuring<'_> {
    /// Carries out plans by their schedule until the agent is stopped.
    pub(crate) fn run(&self) {
        let boot = boot_id();
        let seed = u64::from_ne_bytes(random());
        let mut schedule = Schedule::new(boot.clone(), Chance::new(seed));
        let mut version = 0;
        let mut state = self.shared.lock();
        // Plans of the former run may be gone.
        while !state.has_asked && !self.shared.is_stopped() {
            state = self.shared.wait(state, TIME_TO_LOOK);
        }
        while !self.shared.is_stopped() {
            let now = state.now();
            if state.plans_version != version {
                version = state.plans_version;
                schedule.set_plans(&state.plans, &state.store.ledger, now.boot);
            }
            state = match schedule.next(&now, &state.store.ledger) {
                Next::Wait(time) => self.shared.wait(state, time),
                Next::Begin(plan) => {
                    if let Some(time) = schedule.begun(&plan, now.boot) {
                        state.store.ledger.set_next_time(&plan, &boot, time);
                    }
                    drop(state);
                    self.round(&plan)
                }
            };
        }
    }

    /// Carries out the experiments of a plan that are due at the same time, one for each congestion
    /// control, while the plan is neither over nor taken away.
    fn round(&self, plan: &Arc<Plan>) -> MutexGuard<'_, State> {
        let mut is_first = true;
        for control in plan.congestion_controls() {
            let mut state = self.shared.lock();
            let now = state.now();
            let is_there = state.plans.iter().any(|one| one.id == plan.id);
            let may_go_on = is_there && !state.store.ledger.is_over(plan, &now);
            drop(state);
            if self.shared.is_stopped() || !(is_first || may_go_on) {
                break;
            }
            is_first = false;
            self.experiment(plan, control);
            drop(self.sent());
        }
        self.shared.lock()
    }

    /// Waits until results have been sent, as none is while an experiment lasts: otherwise plans
    /// whose experiments take longer than their interval would let none go, ever.
    fn sent(&self) -> MutexGuard<'_, State> {
        let until = boot_time() + TIME_TO_SEND;
        let mut state = self.shared.lock();
        while state.is_about_to_send() && !self.shared.is_stopped() && boot_time() < until {
            state = self.shared.wait(state, TIME_TO_LOOK);
        }
        state
    }

    /// Carries out each plan once, now.
    pub(crate) fn run_once(&self) {
        let plans = self.shared.lock().plans.clone();
        for plan in plans {
            for control in plan.congestion_controls() {
                let mut state = self.shared.lock();
                let now = state.now();
                let is_over = state.store.ledger.is_over(&plan, &now);
                drop(state);
                if is_over {
                    (self.shared.log)(&format!("{}: is over", plan.id));
                } else if !self.shared.is_stopped() {
                    self.experiment(&plan, control);
                }
            }
        }
    }

    /// Carries out an experiment with a congestion control, and keeps its result.
    fn experiment(&self, plan: &Arc<Plan>, control: Option<&str>) {
        let log = self.shared.log;
        let mut state = self.shared.lock();
        let now = state.now();
        let number = state.store.ledger.begun(plan);
        let left_today = state.store.ledger.left_today(plan, &now);
        let allowed = plan.budget_bytes.min(left_today);
        let is_used_up = left_today < LEAST_BYTES.min(plan.most_bytes());
        let obstacle = match is_used_up {
            true => Some(used_up(plan)),
            false => control.and_then(unusable),
        };
        if obstacle.is_none() {
            state.store.ledger.begin(plan, &now, allowed);
        }
        state.is_measuring = true;
        // A result on its way would be measured, too. No further one is sent.
        while state.store.spool.is_holding() && !self.shared.is_stopped() {
            state = self.shared.wait(state, TIME_TO_LOOK);
        }
        // An end without notice is not to bring the day's data back.
        if let Err(error) = state.store.save() {
            log(&error.to_string());
        }
        drop(state);

        let seed =
            Chance::new(plan.seed ^ number.rotate_left(SEED_BITS)).next_u64() >> (64 - SEED_BITS);
        let mut watch = Watch::begin();
        let is_begun = obstacle.is_none();
        let measured = match obstacle {
            Some(reason) => skipped(plan, reason),
            None => {
                log(&format!("{}: begins", plan.id));
                let experiment = Experiment {
                    shared: self.shared,
                    hold: self.hold,
                    plan,
                    control,
                    seed,
                    allowed,
                };
                bounded(experiment.measured(&mut watch))
            }
        };
        let record = |sequence| {
            let (format, id) = Record::head();
            let record = Record {
                format,
                id: id.clone(),
                sequence,
                agent: self.agent.to_owned(),
                plan: plan.id.clone(),
                seed,
                congestion_control: control.map(str::to_owned),
                began_unix_ms: now.utc_ms.unwrap_or(0),
                took_ms: u64::try_from(millis(boot_time().saturating_sub(now.boot))).unwrap_or(0),
                boot: boot_id(),
                host: watch.host(),
                measured: measured.clone(),
            };
            (id, record.into_bytes())
        };

        let mut state = self.shared.lock();
        let ended = state.now();
        if is_begun {
            let ledger = &mut state.store.ledger;
            ledger.end(plan, &ended, allowed, measured.used_bytes);
            if measured.outcome == Outcome::Skipped {
                ledger.uncount(plan);
            }
        }
        let utc_s = ended.utc_s();
        let added = state.store.add(utc_s, record);
        state.disk_problem = added.err().map(|error| sentence(&error.to_string()));
        state.experiment_problem = measured.problem(&plan.id);
        if !measured.paths.is_empty() {
            state.paths = measured.paths.iter().map(path_name).collect();
        }
        state.is_measuring = false;
        state.has_news = true;
        let lost = state.disk_problem.clone();
        drop(state);
        self.shared.notify();
        log(&measured.told(&plan.id));
        if let Some(lost) = lost {
            log(&format!(
                "{}: {lost}: its result, or what is kept of it, is dropped",
                plan.id
            ));
        }
    }
}

/// The reason for which no experiment is carried out with a congestion control.
fn unusable(control: &str) -> Option<String> {
    let reason = congestion::obstacle(control)?;
    Some(format!("This host cannot use {reason}"))
}

fn path_name(path: &Path) -> PathName {
    PathName {
        interface: path.interface.clone(),
        source: path.source.to_string(),
    }
}
