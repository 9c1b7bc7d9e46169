//! How an experiment goes on after each of its steps.

use std::collections::VecDeque;
use std::net::IpAddr;

use serde::Serialize;

use super::step::{Kind, Step};
use super::survival::{Observation, begin, capable, is_second_look_wanted, no_mptcp};
use crate::Error;
use crate::client::{Measured, Path, Session};

/// The reason where the caller wants no more.
pub const STOPPED: &str = "It was stopped";
/// The reason where the next step might move more than the budget leaves.
const USED_UP: &str = "The budget does not allow the next experiment";

/// A step that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Done {
    /// The step.
    #[serde(flatten)]
    pub step: Step,
    /// Number of the path on which its connection by MPTCP over all paths began; none of others.
    pub begin: Option<usize>,
    /// Its connections.
    pub result: Measured,
}

/// An experiment under way.
#[derive(Debug)]
pub struct Course {
    paths: Vec<Path>,
    endpoints: Option<Vec<IpAddr>>,
    congestion_control: Option<String>,
    seed: u64,
    budget_bytes: u64,
    left: VecDeque<Step>,
    done: Vec<Done>,
    partial: Option<String>,
}

impl Course {
    /// These steps in this order, within a budget. `endpoints` are the addresses that are endpoints
    /// of the path manager, where that is known; the seed decides on which path the first transfer by
    /// MPTCP begins.
    pub fn new(
        paths: Vec<Path>,
        endpoints: Option<Vec<IpAddr>>,
        steps: Vec<Step>,
        (congestion_control, seed): (Option<String>, u64),
        budget_bytes: u64,
    ) -> Self {
        Self {
            paths,
            endpoints,
            congestion_control,
            seed,
            budget_bytes,
            left: steps.into(),
            done: Vec::new(),
            partial: None,
        }
    }

    /// The next step, where so much has been used so far; none at the end.
    pub fn next_step(&mut self, used_bytes: u64) -> Option<Step> {
        loop {
            let step = *self.left.front()?;
            let trials = self.trials();
            if !step.is_look() {
                if let Some(obstacle) = no_mptcp(&trials) {
                    self.end_early(obstacle);
                    return None;
                }
            } else if !self.is_wanted(&step, &trials) {
                self.left.pop_front();
                continue;
            }
            let most = step.most_bytes(self.paths.len());
            if used_bytes.saturating_add(most) > self.budget_bytes {
                self.end_early(USED_UP.to_owned());
                return None;
            }
            self.left.pop_front();
            return Some(step);
        }
    }

    /// Whether a look tells more than those before it.
    fn is_wanted(&self, look: &Step, trials: &[Observation<'_>]) -> bool {
        match (look.kind, look.repetition) {
            (Kind::Survival, 1..) => look.path.is_some_and(|path| {
                is_second_look_wanted(path, &self.paths, self.endpoints.as_deref(), trials)
            }),
            (Kind::FastOpen, 2..) => self.has_failed_fast_open(look.path),
            _ => true,
        }
    }

    /// Data in a SYN, or the request for a cookie, were lost on a path, perhaps by chance.
    fn has_failed_fast_open(&self, path: Option<usize>) -> bool {
        let is_with_data = |one: &&Done| {
            let step = &one.step;
            step.kind == Kind::FastOpen && step.repetition > 0 && step.path == path
        };
        let results = self.done.iter().filter(is_with_data);
        let mut connections = results.flat_map(|one| &one.result.connections);
        connections.any(|one| one.probe.seen.fast_open_failure.is_some())
    }

    /// Keeps the result of a step, whose MPTCP over all paths began on the path of a number.
    pub fn add(&mut self, step: Step, begin: Option<usize>, result: Measured) {
        self.done.push(Done {
            step,
            begin,
            result,
        });
    }

    /// Carries out no more, for a reason that is a sentence without its stop. The first one counts.
    pub fn end_early(&mut self, reason: String) {
        self.left.clear();
        self.partial.get_or_insert(reason);
    }

    /// Number of the path on which a step's MPTCP over all paths begins; none of other steps.
    pub fn begin(&self, step: &Step) -> Option<usize> {
        let is_over_all = step.kind == Kind::Mptcp;
        is_over_all.then(|| begin(&capable(&self.trials()), step.repetition, self.seed))
    }

    /// The steps that were carried out.
    pub fn done(&self) -> &[Done] {
        &self.done
    }

    /// The reason for which it ended early.
    pub fn partial(&self) -> Option<&str> {
        self.partial.as_deref()
    }

    /// All of it: what was carried out, and the reason for which it ended early.
    pub fn into_parts(self) -> (Vec<Done>, Option<String>) {
        (self.done, self.partial)
    }

    fn trials(&self) -> Vec<Observation<'_>> {
        let survival = self
            .done
            .iter()
            .filter(|one| one.step.kind == Kind::Survival);
        let trials = survival
            .filter_map(|one| Observation::of(one.step.path?, one.step.interval_ms(), &one.result));
        trials.collect()
    }
}

