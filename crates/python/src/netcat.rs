//! netcat over MPTCP.

use mptcplab_netcat::Options;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs netcat with this process's standard input, output and error; gives its exit status.
///
/// `options` is a JSON object. Meanwhile Ctrl-C and a polite kill belong to netcat, if the caller
/// has no other thread. Raises ValueError where the options are none.
#[pyfunction]
pub(crate) fn netcat(py: Python<'_>, options: &str) -> PyResult<i32> {
    let options: Options = serde_json::from_str(options)
        .map_err(|error| PyValueError::new_err(format!("options of netcat: {error}")))?;
    Ok(py.detach(|| mptcplab_netcat::run(&options)))
}
