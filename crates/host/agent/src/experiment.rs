//! An experiment: its paths, its endpoints, and what was measured.

use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mptcplab_linux::netns::NetNs;
use mptcplab_measure::client::{Path, Session, paths};
use mptcplab_measure::congestion;
use mptcplab_measure::settings::Settings;
use mptcplab_measure::steps::{
    Course, Done, MOST_PATHS, STOPPED, advance, loads, most_bytes, steps,
};
use mptcplab_measure::token::Token;

use crate::api::sentence;
use crate::endpoints::Holder;
use crate::host::{Watch, sent_options};
use crate::plan::Plan;
use crate::result::{BothSettings, Measured, Outcome, Target};
use crate::shared::Shared;

/// An experiment that is due.
pub(crate) struct Experiment<'a> {
    pub(crate) shared: &'a Shared,
    /// The command of a process that holds endpoints; none where they are left as they are.
    pub(crate) hold: Option<&'a [OsString]>,
    pub(crate) plan: &'a Plan,
    /// Of both ends; none: that of each end's system.
    pub(crate) control: Option<&'a str>,
    /// Of the order, and of the path on which MPTCP begins first.
    pub(crate) seed: u64,
    /// Data that it may use.
    pub(crate) allowed: u64,
}

impl Experiment<'_> {
    /// The experiment itself, in the plan's network namespace.
    pub(crate) fn measured(&self, watch: &mut Watch) -> Measured {
        let plan = self.plan;
        let Some(name) = &plan.namespace else {
            return self.measured_here(watch);
        };
        let namespace = NetNs::named(name);
        let measured = namespace.and_then(|namespace| {
            // All threads and programs that it starts are there, too.
            namespace.run(|| self.measured_here(watch))
        });
        measured.unwrap_or_else(|error| failed(plan, not_entered(name, &error)))
    }

    fn measured_here(&self, watch: &mut Watch) -> Measured {
        let plan = self.plan;
        let goes_on = || !self.shared.is_stopped();
        let target = &plan.target;
        let token = Token::parse(&target.token).expect("the plan was checked");
        let mut session = match Session::connect(&target.host, target.port, &token, goes_on) {
            Ok(session) => session,
            Err(mptcplab_measure::Error::Stopped) => return skipped(plan, STOPPED.to_owned()),
            Err(error) => return failed(plan, sentence(&error.to_string())),
        };
        let named = plan.addresses.as_deref().unwrap_or(&[]);
        let found = match paths(session.address(), session.local(), named, goes_on) {
            Ok(found) => found,
            Err(mptcplab_measure::Error::Stopped) => {
                return with_use(skipped(plan, STOPPED.to_owned()), &session);
            }
            Err(error) => return with_use(failed(plan, sentence(&error.to_string())), &session),
        };
        let (used, left_out) = chosen(found, plan);
        if used.is_empty() {
            let reason = "No local address that is wanted reaches the target";
            let mut measured = with_use(failed(plan, reason.to_owned()), &session);
            measured.left_out = left_out;
            return measured;
        }
        self.over_paths((used, left_out), &mut session, watch)
    }

    fn over_paths(
        &self,
        (used, left_out): (Vec<Path>, Vec<Path>),
        session: &mut Session,
        watch: &mut Watch,
    ) -> Measured {
        let Self {
            plan,
            control,
            seed,
            allowed,
            ..
        } = *self;
        let count = used.len();
        let settings = BothSettings {
            probe: Settings::here(),
            target: session.terms().settings,
        };
        let fast_open = settings.probe.can_open_fast(&settings.target);
        let mut planned = steps(count, &plan.transfers(), plan.order, seed, fast_open);
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
        let data = SocketAddr::new(session.address().ip(), session.terms().data_port);
        let (holder, endpoints) = self.endpoints(&used, data);
        let mut course = Course::new(
            used.clone(),
            endpoints.clone(),
            planned,
            (control.map(str::to_owned), seed),
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
            // The target's refusal.
            (Some(reason), true) if control.is_some_and(|name| names_control(reason, name)) => {
                Outcome::Skipped
            }
            (Some(_), true) => Outcome::Failed,
        };
        Measured {
            paths: used,
            left_out,
            sent_options: sent_options(),
            settings,
            endpoints: endpoints
                .map(|addresses| addresses.iter().map(ToString::to_string).collect()),
            steps: done,
            ..with_use(empty(plan, outcome, partial), session)
        }
    }

    /// Endpoints for these paths, where there are several, and none that is used beside them. Gives
    /// the addresses that have some, where that is known.
    fn endpoints(&self, used: &[Path], data: SocketAddr) -> (Option<Holder>, Option<Vec<IpAddr>>) {
        let Some(command) = self.hold else {
            return (None, None);
        };
        match Holder::hold(command, used, data) {
            Ok(holder) => {
                if !holder.unused.is_empty() {
                    let unused = holder.unused.join(", ");
                    (self.shared.log)(&format!("endpoints that are not used meanwhile: {unused}"));
                }
                if !holder.added.is_empty() {
                    let added = holder.added.join(", ");
                    (self.shared.log)(&format!("endpoints for as long as it lasts: {added}"));
                }
                // Those that were not added were there.
                let addresses = used.iter().map(|path| path.source).collect();
                (Some(holder), (used.len() > 1).then_some(addresses))
            }
            Err(error) => {
                (self.shared.log)(&format!("no endpoints can be added or left out: {error}"));
                (None, None)
            }
        }
    }
}