/// Carries out the next step of a course; false at its end. `goes_on` is asked several times a
/// second, and told what all steps have moved; what was measured is kept once it says no, or the
/// target is lost or refuses.
pub fn advance(
    course: &mut Course,
    session: &mut Session,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> bool {
    let used_bytes = session.used_bytes();
    if !goes_on(used_bytes) {
        course.end_early(STOPPED.to_owned());
    }
    let Some(step) = course.next_step(used_bytes) else {
        return false;
    };
    let begin = course.begin(&step);
    let plan = step.plan(
        &course.paths,
        session.address().ip(),
        begin.unwrap_or(0),
        course.congestion_control.as_deref(),
    );
    let most_bytes = course.budget_bytes.saturating_sub(used_bytes);
    let mut is_stopped = false;
    let measured = session.run(&plan, most_bytes, |moved| {
        is_stopped = is_stopped || !goes_on(used_bytes.saturating_add(moved));
        !is_stopped
    });
    match measured {
        Ok(result) if !result.stopped => {
            course.add(step, begin, result);
            return true;
        }
        Ok(_) | Err(Error::Stopped | Error::Budget) => {
            let reason = if is_stopped { STOPPED } else { USED_UP };
            course.end_early(reason.to_owned());
        }
        Err(error) => course.end_early(one_line(&error.to_string())),
    }
    false
}

/// A reason that may be the target's, as a sentence without its stop: harmless to a terminal.
pub fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    let harmless = line.chars().filter(|letter| !is_harmful(*letter));
    let harmless: String = harmless.collect();
    harmless.strip_suffix('.').unwrap_or(&harmless).to_owned()
}

/// Controls, and letters that change the direction of writing (Unicode TR 9).
fn is_harmful(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Outcome;
    use crate::message::{Ended, FastOpenFailure, Seen};
    use crate::steps::{Direction, Order, Transfers, steps};

    const BUDGET: u64 = 10_000_000;

    fn course(budget_bytes: u64) -> Course {
        let path = |number: u8| Path {
            interface: format!("eth{number}"),
            source: IpAddr::from([10, 0, number, 1]),
            device: None,
            index: number.into(),
        };
        let transfers = Transfers {
            sizes: vec![1_000],
            directions: vec![Direction::Down],
            repeat: 1,
        };
        let planned = steps(2, &transfers, Order::Interleaved, 0, true);
        let paths = vec![path(1), path(2)];
        Course::new(paths, None, planned, (None, 1), budget_bytes)
    }

    fn survival(mptcp: bool) -> Measured {
        let ended = Ended {
            seen: Seen {
                mptcp,
                ..Seen::default()
            },
            ..Ended::default()
        };
        let one = Outcome {
            probe: ended.clone(),
            target: Some(ended),
            ..Outcome::default()
        };
        Measured {
            connections: vec![one.clone(), one],
            ..Measured::default()
        }
    }

    fn carried_out(course: &mut Course, result: &Measured, used_bytes: u64) -> Vec<Kind> {
        let mut kinds = Vec::new();
        while let Some(step) = course.next_step(used_bytes) {
            kinds.push(step.kind);
            course.add(step, course.begin(&step), result.clone());
        }
        kinds
    }

    #[test]
    fn a_second_look_that_would_tell_nothing_is_left_out() {
        let mut course = course(BUDGET);
        let kinds = carried_out(&mut course, &survival(true), 0);
        let looks = kinds.iter().filter(|kind| **kind == Kind::Survival).count();
        // Payload, two looks at data in SYNs, and the idle RTT of each path, and four transfers.
        assert_eq!((looks, kinds.len()), (2, 2 + 2 + 4 + 2 + 4));
        assert_eq!(course.partial(), None);
    }

    #[test]
    fn the_path_of_each_transfer_by_mptcp_is_kept() {
        let mut course = course(BUDGET);
        carried_out(&mut course, &survival(true), 0);
        for done in course.done() {
            let is_over_all = done.step.kind == Kind::Mptcp;
            // The seed is 1, and MPTCP survives on both paths.
            assert_eq!(done.begin, is_over_all.then_some(1), "{:?}", done.step);
        }
    }

    #[test]
    fn without_mptcp_on_any_path_it_ends_after_what_passes() {
        let mut course = course(BUDGET);
        let kinds = carried_out(&mut course, &survival(false), 0);
        let expected = [[Kind::Survival; 2], [Kind::Payload; 2], [Kind::FastOpen; 2]];
        assert_eq!(kinds, [expected.concat(), vec![Kind::FastOpen; 2]].concat());
        assert!(
            course
                .partial()
                .unwrap()
                .starts_with("No connection was MPTCP")
        );
    }

    #[test]
    fn data_in_a_syn_are_tried_again_where_they_failed() {
        let mut course = course(BUDGET);
        let mut lost = survival(true);
        let seen = &mut lost.connections[0].probe.seen;
        seen.fast_open_failure = Some(FastOpenFailure::SynRetransmitted);
        let mut looks = Vec::new();
        while let Some(step) = course.next_step(0) {
            let is_data = step.kind == Kind::FastOpen && step.repetition == 1;
            let result = match is_data && step.path == Some(1) {
                true => lost.clone(),
                false => survival(true),
            };
            if step.kind == Kind::FastOpen {
                looks.push((step.repetition, step.path.unwrap()));
            }
            course.add(step, None, result);
        }
        assert_eq!(looks, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)]);
    }

    #[test]
    fn no_step_begins_that_the_budget_might_not_allow() {
        let first = course(0).left[0].most_bytes(2);
        assert_eq!(course(first - 1).next_step(0), None);
        let mut one = course(first);
        assert!(one.next_step(0).is_some());
        let mut used = course(first);
        assert_eq!(used.next_step(1), None);
        assert_eq!(used.partial(), Some(USED_UP));
        assert_eq!(used.next_step(0), None);
    }

    #[test]
    fn the_first_reason_counts() {
        let mut course = course(BUDGET);
        course.end_early("it rains".to_owned());
        course.end_early("it snows".to_owned());
        assert_eq!(course.next_step(0), None);
        assert_eq!(
            course.into_parts(),
            (Vec::new(), Some("it rains".to_owned()))
        );
    }

    #[test]
    fn a_reason_is_a_harmless_line_without_its_stop() {
        assert_eq!(
            one_line(" it\n rains\t.\u{1b}[31m\u{202e}."),
            "it rains .[31m"
        );
        assert_eq!(one_line(""), "");
    }
}
