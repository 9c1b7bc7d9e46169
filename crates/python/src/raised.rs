//! Exceptions that algorithms of Python have raised in the run of this thread; the first ends it.

use std::cell::RefCell;

use pyo3::PyErr;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps it until it is taken. From then on no algorithm of the run is asked.
pub(crate) fn keep(error: PyErr) {
    RAISED.set(Some(error));
}

/// Whether there is one.
pub(crate) fn is_any() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// Takes it.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.take()
}
