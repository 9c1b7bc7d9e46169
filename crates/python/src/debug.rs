//! Sessions of a simulated world that stands still, for Python: questions and answers are JSON.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mptcplab_debug::{Change, Condition, DebugError, KINDS, Part, Position, Session, Stop, StopOn};
use mptcplab_plan::Plan;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

/// Events of the simulator between two looks for a signal: some tens of milliseconds.
const EVENTS: u64 = 1 << 16;

create_exception!(
    _native,
    DebugSessionError,
    PyException,
    "A request that a session cannot carry out; the message says why."
);

/// A simulated world that stands still, is stepped, and goes back to any moment of its past.
#[pyclass(module = "mptcplab._native")]
pub(crate) struct DebugSession {
    session: Mutex<Session>,
}

#[pymethods]
impl DebugSession {
    /// The world of a plan at time 0. Raises DebugSessionError where it cannot be simulated.
    #[new]
    fn new(py: Python<'_>, plan_json: &str) -> PyResult<Self> {
        let plan: Plan = parsed(plan_json)?;
        let session = py.detach(|| Session::new(&plan)).map_err(raised)?;
        Ok(Self {
            session: Mutex::new(session),
        })
    }

    /// The names of decisions that `run` stops at.
    #[staticmethod]
    fn decisions() -> Vec<&'static str> {
        KINDS.to_vec()
    }

    /// The time, and the events of the simulator so far.
    #[getter]
    fn position(&self) -> (u64, u64) {
        let position = self.locked().position();
        (position.now_ns, position.step)
    }

    /// Whether all traffic has ended.
    #[getter]
    fn has_ended(&self) -> bool {
        self.locked().world().has_ended()
    }

    /// How many connections were opened so far.
    #[getter]
    fn connection_count(&self) -> usize {
        self.locked().world().opened_connections()
    }

    /// Runs to one of some stops, to a time, or to the end of the traffic. Ctrl-C leaves it where it
    /// is by then.
    #[pyo3(signature = (stops_json, until_ns = None))]
    fn run(&self, py: Python<'_>, stops_json: &str, until_ns: Option<u64>) -> PyResult<String> {
        let stops: Vec<StopOn> = parsed(stops_json)?;
        let mut run = self.locked().begin(&stops, until_ns).map_err(raised)?;
        loop {
            let stop = py.detach(|| self.locked().advance(&mut run, EVENTS));
            match stop {
                Some(stop) => return Ok(told(&stop)),
                None => py.check_signals()?,
            }
        }
    }

    /// Looks up the names of some stops; raises DebugSessionError where one means nothing.
    fn check(&self, stops_json: &str) -> PyResult<()> {
        let stops: Vec<StopOn> = parsed(stops_json)?;
        self.locked().check(&stops).map_err(raised)
    }

    /// Whether a condition holds now.
    fn holds(&self, condition_json: &str) -> PyResult<bool> {
        let condition: Condition = parsed(condition_json)?;
        self.locked().holds(&condition).map_err(raised)
    }

    /// The value of a name, as JSON.
    fn value(&self, path_json: &str) -> PyResult<String> {
        let path: Vec<Part> = parsed(path_json)?;
        self.locked().value(&path).map_err(raised)
    }

    /// Lets one event of the simulator happen.
    fn step(&self, py: Python<'_>) -> String {
        told(&py.detach(|| self.locked().step()))
    }

    /// Goes back by so many events.
    fn back(&self, py: Python<'_>, events: u64) -> PyResult<()> {
        py.detach(|| self.locked().back(events)).map_err(raised)
    }

    /// Goes back to where one of some stops was met the last time, or so many times before.
    fn back_until(&self, py: Python<'_>, stops_json: &str, count: usize) -> PyResult<String> {
        let stops: Vec<StopOn> = parsed(stops_json)?;
        let stop = py.detach(|| self.locked().back_until(&stops, count));
        stop.map(|stop| told(&stop)).map_err(raised)
    }

    /// Goes on by so many events.
    fn skip(&self, py: Python<'_>, events: u64) {
        py.detach(|| {
            let mut session = self.locked();
            let step = session.position().step.saturating_add(events);
            session.go_to(Position { step, now_ns: 0 });
        });
    }

    /// Goes to a time, earlier or later.
    fn go_to_time(&self, py: Python<'_>, now_ns: u64) {
        py.detach(|| self.locked().go_to_time(now_ns));
    }

    /// Makes a change.
    fn change(&self, change_json: &str) -> PyResult<()> {
        let change: Change = parsed(change_json)?;
        self.locked().change(change).map_err(raised)
    }

    /// Another session that goes on from here by itself.
    fn branch(&self, py: Python<'_>) -> Self {
        let session = py.detach(|| self.locked().clone());
        Self {
            session: Mutex::new(session),
        }
    }

    /// The state of a connection; none where none has this number.
    fn connection(&self, number: usize) -> Option<String> {
        let state = self.locked().connection(number)?;
        Some(state.to_string())
    }

    /// The state of a link of the plan, with its packets.
    fn link(&self, number: usize) -> PyResult<String> {
        let session = self.locked();
        within(number, session.world().plan().links.len(), "link")?;
        Ok(session.link(number).to_string())
    }

    /// The state of a node of the plan, with its routing tables.
    fn node(&self, number: usize) -> PyResult<String> {
        let session = self.locked();
        within(number, session.world().plan().nodes.len(), "node")?;
        Ok(session.node(number).to_string())
    }
}

impl DebugSession {
    fn locked(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parsed<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json)
        .map_err(|error| DebugSessionError::new_err(format!("cannot be read: {error}")))
}

fn told(stop: &Stop) -> String {
    // Names, numbers and text, which always can be written.
    serde_json::to_string(stop).unwrap_or_default()
}

fn raised(error: DebugError) -> PyErr {
    DebugSessionError::new_err(error.to_string())
}

fn within(number: usize, count: usize, what: &str) -> PyResult<()> {
    match number < count {
        true => Ok(()),
        false => Err(DebugSessionError::new_err(format!(
            "there is no {what} {number}"
        ))),
    }
}
