//! The subflows of one's own connections.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mptcplab_subflow as subflow;
use mptcplab_subflow::{Error, Interrupt, Manager, Managers, Open, Watch};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

/// Ids of the current subflows of the MPTCP socket with the descriptor `socket`.
#[pyfunction]
pub(crate) fn subflow_ids(py: Python<'_>, socket: RawFd) -> PyResult<Vec<u32>> {
    told(py, subflow::subflow_ids(borrowed(socket)?))
}

/// A subflow's addresses, address ids, state and priority, as JSON.
#[pyfunction]
pub(crate) fn subflow_tuple(py: Python<'_>, socket: RawFd, id: u32) -> PyResult<String> {
    json(&told(py, subflow::subflow_tuple(borrowed(socket)?, id))?)
}

/// A connection's counters and its subflows with theirs, as JSON.
#[pyfunction]
pub(crate) fn subflow_connection(py: Python<'_>, socket: RawFd) -> PyResult<String> {
    json(&told(py, subflow::connection(borrowed(socket)?))?)
}

/// The value of an option on one subflow where the kernel tells it without privilege; else None.
#[pyfunction]
pub(crate) fn subflow_option<'py>(
    py: Python<'py>,
    socket: RawFd,
    id: u32,
    level: i32,
    option: i32,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let value = subflow::subflow_option(borrowed(socket)?, id, level, option);
    Ok(told(py, value)?.map(|value| PyBytes::new(py, &value)))
}

/// Carries out commands of any number of threads. Other threads of Python run meanwhile, and a signal
/// whose handler raises ends the waiting.
#[pyclass(frozen, module = "mptcplab._native")]
pub(crate) struct SubflowManager(Managers);

#[pymethods]
impl SubflowManager {
    /// By the broker where there is one, else by this process itself.
    #[staticmethod]
    fn open(py: Python<'_>) -> PyResult<Self> {
        told(py, py.detach(Managers::open)).map(Self)
    }

    /// By this process itself.
    #[staticmethod]
    fn direct(py: Python<'_>) -> PyResult<Self> {
        told(py, py.detach(Managers::direct)).map(Self)
    }

    /// By the broker at this socket.
    #[staticmethod]
    fn broker(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        told(py, py.detach(|| Managers::broker(&path))).map(Self)
    }

    /// The broker's socket; None where this process itself gives the commands.
    #[getter]
    fn broker_path(&self) -> Option<PathBuf> {
        self.0.broker_path().map(PathBuf::from)
    }

    #[expect(clippy::too_many_arguments, reason = "those of the function of Python")]
    fn open_subflow(
        &self,
        py: Python<'_>,
        socket: RawFd,
        local: (IpAddr, u16),
        remote: Option<(IpAddr, u16)>,
        backup: bool,
        interface: Option<String>,
        timeout_s: f64,
    ) -> PyResult<u32> {
        let open = Open {
            local: local.into(),
            remote: remote.map(SocketAddr::from),
            backup,
            interface,
            timeout: seconds(timeout_s)?,
        };
        self.run(py, socket, |manager, socket| {
            manager.open_subflow(socket, &open)
        })
    }

    fn close_subflow(&self, py: Python<'_>, socket: RawFd, id: u32) -> PyResult<()> {
        self.run(py, socket, |manager, socket| {
            manager.close_subflow(socket, id)
        })
    }

    fn set_backup(&self, py: Python<'_>, socket: RawFd, id: u32, backup: bool) -> PyResult<()> {
        self.run(py, socket, |manager, socket| {
            manager.set_backup(socket, id, backup)
        })
    }

    fn announce(&self, py: Python<'_>, socket: RawFd, address: (IpAddr, u16)) -> PyResult<u8> {
        self.run(py, socket, |manager, socket| {
            manager.announce(socket, address.into())
        })
    }

    fn withdraw(&self, py: Python<'_>, socket: RawFd, id: u8) -> PyResult<()> {
        self.run(py, socket, |manager, socket| manager.withdraw(socket, id))
    }

