//! A session: one world, where it is, and how it got there.

use mptcplab_engine_sim::{Actor, Seen, World};
use mptcplab_plan::Plan;
use serde_json::Value as Json;

use crate::change::Change;
use crate::condition::{Condition, Test};
use crate::decisions::Watch;
use crate::error::DebugError;
use crate::path::{Part, Path};
use crate::snapshots::{Snapshot, Snapshots};
use crate::state;
use crate::stop::{Check, Happening, Stop, StopOn, actor_text};

/// A place in the course of a run: after so many events of the simulator, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Events so far.
    pub step: u64,
    /// The time.
    pub now_ns: u64,
}

impl Position {
    pub(crate) fn of(world: &World) -> Self {
        Self {
            step: world.counts().steps,
            now_ns: world.now(),
        }
    }
}

/// A change that was made, and where.
#[derive(Clone, Debug)]
struct Made {
    at: Position,
    change: Change,
}

/// A world whose time is stopped, stepped and turned back. A clone is a branch of time: both go on
/// without each other.
#[derive(Clone, Debug)]
pub struct Session {
    world: World,
    snapshots: Snapshots,
    /// All changes, in the order of time, those of a future that was left included.
    changes: Vec<Made>,
    /// How many of them are made in the world as it is now.
    made: usize,
}

/// A way to the next stop.
pub struct Run {
    checks: Vec<Check>,
    until: Option<u64>,
    /// Stops at the end of the traffic, which is still to come.
    ends: bool,
    watch: Option<Watch>,
    notes_packets: bool,
    notes_choices: bool,
}

/// The outcome of one move.
enum Moved {
    /// Time has passed up to the limit, and nothing else is due by then.
    Waited,
    /// A change was made again.
    Changed,
    Stepped(Actor),
}

impl Session {
    /// The world of a plan at time 0. Captures that the plan asks for are not written.
    ///
    /// # Errors
    /// When the plan cannot be simulated.
    pub fn new(plan: &Plan) -> Result<Self, DebugError> {
        let plan = Plan {
            capture: None,
            ..plan.clone()
        };
        let world = World::new(&plan)?;
        Ok(Self {
            snapshots: Snapshots::new(&world),
            world,
            changes: Vec::new(),
            made: 0,
        })
    }

    /// Where it is.
    pub fn position(&self) -> Position {
        Position::of(&self.world)
    }

    /// The world as it is now.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Looks up the names of some stops.
    ///
    /// # Errors
    /// A name that means nothing.
    pub fn check(&self, stops: &[StopOn]) -> Result<(), DebugError> {
        let mut checks = stops.iter().map(|stop| Check::new(stop, &self.world));
        checks.try_for_each(|check| check.map(drop))
    }

    /// Whether a condition holds now.
    ///
    /// # Errors
    /// A name that means nothing.
    pub fn holds(&self, condition: &Condition) -> Result<bool, DebugError> {
        Ok(Test::new(condition, self.world.plan())?.holds(&self.world))
    }

    /// The value of a name now, as JSON.
    ///
    /// # Errors
    /// The name means nothing.
    pub fn value(&self, path: &[Part]) -> Result<String, DebugError> {
        let value = Path::new(path, self.world.plan())?.value(&self.world);
        Ok(serde_json::to_string(&value).unwrap_or_default())
    }

    /// Begins to run until one of some stops, or a time.
    ///
    /// # Errors
    /// A name that means nothing.
    pub fn begin(&mut self, stops: &[StopOn], until: Option<u64>) -> Result<Run, DebugError> {
        let checks = stops.iter().map(|stop| Check::new(stop, &self.world));
        let checks = checks.collect::<Result<Vec<_>, _>>()?;
        let watches = checks.iter().any(Check::is_decision);
        self.world.observe(checks.iter().any(Check::watches));
        let notes_choices = checks.iter().any(Check::is_choice);
        if notes_choices {
            self.world.take_choices();
        }
        Ok(Run {
            until,
            ends: !self.world.has_ended(),
            watch: watches.then(|| Watch::new(&self.world)),
            notes_packets: checks.iter().any(Check::watches),
            notes_choices,
            checks,
        })
    }

