//! Arguments from C.

use std::ffi::{CStr, c_char, c_int};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::failure::Invalid;

/// An open descriptor, for as long as the call lasts.
pub(crate) fn socket<'a>(fd: c_int) -> Result<BorrowedFd<'a>, Invalid> {
    if fd < 0 {
        return Err(Invalid(format!("{fd} is no descriptor")));
    }
    // SAFETY: not -1; that it stays open while the call lasts is the caller's promise, as with the
    // calls of the kernel.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// The id of a subflow.
pub(crate) fn id(id: c_int) -> Result<u32, Invalid> {
    id.try_into()
        .map_err(|_| Invalid(format!("{id} is no id of a subflow")))
}

/// A number as C has it.
pub(crate) fn int<T: TryInto<c_int> + Copy + std::fmt::Display>(
    number: T,
) -> Result<c_int, Invalid> {
    number
        .try_into()
        .map_err(|_| Invalid(format!("{number} does not fit an int")))
}

/// Milliseconds; `None` below 0.
pub(crate) fn milliseconds(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

/// A text.
///
/// # Safety
/// Null, or a text with a final zero.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Invalid> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: a text with a final zero, by the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map(Some)
        .map_err(|_| Invalid(format!("{name} is not UTF-8")))
}

/// Borrows what a pointer points to.
///
/// # Safety
/// Null, or a pointer to one that lives as long as `'a`.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Invalid> {
    // SAFETY: null or valid, by the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Gives a result to where a pointer points.
///
/// # Safety
/// Null, or a pointer to room for one.
pub(crate) unsafe fn give<T>(pointer: *mut T, name: &str, value: T) -> Result<(), Invalid> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: room for one, by the caller's promise; what was there is not read.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Elements of an array.
///
/// # Safety
/// `pointer` is null, or one to so many elements that live as long as `'a`.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Result<&'a [T], Invalid> {
    match (pointer.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(name)),
        // SAFETY: so many elements, by the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, length) }),
    }
}

/// Copies as many elements as there is room for, and says how many these are.
///
/// # Safety
/// `pointer` is null, or one to room for so many elements.
pub(crate) unsafe fn fill<T: Copy>(
    pointer: *mut T,
    room: usize,
    name: &str,
    from: &[T],
) -> Result<usize, Invalid> {
    let count = room.min(from.len());
    if count > 0 && pointer.is_null() {
        return Err(null(name));
    }
    if count > 0 {
        // SAFETY: room for so many, by the caller's promise; it is no memory of `from`, which is the
        // library's own.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), pointer, count) };
    }
    Ok(count)
}

pub(crate) fn null(name: &str) -> Invalid {
    Invalid(format!("{name} is a null pointer"))
}
