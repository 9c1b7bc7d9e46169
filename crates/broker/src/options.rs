//! Options of single subflows, set and read by BPF, on a thread of their own.
//!
//! To find a subflow the kernel takes the lock of one TCP socket of the namespace after the other,
//! and whose socket is locked may be anybody. So nobody waits here for longer than [`PATIENCE`].

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use mptcplab_subflow::options::Options;
use mptcplab_subflow::protocol::Answer;
use mptcplab_subflow::{Error, connection};

use crate::threads::ring;

/// How long a client waits for an option.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// What is to be done with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Read so many bytes.
    Get(usize),
    /// Set it to this.
    Set(Vec<u8>),
}

/// An option of a subflow, and what is to be done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The subflow's id.
    pub subflow: u32,
    /// SOL_SOCKET, IPPROTO_TCP …
    pub level: i32,
    /// The option.
    pub option: i32,
    /// What is to be done.
    pub asked: Asked,
}

/// Something for the thread to do.
pub(crate) struct Job {
    pub(crate) ticket: u64,
    pub(crate) socket: OwnedFd,
    pub(crate) wanted: Wanted,
    pub(crate) done: Sender<Done>,
    pub(crate) bell: Arc<OwnedFd>,
}

/// What was done. The socket goes back: to close it may take its owner's time, not this thread's.
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) result: Result<Answer, Error>,
    pub(crate) _socket: OwnedFd,
}

/// Does what is asked for, until nobody can ask any more.
pub(crate) fn serve(mut options: Options, jobs: &Receiver<Job>) {
    for job in jobs {
        let result = carry_out(&mut options, &job);
        let done = Done {
            ticket: job.ticket,
            result,
            _socket: job.socket,
        };
        if let Err(unheard) = job.done.send(done) {
            // The user's thread has ended.
            thread::spawn(move || drop(unheard));
        }
        ring(&job.bell);
    }
}

fn carry_out(options: &mut Options, job: &Job) -> Result<Answer, Error> {
    let Wanted {
        subflow,
        level,
        option,
        asked,
    } = &job.wanted;
    // Asked again: while the job waited the connection may have ended and its token become
    // another's.
    let connection = connection(job.socket.as_fd())?;
    match asked {
        Asked::Get(length) => options
            .get(&connection, *subflow, *level, *option, *length)
            .map(Answer::Value),
        Asked::Set(value) => options
            .set(&connection, *subflow, *level, *option, value)
            .map(|()| Answer::Nothing {}),
    }
}
