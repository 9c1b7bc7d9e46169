//! Scheduling of the thread that must wake up in time.
//!
//! Real-time priority is a privilege of the user namespace that the lab leaves behind. It is
//! therefore taken before, handed to one reserved thread, and given up by all others.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread;

type Work = Box<dyn FnOnce() + Send>;

/// A thread that waits for its work, with the priority of the thread that made it.
pub struct ReservedThread(Sender<Work>);

impl ReservedThread {
    /// Makes the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn spawn(name: &str) -> io::Result<Self> {
        let (sender, work) = channel::<Work>();
        thread::Builder::new().name(name.into()).spawn(move || {
            if let Ok(work) = work.recv() {
                work();
            }
        })?;
        Ok(Self(sender))
    }

    /// Gives the thread its work.
    ///
    /// # Panics
    /// Never: the thread waits until now.
    pub fn start(self, work: impl FnOnce() + Send + 'static) {
        self.0.send(Box::new(work)).expect("the thread waits");
    }
}

/// Asks for real-time priority for the calling thread and those that it makes. True when granted.
pub fn acquire() -> bool {
    set_policy(libc::SCHED_FIFO, 1)
}

/// Gives the priority up again, for the calling thread alone.
pub fn release() {
    set_policy(libc::SCHED_OTHER, 0);
}

/// True when the calling thread has real-time priority.
pub fn is_granted() -> bool {
    // SAFETY: plain system call on the calling thread.
    unsafe { libc::sched_getscheduler(0) == libc::SCHED_FIFO }
}

/// Lets the timers of the calling thread fire to the nanosecond.
pub fn sharpen_timers() {
    // SAFETY: plain system call on the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

fn set_policy(policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: plain system call on the calling thread; the parameters outlive it.
    unsafe { libc::sched_setscheduler(0, policy, &parameters) == 0 }
}
