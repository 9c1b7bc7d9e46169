//! Questions about one's own connection, which need no privilege.

use std::ffi::c_int;

use libc::sockaddr_storage;
use mptcplab_subflow as subflow;

use crate::address::storage;
use crate::argument::{fill, give, id, int, socket};
use crate::failure::call;

/// `MPTCPLAB_SUBFLOW_VERSION`
const VERSION: c_int = 1;

/// `struct mptcplab_subflow_tuple`
#[repr(C)]
struct CTuple {
    local: sockaddr_storage,
    remote: sockaddr_storage,
    local_id: c_int,
    remote_id: c_int,
    state: c_int,
    backup: c_int,
}

#[unsafe(no_mangle)]
extern "C" fn mptcplab_subflow_version() -> c_int {
    VERSION
}

/// # Safety
/// `ids` is null or has so much room.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_ids(fd: c_int, ids: *mut c_int, room: usize) -> c_int {
    call(|| {
        let found = subflow::subflow_ids(socket(fd)?)?;
        let found = found.into_iter().map(int).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: by the caller's promise.
        unsafe { fill(ids, room, "ids", &found) }?;
        Ok(int(found.len())?)
    })
}

/// # Safety
/// `tuple` is null or has room for one.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_tuple(
    fd: c_int,
    subflow_id: c_int,
    tuple: *mut CTuple,
) -> c_int {
    call(|| {
        let found = subflow::subflow_tuple(socket(fd)?, id(subflow_id)?)?;
        let found = CTuple {
            local: storage(Some(found.local)),
            remote: storage(Some(found.remote)),
            local_id: known(found.local_id),
            remote_id: known(found.remote_id),
            state: known(found.state_number()),
            backup: known(found.backup),
        };
        // SAFETY: by the caller's promise.
        unsafe { give(tuple, "tuple", found) }?;
        Ok(0)
    })
}

/// -1 is not known.
pub(crate) fn known<T: Into<c_int>>(value: Option<T>) -> c_int {
    value.map_or(-1, Into::into)
}
