//! The controller for switches that connect by TCP or TLS.

use std::io;
use std::os::fd::RawFd;

use mptcplab_controller_server::{Config, Form, Journal, Server};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::subflow::borrowed;

create_exception!(
    _native,
    ControllerError,
    PyException,
    "A controller that does not start; the message says why."
);

/// Serves switches until the descriptor `stop` is readable, or standard output ends.
///
/// Events go to standard output, a line each, as JSON where asked. Other threads of Python
/// run meanwhile. A signal does not end it.
///
/// Raises ControllerError where the configuration is none, or cannot be carried out, and OSError
/// where standard output cannot be written.
#[pyfunction]
pub(crate) fn serve_controller(
    py: Python<'_>,
    config_json: &str,
    stop: RawFd,
    json: bool,
) -> PyResult<()> {
    let mut server = Config::parse(config_json)
        .and_then(|config| Server::bind(&config))
        .map_err(|error| ControllerError::new_err(error.to_string()))?;
    let stop = borrowed(stop)?;
    let form = if json { Form::Json } else { Form::Text };
    py.detach(|| -> io::Result<()> {
        let mut journal = Journal::start(form, io::stdout())?;
        server.run(stop, |t_ns, report| journal.take(t_ns, report))?;
        journal.end()
    })?;
    Ok(())
}
