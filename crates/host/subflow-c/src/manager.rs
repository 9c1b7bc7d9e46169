//! Handles of managers.

use std::ffi::{c_char, c_int};
use std::path::Path;

use mptcplab_subflow::{Error, Managers};

use crate::argument::{null, text};
use crate::failure::{Failure, call};

/// `mptcplab_subflow_manager`
pub(crate) struct Handle(pub(crate) Managers);

/// # Safety
/// `manager` is null or has room for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_manager_open(manager: *mut *mut Handle) -> c_int {
    // SAFETY: by the caller's promise.
    call(|| unsafe { made(manager, Managers::open) })
}

/// # Safety
/// `manager` is null or has room for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_manager_direct(manager: *mut *mut Handle) -> c_int {
    // SAFETY: by the caller's promise.
    call(|| unsafe { made(manager, Managers::direct) })
}

/// # Safety
/// `path` is null or a text; `manager` is null or has room for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_manager_broker(
    path: *const c_char,
    manager: *mut *mut Handle,
) -> c_int {
    call(|| {
        // SAFETY: by the caller's promise.
        let path = unsafe { text(path, "path") }?.ok_or_else(|| null("path"))?;
        // SAFETY: by the caller's promise.
        unsafe { made(manager, || Managers::broker(Path::new(path))) }
    })
}

/// # Safety
/// `manager` is null, or was made by one of the functions above and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_manager_free(manager: *mut Handle) {
    if !manager.is_null() {
        // SAFETY: made by `Box::into_raw` in `made`, and freed once, by the caller's promise.
        let manager = unsafe { Box::from_raw(manager) };
        call(|| {
            drop(manager);
            Ok(0)
        });
    }
}

/// # Safety
/// `place` is null or has room for a pointer.
unsafe fn made(
    place: *mut *mut Handle,
    make: impl FnOnce() -> Result<Managers, Error>,
) -> Result<c_int, Failure> {
    if place.is_null() {
        return Err(null("manager").into());
    }
    let made = Box::new(Handle(make()?));
    // SAFETY: not null, so there is room by the caller's promise.
    unsafe { place.write(Box::into_raw(made)) };
    Ok(0)
}
