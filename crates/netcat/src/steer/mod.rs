//! The subflows of a connection while it is copied: opened as wished, watched, accounted for.
//!
//! All of it happens in a thread beside the one that copies, so that no path that does not answer
//! holds the data up. Orders that wait for the peer have threads of their own.

mod account;
mod begin;
mod course;
mod locals;
mod orders;
mod path;
mod steps;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mptcplab_subflow::Managers;

pub(crate) use account::{Account, Subflow};

use crate::options::Wishes;
use crate::report::Report;
use crate::stream::Stream;

/// What the copying thread tells.
pub(crate) struct Handle(UnixStream);

impl Handle {
    /// All of the input is handed to the kernel: the last counts are near.
    pub(crate) fn input_ended(&self) {
        // Nobody listens any more where the connection has gone already.
        let _ = (&self.0).write_all(b".");
    }
}

/// Does `work` with the subflows of `stream` looked after, and gives their account.
pub(crate) fn beside<R>(
    stream: &Stream,
    wishes: &Wishes,
    managers: Option<&Managers>,
    report: &Report,
    work: impl FnOnce(Option<&Handle>) -> R,
) -> (R, Option<Account>) {
    let Ok((near, far)) = UnixStream::pair() else {
        return (work(None), None);
    };
    let ending = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let ends = Arc::clone(&ending);
        let course = move || course::run(scope, stream, wishes, managers, report, far, ends);
        let Ok(steering) = thread::Builder::new()
            .name("subflows".into())
            .spawn_scoped(scope, course)
        else {
            return (work(None), None);
        };
        let done = work(Some(&Handle(near)));
        // The handle has gone with the work, and that wakes the thread.
        ending.store(true, Ordering::Relaxed);
        (done, steering.join().ok())
    })
}
