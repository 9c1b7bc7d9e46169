//! Path managers beyond the kernel's own, as a daemon of the calling thread's network namespace.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use mptcplab_kernel::charge::Charge;
use mptcplab_path_manager::{Config, Daemon, eventfd};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(_native, PathManagerError, PyException);

/// A path manager that hears of the connections of one network namespace, and orders their
/// subflows.
#[pyclass(frozen)]
pub(crate) struct PathManager {
    daemon: Mutex<Daemon>,
    _charge: Option<Charge>,
    stop: Arc<eventfd::EventFd>,
}

#[pymethods]
impl PathManager {
    /// Hears of the connections of the calling thread's namespace from now on, and takes charge of
    /// new ones unless somebody else sees to that.
    #[new]
    fn new(config: &str, takes_charge: bool) -> PyResult<Self> {
        let config = serde_json::from_str(config);
        let stop = eventfd::EventFd::new().map_err(|error| failed(&error.into()))?;
        let config: Config = config.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self {
            daemon: Mutex::new(Daemon::open(config).map_err(|error| failed(&error))?),
            _charge: match takes_charge {
                true => Some(Charge::take().map_err(|error| failed(&error))?),
                false => None,
            },
            stop: Arc::new(stop),
        })
    }

    /// Works until it is stopped. `tell` is given each order as JSON, and why it was refused.
    fn run(&self, py: Python<'_>, tell: Py<PyAny>) -> PyResult<()> {
        py.detach(|| {
            let mut daemon = self.daemon.lock().unwrap_or_else(PoisonError::into_inner);
            let mut raised = None;
            let ended = daemon.run(&self.stop, |order, done| {
                let order = serde_json::to_string(order).expect("an order has string keys only");
                let refused = done.err().map(|error| error.to_string());
                let told = Python::attach(|py| tell.call1(py, (order, refused)).map(drop));
                if let Err(error) = told {
                    raised = Some(error);
                    let _ = self.stop.write(1);
                }
            });
            raised.map_or(Ok(()), Err)?;
            ended.map_err(|error| failed(&error))
        })
    }

    /// Ends it.
    fn stop(&self) -> PyResult<()> {
        let written = self.stop.write(1);
        written.map(drop).map_err(|error| failed(&error.into()))
    }
}

fn failed(error: &io::Error) -> PyErr {
    PathManagerError::new_err(match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "it needs CAP_NET_ADMIN: run it as root, or in a user namespace of your own".to_owned()
        }
        _ => error.to_string(),
    })
}