    /// Goes on, for so many events at most; `None` where no stop has come by then.
    pub fn advance(&mut self, run: &mut Run, events: u64) -> Option<Stop> {
        for _ in 0..events {
            let actor = match self.move_on(run.until) {
                Moved::Waited => return Some(self.stop("time", None, Vec::new())),
                Moved::Changed => continue,
                Moved::Stepped(actor) => actor,
            };
            if let Some(stop) = self.look(run, actor) {
                return Some(stop);
            }
        }
        None
    }

    /// Goes on to the stop.
    pub fn run(&mut self, mut run: Run) -> Stop {
        loop {
            if let Some(stop) = self.advance(&mut run, u64::MAX) {
                return stop;
            }
        }
    }

    /// Lets one event happen, and tells all that it has brought.
    pub fn step(&mut self) -> Stop {
        self.world.observe(true);
        self.world.take_choices();
        let mut watch = Watch::new(&self.world);
        loop {
            match self.move_on(None) {
                Moved::Changed => {}
                Moved::Waited => return self.stop("end", None, Vec::new()),
                Moved::Stepped(actor) => {
                    let seen = self.world.take_seen();
                    let happenings = self.happenings(&mut watch, actor, &seen);
                    return self.stop("step", Some(actor), happenings);
                }
            }
        }
    }

    /// Goes back by so many events: to just after the event before them.
    ///
    /// # Errors
    /// When there were fewer.
    pub fn back(&mut self, events: u64) -> Result<(), DebugError> {
        let here = self.position().step;
        let step = here.checked_sub(events).ok_or_else(|| {
            DebugError::Back(format!("there were {here} events so far, not {events}"))
        })?;
        self.go_to(Position { step, now_ns: 0 });
        Ok(())
    }

    /// Goes to a time, earlier or later, as [`begin`](Self::begin) does that stops nowhere else.
    pub fn go_to_time(&mut self, now_ns: u64) {
        let snapshot = self.snapshots.at_or_before(|one| one.now_ns <= now_ns);
        let here = self.position();
        if here.now_ns > now_ns || here.step < snapshot.position.step {
            self.restore(&snapshot.clone());
        }
        self.world.observe(false);
        while !matches!(self.move_on(Some(now_ns)), Moved::Waited) {}
    }

    /// Goes to a position where the session has been: with all changes that were made there.
    pub fn go_to(&mut self, target: Position) {
        let snapshot = self.snapshots.at_or_before(|one| one.step <= target.step);
        let here = self.position();
        if here.step > target.step || here.step < snapshot.position.step || here > target {
            self.restore(&snapshot.clone());
        }
        self.world.observe(false);
        while self.position().step < target.step {
            if matches!(self.move_on(None), Moved::Waited) {
                return;
            }
        }
        while let Some(made) = self.changes.get(self.made)
            && made.at <= target
        {
            self.make_next();
        }
        self.world.wait_until(target.now_ns);
    }

    /// Goes back to the last place at which one of some stops was met, or to the one that many
    /// before.
    ///
    /// # Errors
    /// When there are not so many; the session stays where it is.
    pub fn back_until(&mut self, stops: &[StopOn], mut count: usize) -> Result<Stop, DebugError> {
        let here = self.position();
        let mut end = here.step.saturating_sub(1);
        for snapshot in self.snapshots.before(here.step) {
            self.restore(&snapshot);
            let mut run = self.begin(stops, None)?;
            run.ends = false;
            let mut found = Vec::new();
            while self.position().step < end {
                let Moved::Stepped(actor) = self.move_on(None) else {
                    continue;
                };
                if let Some(stop) = self.look(&mut run, actor) {
                    found.push((self.position(), stop));
                }
            }
            let place = found.len().checked_sub(count);
            if let Some((position, stop)) = place.and_then(|place| found.get(place).cloned()) {
                self.go_to(position);
                return Ok(stop);
            }
            count -= found.len();
            end = snapshot.position.step;
        }
        self.go_to(here);
        Err(DebugError::Back("there is no such stop before".to_owned()))
    }

