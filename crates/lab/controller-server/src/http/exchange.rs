//! Copies of the controller's state, from its loop to the thread that serves them.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::Duration;

use crate::server::is_passing;
use crate::snapshot::Snapshot;

/// Time that the loop has to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The end of the thread that serves.
#[derive(Debug)]
pub(crate) struct Asker {
    questions: UnixStream,
    answers: Receiver<Snapshot>,
}

/// The end of the controller's loop. When it is dropped, the other end is told.
#[derive(Debug)]
pub(crate) struct Answerer {
    questions: UnixStream,
    answers: SyncSender<Snapshot>,
}

/// Both ends.
pub(crate) fn exchange() -> io::Result<(Asker, Answerer)> {
    let (ask, asked) = UnixStream::pair()?;
    asked.set_nonblocking(true)?;
    let (give, get) = mpsc::sync_channel(1);
    let asker = Asker {
        questions: ask,
        answers: get,
    };
    let answerer = Answerer {
        questions: asked,
        answers: give,
    };
    Ok((asker, answerer))
}

impl Asker {
    /// A copy of the state as it is now; `None`: the loop does not answer in time.
    pub(crate) fn ask(&mut self) -> Option<Snapshot> {
        // An answer that came too late is none to this question.
        while self.answers.try_recv().is_ok() {}
        self.questions.write_all(b"?").ok()?;
        self.answers.recv_timeout(PATIENCE).ok()
    }

    /// Readable when the other end is gone: it sends nothing.
    pub(crate) fn end(&self) -> BorrowedFd<'_> {
        self.questions.as_fd()
    }
}

impl Answerer {
    /// Answers, if there is a question.
    ///
    /// # Errors
    ///
    /// The other end is gone.
    pub(crate) fn answer(&mut self, snapshot: impl FnOnce() -> Snapshot) -> io::Result<()> {
        let mut questions = [0; 64];
        match self.questions.read(&mut questions) {
            Ok(0) => Err(io::ErrorKind::BrokenPipe.into()),
            // The asker takes one answer at a time; others would be old when it does.
            Ok(_) => match self.answers.try_send(snapshot()) {
                Ok(()) | Err(TrySendError::Full(_)) => Ok(()),
                Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            },
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Answerer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.questions.as_fd()
    }
}
