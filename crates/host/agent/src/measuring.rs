//! Experiments, one after the other.

use std::ffi::OsString;
use std::net::IpAddr;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use mptcplab_measure::authorisation::random;
use mptcplab_measure::client::{Path, Session, paths};
use mptcplab_measure::steps::{
    Chance, Course, Done, MOST_PATHS, STOPPED, advance, loads, most_bytes, steps,
};
use mptcplab_measure::token::Token;

use crate::api::{PathName, sentence};
use crate::clock::{boot_time, millis};
use crate::endpoints::Holder;
use crate::host::{Watch, boot_id, sent_options};
use crate::plan::Plan;
use crate::report::bounded;
use crate::result::{Measured, Outcome, Record, Target};
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
                    self.experiment(&plan);
                    self.sent()
                }
            };
        }
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
            let mut state = self.shared.lock();
            let now = state.now();
            let is_over = state.store.ledger.is_over(&plan, &now);
            drop(state);
            if is_over {
                (self.shared.log)(&format!("{}: is over", plan.id));
            } else if !self.shared.is_stopped() {
                self.experiment(&plan);
            }
        }
    }

    /// Carries out an experiment, and keeps its result.
    fn experiment(&self, plan: &Arc<Plan>) {
        let log = self.shared.log;
        let mut state = self.shared.lock();
        let now = state.now();
        let number = state.store.ledger.begun(plan);
        let left_today = state.store.ledger.left_today(plan, &now);
        let allowed = plan.budget_bytes.min(left_today);
        let is_used_up = left_today < LEAST_BYTES.min(plan.most_bytes());
        if !is_used_up {
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
        let measured = match is_used_up {
            true => skipped(plan, used_up(plan)),
            false => {
                log(&format!("{}: begins", plan.id));
                bounded(self.measured(plan, seed, allowed, &mut watch))
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
        if !is_used_up {
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

    /// The experiment itself.
    fn measured(&self, plan: &Plan, seed: u64, allowed: u64, watch: &mut Watch) -> Measured {
        let goes_on = || !self.shared.is_stopped();
        let target = &plan.target;
        let token = Token::parse(&target.token).expect("the plan was checked");
        let mut session = match Session::connect(&target.host, target.port, &token, goes_on) {
            Ok(session) => session,
            Err(mptcplab_measure::Error::Stopped) => return skipped(plan, STOPPED.to_owned()),
            Err(error) => return failed(plan, sentence(&error.to_string())),
        };
        let found = match paths(session.address(), session.local(), goes_on) {
            Ok(found) => found,
            Err(mptcplab_measure::Error::Stopped) => {
                return with_use(skipped(plan, STOPPED.to_owned()), &session);
            }
            Err(error) => return with_use(failed(plan, sentence(&error.to_string())), &session),
        };
        let (used, left_out) = chosen(found, plan.interfaces.as_deref());
        if used.is_empty() {
            let reason = "No local address of a wanted interface reaches the target";
            let mut measured = with_use(failed(plan, reason.to_owned()), &session);
            measured.left_out = left_out;
            return measured;
        }
        self.over_paths(plan, seed, allowed, (used, left_out), &mut session, watch)
    }

    fn over_paths(
        &self,
        plan: &Plan,
        seed: u64,
        allowed: u64,
        (used, left_out): (Vec<Path>, Vec<Path>),
        session: &mut Session,
        watch: &mut Watch,
    ) -> Measured {
        let count = used.len();
        let mut planned = steps(count, &plan.transfers(), plan.order, seed);
        let most = session
            .used_bytes()
            .saturating_add(most_bytes(&planned, count));
        if allowed < most.min(plan.budget_bytes) {
            return with_use(skipped(plan, used_up(plan)), session);
        }
        let volume = session.terms().volume_left_bytes;
        let volume = volume.map(|left| left.saturating_add(session.used_bytes()));
        let budget = allowed.min(volume.unwrap_or(u64::MAX));
        planned.extend(loads(count, budget.saturating_sub(most)));
        let (holder, endpoints) = self.endpoints(&used);
        let mut course = Course::new(
            used.clone(),
            endpoints.clone(),
            planned,
            plan.congestion_control.clone(),
            budget,
        );
        let mut goes_on = |_| !self.shared.is_stopped();
        while advance(&mut course, session, &mut goes_on) {
            watch.look(longest_wait(course.done()));
        }
        drop(holder);
        let (done, partial) = course.into_parts();
        let outcome = match (&partial, done.is_empty()) {
            (None, _) => Outcome::Complete,
            (Some(_), false) => Outcome::Partial,
            (Some(reason), true) if reason == STOPPED => Outcome::Skipped,
            (Some(_), true) => Outcome::Failed,
        };
        Measured {
            paths: used,
            left_out,
            sent_options: sent_options(),
            endpoints: endpoints
                .map(|addresses| addresses.iter().map(ToString::to_string).collect()),
            steps: done,
            ..with_use(empty(plan, outcome, partial), session)
        }
    }

    /// Endpoints for these paths, and the addresses that have some, where that is known.
    fn endpoints(&self, used: &[Path]) -> (Option<Holder>, Option<Vec<IpAddr>>) {
        let Some(command) = self.hold.filter(|_| used.len() > 1) else {
            return (None, None);
        };
        match Holder::hold(command, used) {
            Ok(holder) => {
                if !holder.added.is_empty() {
                    let added = holder.added.join(", ");
                    (self.shared.log)(&format!("endpoints for as long as it lasts: {added}"));
                }
                // Those that were not added were there.
                let addresses = used.iter().map(|path| path.source).collect();
                (Some(holder), Some(addresses))
            }
            Err(error) => {
                (self.shared.log)(&format!("no endpoints can be added: {error}"));
                (None, None)
            }
        }
    }
}

/// The paths that are taken, and the others.
fn chosen(found: Vec<Path>, interfaces: Option<&[String]>) -> (Vec<Path>, Vec<Path>) {
    let is_wanted = |path: &Path| interfaces.is_none_or(|names| names.contains(&path.interface));
    let (mut used, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_wanted);
    let mut left_out = used.split_off(used.len().min(MOST_PATHS));
    left_out.extend(others);
    (used, left_out)
}

/// The longest time that a connection of the last step has waited for a processor.
fn longest_wait(done: &[Done]) -> Duration {
    let connections = done.last().map(|one| &one.result.connections);
    let waits = connections.into_iter().flatten();
    let longest_us = waits.filter_map(|one| one.waited_us).max();
    Duration::from_micros(longest_us.unwrap_or(0))
}

fn empty(plan: &Plan, outcome: Outcome, reason: Option<String>) -> Measured {
    Measured {
        outcome,
        reason,
        target: Target {
            host: plan.target.host.clone(),
            port: plan.target.port,
            rate_limit_bps: None,
        },
        paths: Vec::new(),
        left_out: Vec::new(),
        sent_options: Vec::new(),
        endpoints: None,
        steps: Vec::new(),
        used_bytes: 0,
    }
}

fn skipped(plan: &Plan, reason: String) -> Measured {
    empty(plan, Outcome::Skipped, Some(reason))
}

fn failed(plan: &Plan, reason: String) -> Measured {
    empty(plan, Outcome::Failed, Some(reason))
}

/// With what the session has used, and its target's limit.
fn with_use(mut measured: Measured, session: &Session) -> Measured {
    measured.target.rate_limit_bps = session.terms().rate_limit_bps;
    measured.used_bytes = session.used_bytes();
    measured
}

fn used_up(plan: &Plan) -> String {
    format!(
        "The day's data are used up: {} bytes are allowed",
        plan.daily_bytes
    )
}

fn path_name(path: &Path) -> PathName {
    PathName {
        interface: path.interface.clone(),
        source: path.source.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(count: u8) -> Vec<Path> {
        let path = |number: u8| Path {
            interface: format!("eth{number}"),
            source: [10, 0, number, 1].into(),
            device: None,
            index: number.into(),
        };
        (0..count).map(path).collect()
    }

    #[test]
    fn paths_that_are_not_taken_are_told() {
        let names = |paths: &[Path]| {
            let names = paths.iter().map(|path| path.interface.clone());
            names.collect::<Vec<_>>()
        };
        let (used, left_out) = chosen(paths(10), None);
        assert_eq!(
            (used.len(), names(&left_out)),
            (8, vec!["eth8".to_owned(), "eth9".to_owned()])
        );
        let wanted = ["eth1".to_owned(), "wlan0".to_owned()];
        let (used, left_out) = chosen(paths(3), Some(&wanted));
        assert_eq!(
            (names(&used), names(&left_out)),
            (
                vec!["eth1".to_owned()],
                vec!["eth0".to_owned(), "eth2".to_owned()]
            )
        );
    }
}