    /// Makes a change here. A future that the session has seen is forgotten.
    ///
    /// # Errors
    /// When the world refuses it.
    pub fn change(&mut self, change: Change) -> Result<(), DebugError> {
        let at = self.position();
        change.make(&mut self.world)?;
        self.changes.truncate(self.made);
        self.changes.push(Made { at, change });
        self.made += 1;
        self.snapshots.forget_after(at);
        Ok(())
    }

    /// The state of a connection as JSON; `None` where none has this number.
    pub fn connection(&self, number: usize) -> Option<Json> {
        state::connection_json(&self.world, number)
    }

    /// The state of a link as JSON, with its packets.
    pub fn link(&self, link: usize) -> Json {
        state::link_json(&self.world, link)
    }

    /// The state of a node as JSON, with its routing tables.
    pub fn node(&self, node: usize) -> Json {
        state::node_json(&self.world, node)
    }

    /// One event, one change that was made here before, or time that passes.
    fn move_on(&mut self, until: Option<u64>) -> Moved {
        let is_due = |time: u64| until.is_none_or(|until| time <= until);
        if let Some(made) = self.changes.get(self.made)
            && made.at.step == self.position().step
            && is_due(made.at.now_ns)
        {
            self.make_next();
            return Moved::Changed;
        }
        match self.world.next_actor() {
            Some((time, actor)) if is_due(time) => {
                self.world.step();
                self.snapshots.offer(&self.world, self.made);
                self.world.take_rows();
                Moved::Stepped(actor)
            }
            _ => {
                if let Some(until) = until {
                    self.world.wait_until(until);
                }
                Moved::Waited
            }
        }
    }

    fn make_next(&mut self) {
        if let Some(made) = self.changes.get(self.made) {
            self.world.wait_until(made.at.now_ns);
            // It was possible the first time, and everything is as it was then.
            let _ = made.change.make(&mut self.world);
            self.made += 1;
        }
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.world = snapshot.world.clone();
        self.made = snapshot.changes;
    }

    /// Compares the world after an event with the stops.
    fn look(&mut self, run: &mut Run, actor: Actor) -> Option<Stop> {
        let seen = match run.notes_packets {
            true => self.world.take_seen(),
            false => Seen::default(),
        };
        let mut decisions = Vec::new();
        if let Some(watch) = &mut run.watch {
            watch.compare(&self.world, actor, &seen, &mut decisions);
            if run.notes_choices {
                let choices = self.world.take_choices();
                watch.tell_choices(&self.world, &choices, &mut decisions);
            }
        }
        let mut at = None;
        for (place, check) in run.checks.iter_mut().enumerate() {
            if check.is_met(&self.world, &seen.packets, &decisions) {
                at = at.or(Some(place));
            }
        }
        if at.is_none() && !(run.ends && self.world.has_ended()) {
            return None;
        }
        run.ends &= !self.world.has_ended();
        let packets = seen.packets.iter();
        decisions.extend(packets.map(|packet| Happening::packet(&self.world, packet)));
        let reason = at.map_or("end", |at| run.checks[at].reason());
        let mut stop = self.stop(reason, Some(actor), decisions);
        stop.at = at;
        Some(stop)
    }

    fn happenings(&mut self, watch: &mut Watch, actor: Actor, seen: &Seen) -> Vec<Happening> {
        let mut out = Vec::new();
        watch.compare(&self.world, actor, seen, &mut out);
        let choices = self.world.take_choices();
        watch.tell_choices(&self.world, &choices, &mut out);
        let packets = seen.packets.iter();
        out.extend(packets.map(|packet| Happening::packet(&self.world, packet)));
        out
    }

    fn stop(&self, reason: &'static str, actor: Option<Actor>, happenings: Vec<Happening>) -> Stop {
        let Position { step, now_ns } = self.position();
        Stop {
            reason,
            now_ns,
            step,
            at: None,
            actor: actor.map(|actor| actor_text(self.world.plan(), actor)),
            happenings,
        }
    }
}
