//! A congestion control that is a class of Python.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use mptcplab_stack::Nanos;
use mptcplab_stack::congestion::{
    self as stack, CongestionControl, CongestionEvent as Event, Supplied,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::raised;

mod views;

pub(crate) use views::{Ack, CongestionEvent, PathView, Window};
use views::{MOST_BYTES, shown};

thread_local! {
    /// The classes by which the run of this thread makes controls; a run has one thread.
    static SUPPLIED: RefCell<BTreeMap<String, Py<PyAny>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Sets what makes the controls of this thread from now on, by their names.
pub(crate) fn supply(made_by: BTreeMap<String, Py<PyAny>>) -> Vec<Supplied> {
    let supplied = made_by.keys().map(|name| Supplied {
        name: interned(name),
        create: |name| Box::new(Control::create(name)),
    });
    let supplied = supplied.collect();
    SUPPLIED.set(made_by);
    supplied
}

/// The name for as long as the process lives, once for all runs.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

/// The control of one connection or subflow. Where anything of the run has raised, the window stays
/// as it is.
#[derive(Debug)]
struct Control {
    name: &'static str,
    object: Option<Py<PyAny>>,
    is_coupled: bool,
    hears_undo: bool,
    hears_restart: bool,
}

impl Control {
    fn create(name: &'static str) -> Self {
        let mut control = Self {
            name,
            object: None,
            is_coupled: false,
            hears_undo: false,
            hears_restart: false,
        };
        if !raised::is_any() {
            let made = Python::attach(|py| control.take_object(py));
            made.unwrap_or_else(raised::keep);
        }
        control
    }

    /// Makes the object, and looks at what it has.
    fn take_object(&mut self, py: Python<'_>) -> PyResult<()> {
        let of_name =
            |made_by: &BTreeMap<_, Py<PyAny>>| made_by.get(self.name).map(|f| f.clone_ref(py));
        let Some(made_by) = SUPPLIED.with_borrow(of_name) else {
            return Ok(());
        };
        let object = made_by.call0(py)?.into_bound(py);
        for method in ["on_ack", "on_congestion_event"] {
            if !has_method(&object, method)? {
                return Err(PyTypeError::new_err(format!(
                    "the congestion control {} has no method {method}: {}",
                    self.name,
                    shown(&object)
                )));
            }
        }
        self.hears_undo = has_method(&object, "on_undo")?;
        self.hears_restart = has_method(&object, "on_restart")?;
        if let Some(coupled) = object.getattr_opt("coupled")? {
            self.is_coupled = coupled.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "the congestion control {}: coupled is True or False, not {}",
                    self.name,
                    shown(&coupled)
                ))
            })?;
        }
        self.object = Some(object.unbind());
        Ok(())
    }

    /// Asks the object, unless something has been raised; keeps what it raises now.
    fn ask<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let object = self.object.as_ref()?;
        if raised::is_any() {
            return None;
        }
        Python::attach(|py| match ask(object.bind(py)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                raised::keep(error);
                None
            }
        })
    }

    /// The paths as the object sees them: all where it is coupled, none else.
    fn paths(&self, paths: &[stack::PathView]) -> Vec<PathView> {
        let seen = if self.is_coupled { paths } else { &[] };
        seen.iter().map(PathView::new).collect()
    }
}

/// A clone has a deep copy of the object; where that cannot be made, what it raises ends the run.
impl Clone for Control {
    fn clone(&self) -> Self {
        let copied = self.ask(|object| {
            let copy = object.py().import("copy")?;
            Ok(copy.call_method1("deepcopy", (object,))?.unbind())
        });
        Self {
            object: copied,
            ..*self
        }
    }
}

impl CongestionControl for Control {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_coupled(&self) -> bool {
        self.is_coupled
    }

    fn on_ack(&mut self, window: &mut stack::Window, ack: &stack::Ack, paths: &[stack::PathView]) {
        let grown = self.ask(|object| {
            let py = object.py();
            let seen = Bound::new(py, Window::new(*window, false))?;
            let told = Ack::new(ack, self.paths(paths));
            let answer = object.call_method1("on_ack", (&seen, told))?;
            if !answer.is_none() {
                return Err(PyTypeError::new_err(format!(
                    "on_ack of the congestion control {} answered {}: it sets window.bytes, and \
                     answers nothing",
                    self.name,
                    shown(&answer)
                )));
            }
            Ok(seen.borrow().window)
        });
        *window = grown.unwrap_or(*window);
    }

    fn on_congestion_event(
        &mut self,
        window: &stack::Window,
        event: &Event,
        paths: &[stack::PathView],
    ) -> u64 {
        let threshold = self.ask(|object| {
            let seen = Window::new(*window, true);
            let told = CongestionEvent::new(event, self.paths(paths));
            let answer = object.call_method1("on_congestion_event", (seen, told))?;
            let bytes = answer.extract().ok().filter(|bytes| *bytes <= MOST_BYTES);
            bytes.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "on_congestion_event of the congestion control {} answered {}: it must be the \
                     slow start threshold, a whole number of bytes from 0 to {MOST_BYTES}",
                    self.name,
                    shown(&answer)
                ))
            })
        });
        threshold.unwrap_or(window.bytes / 2)
    }

    fn on_undo(&mut self) {
        if self.hears_undo {
            self.ask(|object| object.call_method0("on_undo").map(drop));
        }
    }

    fn on_restart(&mut self, now: Nanos, idle_ns: Nanos) {
        if self.hears_restart {
            self.ask(|object| object.call_method1("on_restart", (now, idle_ns)).map(drop));
        }
    }
}

fn has_method(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let found = object.getattr_opt(name)?;
    Ok(found.is_some_and(|method| method.is_callable()))
}
