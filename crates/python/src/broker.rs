//! The broker.

use mptcplab_broker::{Config, run};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _native,
    BrokerError,
    PyException,
    "A broker that cannot start; the message says why."
);

/// Serves clients until SIGTERM or SIGINT, and ends the process. Raises BrokerError where it cannot
/// start.
#[pyfunction]
pub(crate) fn broker(py: Python<'_>, config: &str) -> PyResult<()> {
    let Err(error) = py.detach(|| run(&Config::parse(config)?));
    Err(BrokerError::new_err(error.to_string()))
}
