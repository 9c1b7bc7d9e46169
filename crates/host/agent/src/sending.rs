//! The thread that sends: plans come, results and contacts go.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use mptcplab_measure::authorisation::random;
use mptcplab_measure::steps::Chance;

use crate::api::{Api, Put, Trouble, sentence};
use crate::backoff::{Backoff, Failure};
use crate::clock::boot_time;
use crate::shared::Shared;
use crate::spool::Entry;
use crate::store::KeptPlans;

/// A sleeping machine's clock for waits stands: all is looked at anew after this.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Results whose answers were no success, of one round.
const MOST_FAILURES: usize = 3;
/// Time for a request that is under way when the agent is stopped.
const TIME_TO_END: Duration = Duration::from_secs(3);

/// The bytes of a result that is held; none where its file is gone.
type Held = io::Result<Option<Vec<u8>>>;

/// The thread that sends.
pub(crate) struct Sending<'a> {
    shared: &'a Shared,
    api: Api,
    contact_interval: Duration,
    backoff: Backoff,
    chance: Chance,
    /// Times since the boot: of the next contact, and before which nothing is tried.
    next_contact: Duration,
    not_before: Duration,
    told: Option<String>,
    /// Numbers of results that failed at their latest try.
    failed: BTreeSet<u64>,
}

impl<'a> Sending<'a> {
    pub(crate) fn new(shared: &'a Shared, api: Api, contact_interval: Duration) -> Self {
        Self {
            shared,
            api,
            contact_interval,
            backoff: Backoff::default(),
            chance: Chance::new(u64::from_ne_bytes(random())),
            next_contact: Duration::ZERO,
            not_before: Duration::ZERO,
            told: None,
            failed: BTreeSet::new(),
        }
    }

    /// Goes on until the agent is stopped.
    pub(crate) fn run(&mut self) {
        while self.wait() {
            let _ = self.round();
        }
    }

    /// Waits until there is something to be done; false once the agent is stopped.
    fn wait(&mut self) -> bool {
        let mut state = self.shared.lock();
        loop {
            if self.shared.is_stopped() {
                return false;
            }
            let now = boot_time();
            let is_due = state.has_news || now >= self.next_contact;
            if is_due && now >= self.not_before {
                return true;
            }
            let next = match is_due {
                true => self.not_before,
                false => self.next_contact.max(self.not_before),
            };
            let left = next.saturating_sub(now).max(Duration::from_millis(1));
            state = self.shared.wait(state, left.min(LOOK_AGAIN));
        }
    }

