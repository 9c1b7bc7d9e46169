//! A plan in virtual time, its rows handed to Python.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use mptcplab_engine_sim::{Sink, Supplies};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{congestion, raised, scheduler};

create_exception!(
    _native,
    SimulationError,
    PyException,
    "A plan that cannot be simulated; the message says why."
);

/// Runs a plan in virtual time.
///
/// `take` is given the rows of the recording as JSON lines, some at a time, the last one `done`.
/// Where it returns false the run is interrupted, and `take` is given the last rows; where it
/// raises it is called no more. Other threads of Python run meanwhile.
///
/// `scheduler` decides for the hosts whose scheduler is called `supplied`: it is given a
/// `Connection`, and answers with the place of a subflow in its list and how many bytes of new data
/// it gets, or with None to wait until something changes.
///
/// `congestion_controls` are functions by the name of a congestion control in the plan. Each is called
/// for every TCP connection and subflow of hosts that have this one, and gives an object with
/// `on_ack` and `on_congestion_event`.
///
/// Raises SimulationError where the plan cannot be read, or asks for what there is not in the
/// simulator.
#[pyfunction]
#[pyo3(signature = (plan_json, take, scheduler = None, congestion_controls = BTreeMap::new()))]
pub(crate) fn simulate(
    py: Python<'_>,
    plan_json: &str,
    take: Py<PyAny>,
    scheduler: Option<Py<PyAny>>,
    congestion_controls: BTreeMap<String, Py<PyAny>>,
) -> PyResult<()> {
    let plan = serde_json::from_str(plan_json)
        .map_err(|error| SimulationError::new_err(format!("the plan cannot be read: {error}")))?;
    let mut callback = Callback { take, raised: None };
    let supplies = Supplies {
        scheduler: scheduler.is_some().then_some(scheduler::create),
        congestion_controls: congestion::supply(congestion_controls),
    };
    scheduler::supply(scheduler);
    raised::take();
    let ended = py.detach(|| mptcplab_engine_sim::simulate_with(&plan, &supplies, &mut callback));
    let raised = callback.raised.or_else(raised::take);
    scheduler::supply(None);
    congestion::supply(BTreeMap::new());
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(SimulationError::new_err(error.to_string())),
        (None, Ok(_)) => Ok(()),
    }
}

/// Takes rows by calling a function of Python.
struct Callback {
    take: Py<PyAny>,
    /// The exception that the function raised; it is called no more then.
    raised: Option<PyErr>,
}

impl Sink for Callback {
    fn take(&mut self, lines: &[u8]) -> ControlFlow<()> {
        if self.raised.is_some() {
            return ControlFlow::Break(());
        }
        let answer = Python::attach(|py| {
            self.take
                .call1(py, (PyBytes::new(py, lines),))?
                .extract::<bool>(py)
        });
        match answer {
            Ok(goes_on) if goes_on && !raised::is_any() => ControlFlow::Continue(()),
            Ok(_) => ControlFlow::Break(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
