//! The analysis of captures.

use std::ops::ControlFlow;
use std::path::PathBuf;

use mptcplab_trace::{Request, analyse};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _native,
    TraceError,
    PyException,
    "A capture that cannot be analysed; the message says why."
);

/// Analyses captures and writes the tables into the folder `tables`, which must be there.
///
/// `files` are read together in the order of time; `-` is standard input. With `packets` there is a
/// row for each packet and each mapping, with `checksums` those of data are verified. `progress` is
/// told from time to time how many bytes are read, and of how many (0 where that is not known);
/// where it returns false, what was read so far is all. Other threads of Python run meanwhile.
///
/// Returns the text of `capture.json`. Raises TraceError where a file is no capture or a table
/// cannot be written.
#[pyfunction]
pub(crate) fn trace(
    py: Python<'_>,
    files: Vec<PathBuf>,
    tables: PathBuf,
    packets: bool,
    checksums: bool,
    workers: usize,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let request = Request {
        files,
        folder: tables,
        packets,
        checksums,
        workers: workers.max(1),
    };
    let mut raised = None;
    let ended = py.detach(|| {
        analyse(&request, |done, of| {
            tell(&progress, done, of.unwrap_or(0)).unwrap_or_else(|error| {
                raised = Some(error);
                ControlFlow::Break(())
            })
        })
    });
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, Ok(capture)) => Ok(capture.json()),
        (None, Err(error)) => Err(TraceError::new_err(error.to_string())),
    }
}

/// Calls `progress`; it breaks where that returns false.
fn tell(progress: &Py<PyAny>, done: u64, of: u64) -> PyResult<ControlFlow<()>> {
    let goes_on = Python::attach(|py| progress.call1(py, (done, of))?.extract::<bool>(py))?;
    Ok(match goes_on {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    })
}