    /// Plans, results, contact. What fails is tried again later.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn round(&mut self) -> Result<(), Trouble> {
        let mut state = self.shared.lock();
        state.has_news = false;
        state.is_sending = true;
        drop(state);
        let done = self.all();
        self.api.close();
        let mut state = self.shared.lock();
        state.is_sending = false;
        state.is_waiting = done.is_err();
        drop(state);
        self.shared.notify();
        let now = boot_time();
        self.next_contact = now + self.contact_interval;
        match &done {
            Ok(()) => {
                self.backoff.succeeded();
                if self.told.take().is_some() {
                    (self.shared.log)("the server takes what is sent again");
                }
            }
            Err(trouble) => {
                let wait = self.backoff.failed(trouble.failure, &mut self.chance);
                self.not_before = now + wait;
                self.next_contact = self.next_contact.min(self.not_before);
                if self.told.as_ref() != Some(&trouble.text) && !self.shared.is_stopped() {
                    (self.shared.log)(&trouble.text);
                    self.told = Some(trouble.text.clone());
                }
            }
        }
        done
    }

    fn all(&mut self) -> Result<(), Trouble> {
        self.plans()?;
        match self.results() {
            // It takes no results, and wants to know how it is with the agent all the same.
            Err(trouble) if trouble.failure == Failure::Passing && !self.shared.is_stopped() => {
                self.contact().and(Err(trouble))
            }
            Err(trouble) => Err(trouble),
            Ok(()) => self.contact(),
        }
    }

    /// Takes the plans of this agent; none where the server does not take it any more.
    ///
    /// # Errors
    /// A failure that is worth another try.
    pub(crate) fn plans(&mut self) -> Result<(), Trouble> {
        // No experiment is to begin by the system's clock where the server can tell the time. What
        // is wrong with the server shows at the next request.
        if !self.shared.lock().utc.is_servers() {
            let _ = self.contact();
        }
        let etag = self.shared.lock().store.plans().etag;
        let answer = self.api.plans(etag.as_deref(), &mut goes_on(self.shared));
        let mut state = self.shared.lock();
        state.has_asked = true;
        self.shared.notify();
        let was_revoked = state.is_revoked;
        let plans = match answer {
            Ok(None) if !was_revoked => return Ok(()),
            Ok(None) => state.store.plans(),
            Ok(Some(plans)) => {
                if let Err(error) = state.store.set_plans(&plans) {
                    (self.shared.log)(&error.to_string());
                }
                plans
            }
            Err(trouble) => {
                if trouble.failure == Failure::Revoked && !was_revoked {
                    state.is_revoked = true;
                    let none = KeptPlans::default();
                    state.take_plans(&none);
                    // Also after a restart at a time when the server is not reached.
                    if let Err(error) = state.store.set_plans(&none) {
                        (self.shared.log)(&error.to_string());
                    }
                    (self.shared.log)("no plan is carried out until the server takes this agent");
                }
                return Err(trouble);
            }
        };
        state.is_revoked = false;
        state.take_plans(&plans);
        let names: Vec<_> = state.plans.iter().map(|plan| plan.id.clone()).collect();
        let problem = state.problem();
        drop(state);
        self.shared.notify();
        let names = names.join(", ");
        let told = if names.is_empty() { "none" } else { &names };
        (self.shared.log)(&format!("plans: {told}"));
        if let Some(problem) = problem {
            (self.shared.log)(&problem);
        }
        Ok(())
    }

    /// Sends what waits, the oldest first, and nothing while an experiment lasts, which would measure
    /// it. Those that failed come last: what the server cannot take holds up nothing.
    fn results(&mut self) -> Result<(), Trouble> {
        self.drop_old();
        let mut tried = BTreeSet::new();
        let mut first = None;
        while let Some((entry, held)) = self.hold_next(&tried) {
            tried.insert(entry.sequence);
            let Err(trouble) = self.result(&entry, held) else {
                self.failed.remove(&entry.sequence);
                continue;
            };
            self.failed.insert(entry.sequence);
            let is_of_all = trouble.failure != Failure::Passing;
            let failures = tried.intersection(&self.failed).count();
            first.get_or_insert(trouble);
            if is_of_all || failures >= MOST_FAILURES || self.shared.is_stopped() {
                break;
            }
        }
        first.map_or(Ok(()), Err)
    }

    fn drop_old(&mut self) {
        let mut state = self.shared.lock();
        let utc_s = state.now().utc_s();
        if let Err(error) = state.store.drop_old(0, utc_s) {
            (self.shared.log)(&error.to_string());
        }
        if let Some(oldest) = state.store.spool.waiting().next() {
            self.failed = self.failed.split_off(&oldest.sequence);
        }
    }

    /// Holds the next result of a round in which these have been tried. It is chosen and held at
    /// once: an experiment begins before it, or waits for its release.
    fn hold_next(&self, tried: &BTreeSet<u64>) -> Option<(Entry, Held)> {
        let mut state = self.shared.lock();
        if state.is_measuring {
            return None;
        }
        let spool = &state.store.spool;
        let is_new = |entry: &&Entry| !tried.contains(&entry.sequence);
        let works = |entry: &&Entry| is_new(entry) && !self.failed.contains(&entry.sequence);
        let first = spool.waiting().find(works);
        let entry = first.or_else(|| spool.waiting().find(is_new)).cloned()?;
        let held = state.store.spool.hold(&entry);
        Some((entry, held))
    }

    fn result(&mut self, entry: &Entry, held: Held) -> Result<(), Trouble> {
        let bytes = match held {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(()),
            Err(error) => return Err(of_disk(&error)),
        };
        let mut goes_on = goes_on(self.shared);
        let done = self.api.put(&entry.id, &bytes, &mut goes_on);
        let mut state = self.shared.lock();
        state.store.spool.release();
        self.shared.notify();
        match done? {
            Put::Stored => state.store.remove(entry).map_err(|error| of_disk(&error)),
            Put::Unwanted(reason) => {
                let laid_aside = state.store.spool.lay_aside(entry, &reason);
                drop(state);
                let text = format!("the server refuses result {} ({reason})", entry.id);
                (self.shared.log)(&format!("{text}: it is kept in quarantine"));
                laid_aside.map_err(|error| of_disk(&error))
            }
        }
    }

    fn contact(&mut self) -> Result<(), Trouble> {
        let contact = self.shared.lock().contact();
        let began = boot_time();
        let server_ms = self.api.contact(&contact, &mut goes_on(self.shared))?;
        if let Some(server_ms) = server_ms {
            let between = began + boot_time().saturating_sub(began) / 2;
            let mut state = self.shared.lock();
            state.utc.set(between, server_ms);
            let now = state.now();
            let today = now.utc_day().filter(|_| now.is_servers);
            if today.is_some_and(|today| state.store.ledger.settle(today)) {
                state.store.save().map_err(|error| of_disk(&error))?;
            }
        }
        Ok(())
    }
}

/// Whether a request goes on: for a little while longer once the agent is stopped.
fn goes_on(shared: &Shared) -> impl FnMut() -> bool {
    let mut stopped_at = None;
    move || {
        if !shared.is_stopped() {
            return true;
        }
        let stopped_at = *stopped_at.get_or_insert_with(boot_time);
        boot_time().saturating_sub(stopped_at) < TIME_TO_END
    }
}

fn of_disk(error: &impl ToString) -> Trouble {
    Trouble {
        failure: Failure::Passing,
        text: sentence(&error.to_string()),
    }
}