    fn getsockopt<'py>(
        &self,
        py: Python<'py>,
        socket: RawFd,
        id: u32,
        level: i32,
        option: i32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let value = self.run(py, socket, |manager, socket| {
            manager.getsockopt(socket, id, level, option)
        })?;
        Ok(PyBytes::new(py, &value))
    }

    fn setsockopt(
        &self,
        py: Python<'_>,
        socket: RawFd,
        id: u32,
        level: i32,
        option: i32,
        value: Vec<u8>,
    ) -> PyResult<()> {
        self.run(py, socket, |manager, socket| {
            manager.setsockopt(socket, id, level, option, &value)
        })
    }

    fn events(&self, py: Python<'_>, socket: RawFd) -> PyResult<SubflowWatch> {
        let watch = self.run(py, socket, |manager, socket| manager.events(socket))?;
        Ok(SubflowWatch {
            descriptor: watch.as_fd().as_raw_fd(),
            watch: Mutex::new(Some(watch)),
            closing: Arc::default(),
        })
    }
}

impl SubflowManager {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        socket: RawFd,
        command: impl FnOnce(&mut Manager, BorrowedFd<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let socket = borrowed(socket)?;
        interruptible(py, Arc::default(), |interrupt| {
            self.0
                .run(Some(interrupt), |manager| command(manager, socket))
        })
    }
}

/// Events of one connection.
#[pyclass(frozen, module = "mptcplab._native")]
pub(crate) struct SubflowWatch {
    descriptor: RawFd,
    watch: Mutex<Option<Watch>>,
    closing: Arc<AtomicBool>,
}

#[pymethods]
impl SubflowWatch {
    /// The next event as JSON, and whether it was the last; None where none came in time, and once
    /// the watch is closed.
    fn next(&self, py: Python<'_>, timeout_s: Option<f64>) -> PyResult<(Option<String>, bool)> {
        let patience = timeout_s.map(seconds).transpose()?;
        let next = interruptible(py, self.closing.clone(), |interrupt| {
            let mut held = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(watch) = held.as_mut().filter(|_| !self.is_closing()) else {
                return Ok((None, true));
            };
            watch.interruptible(Some(interrupt));
            match watch.next_within(patience) {
                Err(Error::Interrupted) if self.is_closing() => Ok((None, true)),
                event => event.map(|event| (event, watch.has_ended())),
            }
        });
        let (event, ended) = next?;
        Ok((event.map(|event| json(&event)).transpose()?, ended))
    }

    /// Ready to be read when there may be an event.
    fn fileno(&self) -> PyResult<RawFd> {
        match self.is_closing() {
            true => Err(PyValueError::new_err("the watch is closed")),
            false => Ok(self.descriptor),
        }
    }

    /// Ends the watching, also while another thread waits for an event.
    fn close(&self, py: Python<'_>) {
        self.closing.store(true, Ordering::Relaxed);
        py.detach(|| {
            let mut held = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            *held = None;
        });
    }
}

impl SubflowWatch {
    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }
}

/// Waits without Python's lock until it is done, `closing` is true, or the handler of a signal
/// raises.
fn interruptible<T: Send>(
    py: Python<'_>,
    closing: Arc<AtomicBool>,
    wait: impl FnOnce(Interrupt) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let place = raised.clone();
    let interrupt: Interrupt = Arc::new(move || {
        let signal = Python::attach(|py| py.check_signals());
        let is_raised = signal.is_err();
        if let Err(error) = signal {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
        is_raised || closing.load(Ordering::Relaxed)
    });
    let done = py.detach(|| wait(interrupt));
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => told(py, done),
    }
}

pub(crate) fn borrowed<'a>(socket: RawFd) -> PyResult<BorrowedFd<'a>> {
    if socket < 0 {
        return Err(PyOSError::new_err((libc::EBADF, "the socket is closed")));
    }
    // SAFETY: not -1. As with the socket module, what is done with the descriptor while the caller
    // closes it in another thread fails, or tells of what has its number then.
    Ok(unsafe { BorrowedFd::borrow_raw(socket) })
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| PyValueError::new_err(format!("{seconds} s is no time to wait: {error}")))
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// An error as the exception of its kind.
fn told<T>(py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
    result.map_err(|error| {
        let make = || {
            let errors = py.import("mptcplab.subflow.errors")?;
            errors.call_method1("typed", (error.to_string(), json(&error)?))
        };
        make().map_or_else(|failed| failed, PyErr::from_value)
    })
}
