//! Measurements against a target.

use std::net::{IpAddr, SocketAddr};

use mptcplab_measure::Error;
use mptcplab_measure::client::{HeldEndpoints, NewEndpoint, Plan, Session, paths};
use mptcplab_measure::settings::Settings;
use mptcplab_measure::token::Token;
use pyo3::call::PyCallArgs;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _native,
    MeasureError,
    PyException,
    "A measurement that cannot begin or go on; the message says why."
);
create_exception!(
    _native,
    MeasureStopped,
    MeasureError,
    "The caller wants no more of a measurement, or its budget is used up."
);

/// A session with a target.
#[pyclass]
pub(crate) struct MeasureSession(Session);

#[pymethods]
impl MeasureSession {
    /// Connects to a target whose token is held.
    ///
    /// `goes_on`, where given, is asked several times a second. Raises MeasureStopped once it says no,
    /// what it raises itself, and MeasureError where that is no token, or the target is not
    /// reached or refuses.
    #[new]
    #[pyo3(signature = (host, port, token, goes_on=None))]
    fn open(
        py: Python<'_>,
        host: &str,
        port: u16,
        token: &str,
        goes_on: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let token =
            Token::parse(token).map_err(|error| MeasureError::new_err(error.to_string()))?;
        let mut asking = Asking::new(goes_on);
        let session = py.detach(|| Session::connect(host, port, &token, || asking.ask(())));
        asking.result(session).map(Self)
    }

    /// The terms of the target, as JSON.
    fn terms(&self) -> PyResult<String> {
        json(self.0.terms())
    }

    /// Settings of this end's network namespace, as JSON.
    #[staticmethod]
    fn settings() -> PyResult<String> {
        json(&Settings::here())
    }

    /// The address at which the target was reached.
    fn target(&self) -> String {
        self.0.address().ip().to_string()
    }

    /// Bytes that have gone over the control channel, both ways.
    fn control_bytes(&self) -> u64 {
        self.0.control_bytes()
    }

    /// Payload of all experiments, both ways, also of those that failed.
    fn payload_bytes(&self) -> u64 {
        self.0.payload_bytes()
    }

    /// The local addresses that reach the target, as JSON.
    ///
    /// `goes_on` is as of the constructor. Raises MeasureError, and MeasureStopped.
    #[pyo3(signature = (goes_on=None))]
    fn paths(&self, py: Python<'_>, goes_on: Option<Py<PyAny>>) -> PyResult<String> {
        let (address, local) = (self.0.address(), self.0.local());
        let mut asking = Asking::new(goes_on);
        let found = py.detach(|| paths(address, local, &[], || asking.ask(())));
        json(&asking.result(found)?)
    }

    /// Carries out an experiment, given as JSON; its result is JSON, too.
    ///
    /// Other threads of Python run meanwhile. `goes_on` is asked several times a second, with the
    /// payload that has been moved; where it returns false, the experiment ends early and is
    /// `stopped`, perhaps without the target's accounts; where it raises, that is raised. The
    /// experiment takes `most_bytes` of payload and of the control channel at most; it is `stopped`,
    /// too, where they do not suffice for the target's report. Raises MeasureStopped where either
    /// happens before it has begun, and MeasureError where the target refuses or is lost.
    ///
    /// Of each end's account of a connection, `duration_us` is the time of the last payload that was
    /// received, and `moved_by_all_bytes` what all connections had received by then. `ended_us` is
    /// the time at which the data of this connection ended, `ended_moved_by_all_bytes` what all had
    /// received by then, and `ended_by` the reason: `all_sent`, `end_of_stream` (the peer has closed
    /// its side), `time_over`, `stopped`, `error`; null where no data were asked for.
    #[pyo3(signature = (plan, goes_on, most_bytes=u64::MAX))]
    fn run(
        &mut self,
        py: Python<'_>,
        plan: &str,
        goes_on: Py<PyAny>,
        most_bytes: u64,
    ) -> PyResult<String> {
        let plan: Plan =
            serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut asking = Asking::new(Some(goes_on));
        let session = &mut self.0;
        let measured = py.detach(|| session.run(&plan, most_bytes, |moved| asking.ask((moved,))));
        json(&asking.result(measured)?)
    }
}

/// A callable that is asked whether to go on, and what it has raised.
struct Asking {
    goes_on: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Asking {
    fn new(goes_on: Option<Py<PyAny>>) -> Self {
        Self {
            goes_on,
            raised: None,
        }
    }

    /// Its answer; false once it, or the handler of a signal, has raised.
    fn ask(&mut self, arguments: impl for<'py> PyCallArgs<'py>) -> bool {
        if self.raised.is_some() {
            return false;
        }
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match &self.goes_on {
                Some(goes_on) => goes_on.call1(py, arguments)?.extract::<bool>(py),
                None => Ok(true),
            }
        });
        asked.unwrap_or_else(|error| {
            self.raised = Some(error);
            false
        })
    }

    /// The result of the work; what was raised comes first.
    fn result<T>(self, result: Result<T, Error>) -> PyResult<T> {
        match (self.raised, result) {
            (Some(error), _) => Err(error),
            (None, result) => result.map_err(raised),
        }
    }
}

/// Endpoints of the kernel's path manager, until `close` or the process's end.
#[pyclass]
pub(crate) struct EndpointHold(Option<HeldEndpoints>);

#[pymethods]
impl EndpointHold {
    /// Adds those that are missing: addresses, and numbers of interfaces to bind to or 0. From other
    /// endpoints that there are, no subflow is opened to the `target`, an address and a port.
    ///
    /// Raises OSError: without CAP_NET_ADMIN, say.
    #[new]
    #[pyo3(signature = (wanted, target=None))]
    fn hold(wanted: Vec<(IpAddr, u32)>, target: Option<(IpAddr, u16)>) -> PyResult<Self> {
        let wanted: Vec<_> = wanted
            .into_iter()
            .map(|(address, interface)| NewEndpoint { address, interface })
            .collect();
        let held =
            HeldEndpoints::hold(&wanted, target.map(SocketAddr::from)).map_err(PyErr::from)?;
        Ok(Self(Some(held)))
    }

    /// The addresses of those that were added.
    fn added(&self) -> Vec<String> {
        let held = self.0.iter().flat_map(|held| held.added());
        held.map(ToString::to_string).collect()
    }

    /// The addresses of others, from which no subflow is opened to the target.
    fn unused(&self) -> Vec<String> {
        let unused = self.0.iter().flat_map(HeldEndpoints::unused);
        unused.map(|address| address.to_string()).collect()
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
    match error {
        Error::Stopped | Error::Budget => MeasureStopped::new_err(error.to_string()),
        _ => MeasureError::new_err(error.to_string()),
    }
}
