//! Options of single subflows, set and read by BPF, on a thread of their own.
//!
//! To find a subflow the kernel takes the lock of one TCP socket of the namespace after the other,
//! and any user may hold the lock of their own. So a client is answered after [`TIMEOUT`] at most.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use mptcplab_subflow::options::Options;
use mptcplab_subflow::protocol::Answer;
use mptcplab_subflow::{Error, connection};

use crate::wake::WakeFd;

/// How long a client waits for an option.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);

/// Reading or setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionAction {
    /// Reads a value of at most so many bytes.
    Get(usize),
    /// Sets this value.
    Set(Vec<u8>),
}

/// A request to read or set an option of a subflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionRequest {
    /// The subflow's id.
    pub subflow: u32,
    /// SOL_SOCKET, IPPROTO_TCP …
    pub level: i32,
    /// The option.
    pub option: i32,
    /// Reading or setting.
    pub action: OptionAction,
}

/// A request for the thread, and where its result goes.
pub(crate) struct Job {
    pub(crate) ticket: u64,
    pub(crate) socket: OwnedFd,
    pub(crate) request: OptionRequest,
    pub(crate) done: Sender<Done>,
    pub(crate) wake: Arc<WakeFd>,
}

/// The result of a [`Job`]. The socket goes back with it: closing it may block the user's own thread,
/// not this one.
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) result: Result<Answer, Error>,
    pub(crate) _socket: OwnedFd,
}

/// Carries out jobs until the channel is closed.
pub(crate) fn serve(mut options: Options, jobs: &Receiver<Job>) {
    for job in jobs {
        let result = carry_out(&mut options, &job);
        let done = Done {
            ticket: job.ticket,
            result,
            _socket: job.socket,
        };
        if let Err(unsent) = job.done.send(done) {
            // The user's thread has ended.
            thread::spawn(move || drop(unsent));
        }
        job.wake.wake();
    }
}

fn carry_out(options: &mut Options, job: &Job) -> Result<Answer, Error> {
    let OptionRequest {
        subflow,
        level,
        option,
        action,
    } = &job.request;
    // OptionAction again: while the job waited the connection may have ended and its token become
    // its token.
    let connection = connection(job.socket.as_fd())?;
    match action {
        OptionAction::Get(length) => options
            .get(&connection, *subflow, *level, *option, *length)
            .map(Answer::Value),
        OptionAction::Set(value) => options
            .set(&connection, *subflow, *level, *option, value)
            .map(|()| Answer::Nothing {}),
    }
}
