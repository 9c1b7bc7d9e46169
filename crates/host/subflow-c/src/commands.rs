//! Commands about a connection.

use std::ffi::{c_char, c_int, c_void};
use std::os::fd::BorrowedFd;

use libc::{sockaddr, socklen_t};
use mptcplab_subflow::{Error, Manager, Open, subflow_option};

use crate::address::{optional, required};
use crate::argument::{array, fill, give, id, int, milliseconds, shared, socket, text};
use crate::failure::{Failure, Invalid, call};
use crate::manager::Handle;

/// # Safety
/// `manager` is null or one that was made and not freed.
pub(crate) unsafe fn command<T>(
    manager: *const Handle,
    fd: c_int,
    work: impl FnOnce(&mut Manager, BorrowedFd<'_>) -> Result<T, Error>,
) -> Result<T, Failure> {
    // SAFETY: by the caller's promise.
    let manager = unsafe { shared(manager, "manager") }?;
    let socket = socket(fd)?;
    Ok(manager.0.run(None, |manager| work(manager, socket))?)
}

/// # Safety
/// As [`command`]; the addresses have the lengths that are given, the name a final zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_open(
    manager: *const Handle,
    fd: c_int,
    local: *const sockaddr,
    local_length: socklen_t,
    remote: *const sockaddr,
    remote_length: socklen_t,
    backup: c_int,
    interface: *const c_char,
    timeout_ms: c_int,
) -> c_int {
    call(|| {
        // SAFETY: by the caller's promise, as the next two.
        let local = unsafe { required(local, local_length, "local") }?;
        let remote = unsafe { optional(remote, remote_length, "remote") }?;
        let interface = unsafe { text(interface, "interface") }?;
        let any = Open::from(local);
        let open = Open {
            remote,
            backup: backup != 0,
            interface: interface.map(str::to_owned),
            timeout: milliseconds(timeout_ms).unwrap_or(any.timeout),
            ..any
        };
        // SAFETY: by the caller's promise.
        let opened = unsafe { command(manager, fd, |it, socket| it.open_subflow(socket, &open)) }?;
        Ok(int(opened)?)
    })
}

/// # Safety
/// As [`command`].
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_close(
    manager: *const Handle,
    fd: c_int,
    subflow: c_int,
) -> c_int {
    call(|| {
        let id = id(subflow)?;
        // SAFETY: by the caller's promise.
        unsafe { command(manager, fd, |it, socket| it.close_subflow(socket, id)) }?;
        Ok(0)
    })
}

/// # Safety
/// As [`command`].
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_set_backup(
    manager: *const Handle,
    fd: c_int,
    subflow: c_int,
    backup: c_int,
) -> c_int {
    call(|| {
        let id = id(subflow)?;
        let set = |it: &mut Manager, socket: BorrowedFd<'_>| it.set_backup(socket, id, backup != 0);
        // SAFETY: by the caller's promise.
        unsafe { command(manager, fd, set) }?;
        Ok(0)
    })
}

/// # Safety
/// As [`command`]; the address has the length that is given.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_announce(
    manager: *const Handle,
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    call(|| {
        // SAFETY: by the caller's promise.
        let address = unsafe { required(address, length, "address") }?;
        // SAFETY: by the caller's promise.
        let id = unsafe { command(manager, fd, |it, socket| it.announce(socket, address)) }?;
        Ok(id.into())
    })
}

/// # Safety
/// As [`command`].
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_withdraw(
    manager: *const Handle,
    fd: c_int,
    address_id: c_int,
) -> c_int {
    call(|| {
        let id = u8::try_from(address_id)
            .map_err(|_| Invalid(format!("{address_id} is no id of an address: 0 to 255")))?;
        // SAFETY: by the caller's promise.
        unsafe { command(manager, fd, |it, socket| it.withdraw(socket, id)) }?;
        Ok(0)
    })
}

/// # Safety
/// As [`command`]; `value` has room for `*length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_getsockopt(
    manager: *const Handle,
    fd: c_int,
    subflow: c_int,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    call(|| {
        let id = id(subflow)?;
        // SAFETY: by the caller's promise.
        let room = *unsafe { shared(length, "length") }?;
        let found = match subflow_option(socket(fd)?, id, level, option)? {
            Some(told) => told,
            None => {
                let get =
                    |it: &mut Manager, at: BorrowedFd<'_>| it.getsockopt(at, id, level, option);
                // SAFETY: by the caller's promise.
                unsafe { command(manager, fd, get) }?
            }
        };
        // SAFETY: by the caller's promise, both.
        let copied = unsafe { fill(value.cast::<u8>(), room as usize, "value", &found) }?;
        unsafe { give(length, "length", copied as socklen_t) }?;
        Ok(int(found.len())?)
    })
}

/// # Safety
/// As [`command`]; `value` has `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_setsockopt(
    manager: *const Handle,
    fd: c_int,
    subflow: c_int,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    call(|| {
        let id = id(subflow)?;
        // SAFETY: by the caller's promise.
        let value = unsafe { array(value.cast::<u8>(), length as usize, "value") }?;
        let set = |it: &mut Manager, socket: BorrowedFd<'_>| {
            it.setsockopt(socket, id, level, option, value)
        };
        // SAFETY: by the caller's promise.
        unsafe { command(manager, fd, set) }?;
        Ok(0)
    })
}
