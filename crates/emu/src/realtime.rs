//! Scheduling of the threads that must wake up in time.

/// Asks that the calling thread be woken to the nanosecond and before all others. True when the
/// system granted the real-time priority; an ordinary user has it only within RLIMIT_RTPRIO.
pub fn prefer_this_thread() -> bool {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: plain system calls on the calling thread; the parameter outlives the call.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &priority) == 0
    }
}
