//! The analysis of captures.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::PathBuf;

use mptcplab_trace::{ExtractError, Request, analyse};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

/// Writes chosen frames of captures as a pcapng file at `to`, in the order of time.
///
/// `chosen` has the numbers of the frames of each file, which grow. `progress` is told as by
/// `trace`. Returns how many frames were written. Raises TraceError where a file is no capture or
/// `to` cannot be written.
#[pyfunction]
pub(crate) fn write_frames(
    py: Python<'_>,
    files: Vec<PathBuf>,
    chosen: Vec<Vec<u64>>,
    to: PathBuf,
    progress: Py<PyAny>,
) -> PyResult<u64> {
    let mut raised = None;
    let ended = py.detach(|| {
        let file = File::create(&to).map_err(ExtractError::Write)?;
        mptcplab_trace::write_chosen(&files, chosen, BufWriter::new(file), |done, of| {
            tell(&progress, done, of.unwrap_or(0)).unwrap_or_else(|error| {
                raised = Some(error);
                ControlFlow::Break(())
            })
        })
    });
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, Ok(count)) => Ok(count),
        (None, Err(ExtractError::Write(error))) => {
            let path = to.display();
            Err(TraceError::new_err(format!(
                "{path}: cannot be written: {error}"
            )))
        }
        (None, Err(error)) => Err(TraceError::new_err(error.to_string())),
    }
}

/// Passes the captured data of chosen segments to `take`: the place of the file, the number of the
/// frame, and the bytes, in the order of time. `chosen` has the numbers of the frames of each file,
/// which grow. Other threads of Python run while it reads. Raises TraceError where a file is no
/// capture, and what `take` raises.
#[pyfunction]
pub(crate) fn payloads(
    py: Python<'_>,
    files: Vec<PathBuf>,
    chosen: Vec<Vec<u64>>,
    take: Py<PyAny>,
) -> PyResult<()> {
    let mut raised = None;
    let ended = py.detach(|| {
        mptcplab_trace::payloads(&files, chosen, |file, frame, data| {
            let taken = Python::attach(|py| {
                take.call1(py, (file, frame, PyBytes::new(py, data)))
                    .map(drop)
            });
            match taken {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
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
