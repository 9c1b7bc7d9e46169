//! A scheduler that is a function of Python.

use std::cell::RefCell;

use mptcplab_stack::scheduler::{Choice, External, Scheduler, SubflowView, View};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::raised;

thread_local! {
    /// The scheduler that the run of this thread asks; a run has one thread.
    static SUPPLIED: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Sets the function that the schedulers of this thread ask from now on.
pub(crate) fn supply(choose: Option<Py<PyAny>>) {
    SUPPLIED.set(choose);
}

/// A scheduler that asks the function; once it has raised something, it waits for ever.
pub(crate) fn create() -> Box<dyn Scheduler> {
    Box::new(External::new(|view| {
        if raised::is_any() {
            return None;
        }
        Python::attach(|py| match ask(py, view) {
            Ok(choice) => choice,
            Err(error) => {
                raised::keep(error);
                None
            }
        })
    }))
}

fn ask(py: Python<'_>, view: &View<'_>) -> PyResult<Option<Choice>> {
    let choose = SUPPLIED.with_borrow(|supplied| supplied.as_ref().map(|f| f.clone_ref(py)));
    let Some(choose) = choose else {
        return Ok(None);
    };
    let answer = choose.call1(py, (Py::new(py, Connection::new(view))?,))?;
    if answer.is_none(py) {
        return Ok(None);
    }
    let count = view.subflows.len();
    match answer.extract::<(usize, u64)>(py) {
        Ok((subflow, bytes)) if subflow < count && bytes > 0 => Ok(view.new_data(subflow, bytes)),
        _ => Err(PyValueError::new_err(format!(
            "the scheduler answered {}: it must be None, or the place of one of the {count} \
             subflows and a number of bytes above 0",
            answer.bind(py).repr()?
        ))),
    }
}

/// View that a scheduler has of a connection. Offsets count the bytes of its data from 0.
#[pyclass(frozen, get_all, module = "mptcplab._native")]
pub(crate) struct Connection {
    /// The time.
    now_ns: u64,
    /// The usable subflows in the order in which they were opened.
    subflows: Vec<Subflow>,
    /// The first byte that the peer has not acknowledged.
    acknowledged: u64,
    /// The first byte that no subflow was given yet.
    next: u64,
    /// The end of what the application has written.
    end: u64,
    /// The end of the peer's receive window.
    window_end: u64,
}

impl Connection {
    fn new(view: &View<'_>) -> Self {
        Self {
            now_ns: view.now,
            subflows: view.subflows.iter().map(Subflow::new).collect(),
            acknowledged: view.acknowledged,
            next: view.next,
            end: view.end,
            window_end: view.window_end,
        }
    }
}

/// A subflow, as a scheduler sees it.
#[pyclass(frozen, get_all, module = "mptcplab._native")]
#[derive(Clone)]
pub(crate) struct Subflow {
    /// Its number in the connection.
    id: u32,
    /// To be used only where there is no other.
    backup: bool,
    /// Smoothed round-trip time.
    smoothed_rtt_ns: u64,
    /// Variation of the round-trip time.
    rtt_variation_ns: u64,
    /// Congestion window.
    window_bytes: u64,
    /// Bytes that the window and the data already handed over leave free.
    room_bytes: u64,
    /// Handed over and not yet acknowledged.
    queued_bytes: u64,
    /// The most that it may be handed.
    queue_limit_bytes: u64,
    /// Its rate, bytes a second.
    rate_bytes_per_second: u64,
    /// Largest payload of a segment.
    segment_bytes: u64,
}

impl Subflow {
    fn new(view: &SubflowView) -> Self {
        Self {
            id: view.id,
            backup: view.backup,
            smoothed_rtt_ns: view.smoothed_rtt_ns,
            rtt_variation_ns: view.rtt_variation_ns,
            window_bytes: view.window_bytes,
            room_bytes: view.room_bytes,
            queued_bytes: view.queued_bytes,
            queue_limit_bytes: view.queue_limit_bytes,
            rate_bytes_per_second: view.rate_bytes_per_second(),
            segment_bytes: view.segment_bytes,
        }
    }
}
