//! Closes the sessions of rejected clients, without waiting for what they sent.
//!
//! Closing a session closes the descriptors that were sent into it and never received. A client can
//! make that last: close(2) of a socket that lingers waits for its peer. A task that is exiting never
//! waits there (`PF_EXITING` in inet_release() of `net/ipv4/af_inet.c`, which is MPTCP's, too). So
//! each session is left to a rejection thread with a table of descriptors of its own, in which it is
//! the last reference, and that thread exits.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::channel;
use std::thread;

use mptcplab_subflow::Error;
use rustix::io::{DupFlags, dup3};
use rustix::process::getpid;
use rustix::thread::gettid;

use crate::transport::reject;

/// The most rejection threads at once. A file system that does not answer makes them last.
const THREADS: usize = 32;
/// The most of them with sessions of one user.
const THREADS_OF_A_USER: usize = 8;

/// Sessions of rejected clients, until they are closed.
pub(crate) struct Rejections {
    /// The descriptor by which a thread takes a session, else a copy of one of the broker's own.
    /// Threads have copies of the descriptors up to this one: those below were opened before it, and
    /// are the broker's own, too.
    slot: OwnedFd,
    exiting: Vec<RejectionThread>,
    /// Sessions that no thread has taken yet.
    held: VecDeque<Held>,
    most_held: usize,
}

/// A thread that exits, and closes a session by that.
struct RejectionThread {
    uid: u32,
    thread: libc::pid_t,
}

struct Held {
    uid: u32,
    session: OwnedFd,
}

impl Rejections {
    /// Holds at most so many sessions while threads are busy. `own` is a descriptor of the broker's.
    ///
    /// # Errors
    /// Where there is no descriptor left.
    pub(crate) fn new(own: BorrowedFd<'_>, most_held: usize) -> io::Result<Self> {
        Ok(Self {
            slot: own.try_clone_to_owned()?,
            exiting: Vec::new(),
            held: VecDeque::new(),
            most_held,
        })
    }

    /// Tells a client why it is rejected. [`Rejections::close`] closes its session.
    pub(crate) fn reject(&mut self, uid: u32, session: OwnedFd, error: Error) {
        reject(&session, error);
        self.held.push_back(Held { uid, session });
    }

    /// Some sessions wait for a thread.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// As many sessions wait for a thread as may: no more clients should be accepted.
    pub(crate) fn is_full(&self) -> bool {
        self.held.len() >= self.most_held
    }

    /// Users whose rejection threads have not exited yet.
    pub(crate) fn users(&self) -> HashSet<u32> {
        self.exiting.iter().map(|exiting| exiting.uid).collect()
    }

    /// Closes the sessions of rejected clients, as far as there may be threads for it. `own` is a
    /// descriptor of the broker's.
    pub(crate) fn close(&mut self, own: BorrowedFd<'_>) {
        let mut busy = HashSet::new();
        for held in std::mem::take(&mut self.held) {
            if !busy.contains(&held.uid) && !self.has_room(held.uid) {
                busy.insert(held.uid);
            }
            if busy.contains(&held.uid) {
                self.held.push_back(held);
                continue;
            }
            let uid = held.uid;
            match self.leave_to_a_thread(held.session, own) {
                Ok(thread) => self.exiting.push(RejectionThread { uid, thread }),
                Err(session) => {
                    busy.insert(uid);
                    self.held.push_back(Held { uid, session });
                }
            }
        }
    }

    /// Tells whether there may be one more thread for a session of this user.
    fn has_room(&mut self, uid: u32) -> bool {
        let is_exiting = |exiting: &RejectionThread| is_alive(exiting.thread);
        self.exiting.retain(is_exiting);
        let of_user = self.exiting.iter().filter(|exiting| exiting.uid == uid);
        self.exiting.len() < THREADS && of_user.count() < THREADS_OF_A_USER
    }

    /// Lets a thread exit with a session; gives the session back where there is no room for a thread.
    /// Nothing that the calling thread closes is the last reference to it.
    fn leave_to_a_thread(
        &mut self,
        session: OwnedFd,
        own: BorrowedFd<'_>,
    ) -> Result<libc::pid_t, OwnedFd> {
        dup3(&session, &mut self.slot, DupFlags::CLOEXEC).expect("both are open");
        let (tell, told) = channel();
        let (let_go, may_go) = channel::<()>();
        let first_other = self.slot.as_raw_fd() + 1;
        let exit = move || {
            let copied = copy_descriptors_below(first_other);
            let _ = tell.send(copied.map(|()| gettid().as_raw_pid()));
            // Until then the session has another reference, which must not be the last.
            let _ = may_go.recv();
        };
        let made = thread::Builder::new()
            .name("rejection".to_owned())
            .spawn(exit);
        let copied = made.ok().and_then(|_| told.recv().ok()?.ok());
        let left = match copied {
            Some(thread) => {
                drop(session);
                Ok(thread)
            }
            None => Err(session),
        };
        dup3(own, &mut self.slot, DupFlags::CLOEXEC).expect("both are open");
        drop(let_go);
        left
    }
}

/// Gives the calling thread a table of descriptors of its own, with copies of those below this one.
fn copy_descriptors_below(first_other: i32) -> io::Result<()> {
    // SAFETY: plain system call. The thread closes nothing in its table, and uses nothing of it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first_other,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_UNSHARE,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Tells whether this thread of the process still runs, or closes its descriptors.
fn is_alive(thread: libc::pid_t) -> bool {
    // SAFETY: plain system call, which sends nothing.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, getpid().as_raw_pid(), thread, 0) };
    result == 0
}
