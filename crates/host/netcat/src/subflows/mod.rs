//! The subflows of a connection while it is copied: opened as the user wants, watched, measured.
//!
//! That is done in a thread of its own, so that a path that does not answer never holds up the
//! data. Commands that wait for the peer have threads of their own.

mod actions;
mod begin;
mod commands;
mod locals;
mod path;
mod supervisor;
mod tracker;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mptcplab_subflow::Managers;

use crate::account::SubflowAccount;
use crate::options::SubflowOptions;
use crate::report::Report;
use crate::stream::Stream;

/// The copying thread's channel to the supervisor.
pub(crate) struct Handle(UnixStream);

impl Handle {
    /// Tells that all of the input is handed to the kernel: the last readings are near.
    pub(crate) fn input_ended(&self) {
        // The supervisor has ended where the connection has.
        let _ = (&self.0).write_all(b".");
    }
}

/// Does `work` while a supervisor handles the subflows of `stream`, and gives their account.
pub(crate) fn supervise<R>(
    stream: &Stream,
    options: &SubflowOptions,
    managers: Option<&Managers>,
    report: &Report,
    work: impl FnOnce(Option<&Handle>) -> R,
) -> (R, Option<SubflowAccount>) {
    let Ok((near, far)) = UnixStream::pair() else {
        return (work(None), None);
    };
    let ending = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let ends = Arc::clone(&ending);
        let supervise =
            move || supervisor::run(scope, stream, options, managers, report, far, ends);
        let Ok(supervisor) = thread::Builder::new()
            .name("subflows".into())
            .spawn_scoped(scope, supervise)
        else {
            return (work(None), None);
        };
        let done = work(Some(&Handle(near)));
        // The handle has gone with the work, and that wakes the thread.
        ending.store(true, Ordering::Relaxed);
        (done, supervisor.join().ok())
    })
}
