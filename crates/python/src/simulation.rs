//! A plan in virtual time, its rows handed to Python.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use mptcplab_engine_sim::{Sink, Supplies};
use mptcplab_plan::Plan;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{congestion, policy, raised, scheduler};

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
/// `load_policy` is given the name and the text of a policy in Python, if the plan has one, and gives
/// the function that is asked for the path of each subflow at switches.
///
/// Raises SimulationError where the plan cannot be read, or asks for what there is not in the
/// simulator.
#[pyfunction]
#[pyo3(signature = (plan_json, take, scheduler = None, congestion_controls = BTreeMap::new(), load_policy = None))]
pub(crate) fn simulate(
    py: Python<'_>,
    plan_json: &str,
    take: Py<PyAny>,
    scheduler: Option<Py<PyAny>>,
    congestion_controls: BTreeMap<String, Py<PyAny>>,
    load_policy: Option<Py<PyAny>>,
) -> PyResult<()> {
    let plan: Plan = serde_json::from_str(plan_json)
        .map_err(|error| SimulationError::new_err(format!("the plan cannot be read: {error}")))?;
    let mut callback = Callback { take, raised: None };
    let policy = planned_policy(py, &plan, load_policy)?;
    let supplies = Supplies {
        policy: policy.is_some().then_some(policy::create),
        scheduler: scheduler.is_some().then_some(scheduler::create),
        congestion_controls: congestion::supply(congestion_controls),
    };
    scheduler::supply(scheduler);
    policy::supply(policy);
    raised::take();
    let ended = py.detach(|| mptcplab_engine_sim::simulate_with(&plan, &supplies, &mut callback));
    let raised = callback.raised.or_else(raised::take);
    scheduler::supply(None);
    policy::supply(None);
    congestion::supply(BTreeMap::new());
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(SimulationError::new_err(error.to_string())),
        (None, Ok(_)) => Ok(()),
    }
}

/// The name and the function of the policy whose text the plan has; `None` where it has none.
fn planned_policy(
    py: Python<'_>,
    plan: &Plan,
    load: Option<Py<PyAny>>,
) -> PyResult<Option<(String, Py<PyAny>)>> {
    let planned = plan.controller.as_ref();
    let named = planned.and_then(|one| Some((one.policy.clone()?, one.policy_source.as_ref()?)));
    let (Some((name, source)), Some(load)) = (named, load) else {
        return Ok(None);
    };
    let choose = load.call1(py, (&name, source))?;
    Ok(Some((name, choose)))
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
