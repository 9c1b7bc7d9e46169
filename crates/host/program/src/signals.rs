//! SIGINT and SIGTERM as a descriptor that becomes readable.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_path_manager::eventfd::EventFd;
use nix::sys::signal::{SigSet, Signal};

/// Signals this close together are one request: `timeout` sends two.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// Takes the two signals from now on, in a thread of its own, and gives what is readable after the
/// first. A later one calls `second`: the program may wait for a reader of its output.
///
/// # Errors
/// Those of eventfd(2), sigprocmask(2) and clone(2).
pub(crate) fn stop_event(second: fn()) -> io::Result<Arc<EventFd>> {
    let stop = Arc::new(EventFd::new()?);
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    // Threads that begin later inherit the mask.
    signals.thread_block()?;
    let written = Arc::clone(&stop);
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut first: Option<Instant> = None;
            while signals.wait().is_ok() {
                if first.is_some_and(|first| first.elapsed() >= ONE_REQUEST) {
                    second();
                }
                first.get_or_insert_with(Instant::now);
                let _ = written.write(1);
            }
        })?;
    Ok(stop)
}
