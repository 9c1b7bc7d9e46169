//! Congestion controls, brought to the kernel by BPF: the coupled ones, and compiled objects.

use mptcplab_bpf::{Control, Error, Registration};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _native,
    BpfError,
    PyException,
    "A request that BPF cannot carry out here; the message says why, and what to do."
);

/// A congestion control that stays registered until `close`, or until the process ends.
#[pyclass]
pub(crate) struct HeldControl(Option<Registration>);

#[pymethods]
impl HeldControl {
    /// Releases it; the kernel unregisters it when no other process holds it.
    fn close(&mut self) {
        self.0 = None;
    }
}

/// Registers one, or takes part in its registration, until the result is closed.
#[pyfunction]
pub(crate) fn hold_congestion_control(name: &str) -> PyResult<HeldControl> {
    let registration = named(name)?.hold().map_err(raised)?;
    Ok(HeldControl(Some(registration)))
}

fn named(name: &str) -> PyResult<Control> {
    Control::from_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("no coupled congestion control {name}")))
}

fn raised(error: Error) -> PyErr {
    BpfError::new_err(error.to_string())
}
