//! The state that the thread that measures and the one that sends have in common.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::api::{Contact, PROGRAM, PathName, Quarantined, sentence};
use crate::clock::{Now, Utc, boot_time, system_ms};
use crate::host::kernel;
use crate::plan::{MOST_PLANS, Plan};
use crate::store::{KeptPlans, Store};

/// Results in quarantine that the server is told of, the latest ones.
const MOST_TOLD: usize = 20;

/// Tells a line to whoever runs the agent.
pub type Log = fn(&str);

/// The common state.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    is_stopped: AtomicBool,
    /// Tells a line.
    pub(crate) log: Log,
}

/// The state behind the lock, which is held for as long as a file takes to be written.
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) plans: Vec<Arc<Plan>>,
    /// Changes with the plans.
    pub(crate) plans_version: u64,
    pub(crate) utc: Utc,
    pub(crate) is_measuring: bool,
    /// The server is to be told.
    pub(crate) has_news: bool,
    /// A round of sending is under way.
    pub(crate) is_sending: bool,
    /// The server is left alone for a while, after a failure.
    pub(crate) is_waiting: bool,
    /// The server was asked for plans since the start, whether it has answered or not.
    pub(crate) has_asked: bool,
    /// The server does not take this agent: no plan is carried out until it does.
    pub(crate) is_revoked: bool,
    /// Of plans that cannot be carried out.
    plans_problem: Option<String>,
    /// Of the latest experiment.
    pub(crate) experiment_problem: Option<String>,
    /// Of the disk.
    pub(crate) disk_problem: Option<String>,
    pub(crate) paths: Vec<PathName>,
}

impl Shared {
    pub(crate) fn new(store: Store, log: Log) -> Self {
        let kept = store.plans();
        let mut state = State {
            store,
            plans: Vec::new(),
            plans_version: 0,
            utc: Utc::default(),
            is_measuring: false,
            has_news: false,
            is_sending: false,
            is_waiting: false,
            has_asked: false,
            is_revoked: false,
            plans_problem: None,
            experiment_problem: None,
            disk_problem: None,
            paths: Vec::new(),
        };
        state.take_plans(&kept);
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            is_stopped: AtomicBool::new(false),
            log,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// Waits for a change, or so long.
    pub(crate) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        time: Duration,
    ) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).expect("no panic").0
    }

    /// Wakes the other thread.
    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    /// Ends both threads.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // A thread that looks at it under the lock waits by now, or has seen it.
        drop(self.lock());
        self.notify();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

impl State {
    /// This moment.
    pub(crate) fn now(&mut self) -> Now {
        self.utc.now(boot_time(), system_ms())
    }

    /// The other thread sends, or is about to.
    pub(crate) fn is_about_to_send(&self) -> bool {
        self.is_sending || (self.has_news && !self.is_waiting)
    }

    /// Takes plans as the server gave them; those that cannot be carried out are a problem.
    pub(crate) fn take_plans(&mut self, kept: &KeptPlans) {
        let (mut plans, mut problems) = (Vec::new(), Vec::new());
        for value in &kept.plans {
            match Plan::parse(value) {
                Ok(plan) if plans.len() < MOST_PLANS => plans.push(Arc::new(plan)),
                Ok(_) => problems.push(format!("more than {MOST_PLANS} plans")),
                Err(problem) => problems.push(problem),
            }
        }
        let listed: Vec<_> = plans.iter().map(AsRef::as_ref).collect();
        self.store.ledger.forget(&listed);
        self.plans = plans;
        self.plans_version += 1;
        self.plans_problem = problems.into_iter().next();
    }

    /// A sentence about what does not work.
    pub(crate) fn problem(&self) -> Option<String> {
        let problems = [
            &self.disk_problem,
            &self.plans_problem,
            &self.experiment_problem,
        ];
        let first = problems.into_iter().flatten().next();
        first.map(|problem| sentence(problem))
    }

    /// The contact that the server is told.
    pub(crate) fn contact(&self) -> Contact {
        let spool = &self.store.spool;
        let mut quarantined: Vec<_> = spool.quarantined().collect();
        let quarantined_count = quarantined.len();
        quarantined.reverse();
        quarantined.truncate(MOST_TOLD);
        let told = |entry| spool.reason(entry).unwrap_or_default();
        Contact {
            version: PROGRAM,
            kernel: kernel(),
            next_sequence: self.store.ledger.next_sequence,
            spooled: spool.waiting().count(),
            spooled_bytes: spool.waiting().map(|entry| entry.bytes).sum(),
            dropped: self.store.ledger.dropped,
            quarantined: quarantined
                .into_iter()
                .map(|entry| Quarantined {
                    id: entry.id.clone(),
                    reason: sentence(&told(entry)),
                })
                .collect(),
            quarantined_count,
            state: if self.is_measuring {
                "measuring"
            } else {
                "idle"
            },
            problem: self.problem(),
            paths: self.paths.clone(),
        }
    }
}
