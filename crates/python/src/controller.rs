//! The controller for switches that connect by TCP or TLS.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::RawFd;

use mptcplab_controller_server::{Config, Form, Journal, Server};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::subflow::borrowed;
use crate::{policy, raised};

create_exception!(
    _native,
    ControllerError,
    PyException,
    "A controller that does not start; the message says why."
);

/// Serves switches until the descriptor `stop` is readable, or standard output ends.
///
/// Events go to standard output, a line each, as JSON where asked. Other threads of Python
/// run meanwhile. A signal does not end it. `choose` is the function of a policy in Python, whose name
/// the configuration has; what it raises ends the serving and is raised again.
///
/// Raises ControllerError where the configuration is none, or cannot be carried out, and OSError
/// where standard output cannot be written.
#[pyfunction]
#[pyo3(signature = (config_json, stop, json, choose = None))]
pub(crate) fn serve_controller(
    py: Python<'_>,
    config_json: &str,
    stop: RawFd,
    json: bool,
    choose: Option<Py<PyAny>>,
) -> PyResult<()> {
    let bind = |config: Config| match choose {
        None => Server::bind(&config),
        Some(choose) => {
            policy::supply(Some((config.policy.clone(), choose)));
            Server::bind_with(&config, |seed| Some(policy::create(seed)))
        }
    };
    let mut server = Config::parse(config_json)
        .and_then(bind)
        .map_err(|error| ControllerError::new_err(error.to_string()))?;
    let stop = borrowed(stop)?;
    raised::take();
    let form = if json { Form::Json } else { Form::Text };
    py.detach(|| -> io::Result<()> {
        let mut journal = Journal::start(form, io::stdout())?;
        server.run(stop, |t_ns, report| match raised::is_any() {
            true => ControlFlow::Break(()),
            false => journal.take(t_ns, report),
        })?;
        journal.end()
    })?;
    raised::take().map_or(Ok(()), Err)
}
