//! A policy of the controller that is a function of Python.

use std::cell::RefCell;
use std::sync::Arc;

use mptcplab_controller::{Answer, PathView, Policy, Request, told};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::raised;

thread_local! {
    /// The name and the function of the policy that the run of this thread asks.
    static SUPPLIED: RefCell<Option<(String, Py<PyAny>)>> = const { RefCell::new(None) };
}

/// Sets the policy that controllers of this thread have from now on.
pub(crate) fn supply(policy: Option<(String, Py<PyAny>)>) {
    SUPPLIED.set(policy);
}

/// The policy that is set, which gets the seed.
pub(crate) fn create(seed: u64) -> Box<dyn Policy> {
    let (name, choose) = SUPPLIED.take().unzip();
    Box::new(PythonPolicy {
        name: name.unwrap_or_default(),
        choose: choose.map(Arc::new),
        seed,
        waits: false,
    })
}

/// Asks a function, which its clones share. Once it has raised something it is asked no more, and refuses everything.
#[derive(Clone)]
struct PythonPolicy {
    name: String,
    choose: Option<Arc<Py<PyAny>>>,
    seed: u64,
    /// Whether the last answer was to wait.
    waits: bool,
}

impl Policy for PythonPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        self.waits = false;
        let choose = self.choose.as_ref().filter(|_| !raised::is_any())?;
        let answer = Python::attach(|py| ask(py, choose, self.seed, request));
        let answer = answer.unwrap_or_else(|error| {
            raised::keep(error);
            Answer::Refused
        });
        self.waits = answer == Answer::Waits;
        match answer {
            Answer::Path(path) => Some(path),
            Answer::Refused | Answer::Waits => None,
        }
    }

    fn waits(&mut self, _request: &Request<'_>) -> bool {
        self.waits
    }
}

fn ask<'a>(
    py: Python<'_>,
    choose: &Py<PyAny>,
    seed: u64,
    request: &Request<'a>,
) -> PyResult<Answer<'a>> {
    let answer = choose.call1(py, told(request, seed))?;
    Answer::read(answer.extract(py)?, request).map_err(PyValueError::new_err)
}
