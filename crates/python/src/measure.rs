//! Measurements against a target.

use std::net::IpAddr;

use mptcplab_measure::Error;
use mptcplab_measure::client::{HeldEndpoints, NewEndpoint, Plan, Session, paths};
use mptcplab_measure::token::Token;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _native,
    MeasureError,
    PyException,
    "A measurement that cannot begin or go on; the message says why."
);

/// A session with a target.
#[pyclass]
pub(crate) struct MeasureSession(Session);

#[pymethods]
impl MeasureSession {
    /// Connects to a target whose token is held.
    ///
    /// Raises MeasureError where that is no token, or the target is not reached or refuses.
    #[new]
    fn open(py: Python<'_>, host: &str, port: u16, token: &str) -> PyResult<Self> {
        let token =
            Token::parse(token).map_err(|error| MeasureError::new_err(error.to_string()))?;
        let session = py.detach(|| Session::connect(host, port, &token));
        session.map(Self).map_err(raised)
    }

    /// The terms of the target, as JSON.
    fn terms(&self) -> PyResult<String> {
        json(self.0.terms())
    }

    /// The address at which the target was reached.
    fn target(&self) -> String {
        self.0.address().ip().to_string()
    }

    /// Bytes that have gone over the control channel, both ways.
    fn control_bytes(&self) -> u64 {
        self.0.control_bytes()
    }

    /// The local addresses that reach the target, as JSON. Raises OSError.
    fn paths(&self, py: Python<'_>) -> PyResult<String> {
        let (address, local) = (self.0.address(), self.0.local());
        let found = py.detach(|| paths(address, local));
        json(&found.map_err(PyErr::from)?)
    }

    /// Carries out an experiment, given as JSON; its result is JSON, too.
    ///
    /// Other threads of Python run meanwhile. `goes_on` is asked several times a second, with the
    /// payload that has been moved; where it returns false, or raises, the experiment ends early.
    /// Raises MeasureError where the target refuses or is lost.
    fn run(&mut self, py: Python<'_>, plan: &str, goes_on: Py<PyAny>) -> PyResult<String> {
        let plan: Plan =
            serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut raised_in = None;
        let session = &mut self.0;
        let measured = py.detach(|| {
            session.run(&plan, |moved| {
                let asked = Python::attach(|py| {
                    py.check_signals()?;
                    goes_on.call1(py, (moved,))?.extract::<bool>(py)
                });
                asked.unwrap_or_else(|error| {
                    raised_in.get_or_insert(error);
                    false
                })
            })
        });
        match raised_in {
            Some(error) => Err(error),
            None => json(&measured.map_err(raised)?),
        }
    }
}

/// Endpoints of the kernel's path manager, until `close` or the process's end.
#[pyclass]
pub(crate) struct EndpointHold(Option<HeldEndpoints>);

#[pymethods]
impl EndpointHold {
    /// Adds those that are missing: addresses, and numbers of interfaces to bind to or 0.
    ///
    /// Raises OSError: without CAP_NET_ADMIN, say.
    #[new]
    fn hold(wanted: Vec<(IpAddr, u32)>) -> PyResult<Self> {
        let wanted: Vec<_> = wanted
            .into_iter()
            .map(|(address, interface)| NewEndpoint { address, interface })
            .collect();
        let held = HeldEndpoints::hold(&wanted).map_err(PyErr::from)?;
        Ok(Self(Some(held)))
    }

    /// The addresses of those that were added.
    fn added(&self) -> Vec<String> {
        let held = self.0.iter().flat_map(|held| held.added());
        held.map(ToString::to_string).collect()
    }

    /// Takes away what was added.
    fn close(&mut self) {
        self.0 = None;
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn raised(error: Error) -> PyErr {
    MeasureError::new_err(error.to_string())
}