/// Whether a reason is that a congestion control cannot be used.
fn names_control(reason: &str, control: &str) -> bool {
    reason.contains(&congestion::prefix(control))
}

/// The reason for which a namespace cannot be used.
fn not_entered(name: &str, error: &io::Error) -> String {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "`ip netns list` has none of this name here".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "only CAP_SYS_ADMIN may enter it, which this agent does not have".to_owned()
        }
        io::ErrorKind::InvalidInput => "this is no name of one".to_owned(),
        _ => error.to_string(),
    };
    format!("Network namespace {name}: {reason}")
}

/// The paths that are taken, and the others.
fn chosen(found: Vec<Path>, plan: &Plan) -> (Vec<Path>, Vec<Path>) {
    let (interfaces, addresses) = (plan.interfaces.as_ref(), plan.addresses.as_ref());
    let is_wanted = |path: &Path| {
        let is_any = interfaces.is_none() && addresses.is_none();
        is_any
            || interfaces.is_some_and(|names| names.contains(&path.interface))
            || addresses.is_some_and(|known| known.contains(&path.source))
    };
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
        settings: BothSettings::default(),
        endpoints: None,
        steps: Vec::new(),
        used_bytes: 0,
    }
}

/// An experiment that was not to be carried out, for a reason.
pub(crate) fn skipped(plan: &Plan, reason: String) -> Measured {
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

/// The reason where the day's data do not suffice.
pub(crate) fn used_up(plan: &Plan) -> String {
    format!(
        "The day's data are used up: {} bytes are allowed",
        plan.daily_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

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
        let (used, left_out) = chosen(paths(10), &plan(|_| ()));
        assert_eq!(
            (used.len(), names(&left_out)),
            (8, vec!["eth8".to_owned(), "eth9".to_owned()])
        );
        let wanted = plan(|plan| {
            plan.interfaces = Some(vec!["eth1".to_owned(), "wlan0".to_owned()]);
        });
        let (used, left_out) = chosen(paths(3), &wanted);
        assert_eq!(
            (names(&used), names(&left_out)),
            (
                vec!["eth1".to_owned()],
                vec!["eth0".to_owned(), "eth2".to_owned()]
            )
        );
        let wanted = plan(|plan| {
            plan.interfaces = Some(vec!["eth1".to_owned()]);
            plan.addresses = Some(vec![[10, 0, 2, 1].into()]);
        });
        let (used, _) = chosen(paths(3), &wanted);
        assert_eq!(names(&used), ["eth1", "eth2"]);
    }
}
