//! Events.

use std::ffi::{c_char, c_int};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, PoisonError};

use libc::sockaddr_storage;
use mptcplab_subflow::{EventKind, SubflowEvent, Watch};

use crate::address::storage;
use crate::argument::{give, int, milliseconds, null, shared};
use crate::commands::command;
use crate::failure::call;
use crate::manager::Handle;
use crate::own::known;

/// `MPTCPLAB_SUBFLOW_REASON_BYTES`
const REASON_BYTES: usize = 128;

/// `mptcplab_subflow_watch`
struct CWatch(Mutex<Watch>);

/// `struct mptcplab_subflow_event`
#[repr(C)]
struct CEvent {
    kind: c_int,
    subflow: c_int,
    local: sockaddr_storage,
    remote: sockaddr_storage,
    local_id: c_int,
    remote_id: c_int,
    backup: c_int,
    reason: [c_char; REASON_BYTES],
}

impl CEvent {
    fn of(event: &SubflowEvent) -> Self {
        Self {
            kind: kind(event.kind),
            subflow: event.subflow.and_then(|id| int(id).ok()).unwrap_or(-1),
            local: storage(event.local),
            remote: storage(event.remote),
            local_id: known(event.local_id),
            remote_id: known(event.remote_id),
            backup: known(event.backup),
            reason: cut(event.reason.as_deref().unwrap_or_default()),
        }
    }
}

fn kind(kind: EventKind) -> c_int {
    match kind {
        EventKind::Created => 1,
        EventKind::Established => 2,
        EventKind::Closed => 3,
        EventKind::AddressAnnounced => 4,
        EventKind::AddressRemoved => 5,
        EventKind::SubflowEstablished => 6,
        EventKind::SubflowClosed => 7,
        EventKind::PriorityChanged => 8,
    }
}

/// As much of a text as there is room for beside a final zero, no character in part.
fn cut(text: &str) -> [c_char; REASON_BYTES] {
    let end = (0..REASON_BYTES).rfind(|&end| text.is_char_boundary(end));
    let mut bytes = text.as_bytes()[..end.unwrap_or(0)].iter();
    std::array::from_fn(|_| bytes.next().map_or(0, |&byte| byte as c_char))
}

/// # Safety
/// As [`command`]; `watch` is null or has room for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_events(
    manager: *const Handle,
    fd: c_int,
    watch: *mut *mut CWatch,
) -> c_int {
    call(|| {
        if watch.is_null() {
            return Err(null("watch").into());
        }
        // SAFETY: by the caller's promise.
        let made = unsafe { command(manager, fd, |it, socket| it.events(socket)) }?;
        // SAFETY: not null, so there is room by the caller's promise.
        unsafe { watch.write(Box::into_raw(Box::new(CWatch(Mutex::new(made))))) };
        Ok(0)
    })
}

/// # Safety
/// `watch` is null, or was made and not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_watch_fd(watch: *const CWatch) -> c_int {
    call(|| {
        // SAFETY: by the caller's promise.
        let watch = unsafe { shared(watch, "watch") }?;
        let watch = watch.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(watch.as_fd().as_raw_fd())
    })
}

/// # Safety
/// `watch` is null, or was made and not freed; `event` is null or has room for one.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_watch_next(
    watch: *const CWatch,
    event: *mut CEvent,
    timeout_ms: c_int,
) -> c_int {
    call(|| {
        // SAFETY: by the caller's promise.
        let watch = unsafe { shared(watch, "watch") }?;
        if event.is_null() {
            return Err(null("event").into());
        }
        let mut watch = watch.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(next) = watch.next_within(milliseconds(timeout_ms))? else {
            return Ok(0);
        };
        // SAFETY: by the caller's promise.
        unsafe { give(event, "event", CEvent::of(&next)) }?;
        Ok(1)
    })
}

/// # Safety
/// `watch` is null, or was made and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn mptcplab_subflow_watch_free(watch: *mut CWatch) {
    if !watch.is_null() {
        // SAFETY: made by `Box::into_raw` above, and freed once, by the caller's promise.
        let watch = unsafe { Box::from_raw(watch) };
        call(|| {
            drop(watch);
            Ok(0)
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_reason_is_cut_between_characters_and_ends_with_zero(text in "\\PC{0,200}") {
            let bytes = cut(&text).map(|byte| byte as u8);
            let length = bytes.iter().position(|&byte| byte == 0);
            let kept = std::str::from_utf8(&bytes[..length.unwrap()]).unwrap();
            prop_assert!(text.starts_with(kept));
            prop_assert!(kept == text || kept.len() > REASON_BYTES - 5);
        }
    }
}
