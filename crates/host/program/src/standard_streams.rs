//! Standard streams that were closed when the process began. Before `main` Rust's runtime opens
//! `/dev/null` in their place, and a program that reads and writes nothing would seem to do well.

use std::sync::atomic::{AtomicU8, Ordering};

/// Bit *n* is set where descriptor *n* was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// The C library calls this before `main`.
#[used]
// SAFETY: the section holds addresses of functions that take and return nothing.
#[unsafe(link_section = ".init_array")]
static NOTE_CLOSED: extern "C" fn() = note_closed;

extern "C" fn note_closed() {
    for descriptor in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: asks for the flags of a descriptor, which may be none.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
            CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
        }
    }
}

/// Closes standard input and output again where they were closed, for netcat, which looks at them
/// before it opens any other descriptor.
pub(crate) fn close_again() {
    let closed = CLOSED.load(Ordering::Relaxed);
    for descriptor in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        if closed & 1 << descriptor != 0 {
            // SAFETY: the runtime has opened it, and gave it to no object that owns it.
            unsafe { libc::close(descriptor) };
        }
    }
}
