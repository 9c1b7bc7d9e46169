//! Questions of the thread that serves to the controller's loop: for copies of its state, and to
//! take sizes of transfers.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::Duration;

use crate::config::Size;
use crate::server::is_passing;
use crate::snapshot::Snapshot;

/// Time that the loop has to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A question to the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question {
    /// For a copy of the state.
    Copy,
    /// To take the size of the transfers of a server.
    Tell(Size),
}

/// An answer of the loop.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A copy of the state.
    Copy(Box<Snapshot>),
    /// Whether the size was taken.
    Told(bool),
}

/// The end of the thread that serves.
#[derive(Debug)]
pub(crate) struct Asker {
    /// A byte for each question wakes the loop.
    wake: UnixStream,
    questions: SyncSender<Question>,
    answers: Receiver<Answer>,
}

/// The end of the controller's loop. When it is dropped, the other end is told.
#[derive(Debug)]
pub(crate) struct Answerer {
    wake: UnixStream,
    questions: Receiver<Question>,
    answers: SyncSender<Answer>,
}

/// Both ends.
pub(crate) fn exchange() -> io::Result<(Asker, Answerer)> {
    let (wakes, woken) = UnixStream::pair()?;
    woken.set_nonblocking(true)?;
    let (ask, asked) = mpsc::sync_channel(1);
    let (give, get) = mpsc::sync_channel(1);
    let asker = Asker {
        wake: wakes,
        questions: ask,
        answers: get,
    };
    let answerer = Answerer {
        wake: woken,
        questions: asked,
        answers: give,
    };
    Ok((asker, answerer))
}

impl Asker {
    /// A copy of the state as it is now; `None`: the loop does not answer in time.
    pub(crate) fn copy(&mut self) -> Option<Snapshot> {
        match self.ask(Question::Copy)? {
            Answer::Copy(snapshot) => Some(*snapshot),
            Answer::Told(_) => None,
        }
    }

    /// Whether the loop has taken a size; `None`: it does not answer in time.
    pub(crate) fn tell(&mut self, size: Size) -> Option<bool> {
        match self.ask(Question::Tell(size))? {
            Answer::Told(is_taken) => Some(is_taken),
            Answer::Copy(_) => None,
        }
    }

    fn ask(&mut self, question: Question) -> Option<Answer> {
        // An answer that came too late is none to this question.
        while self.answers.try_recv().is_ok() {}
        self.questions.try_send(question).ok()?;
        self.wake.write_all(b"?").ok()?;
        self.answers.recv_timeout(PATIENCE).ok()
    }

    /// Readable when the other end is gone: it sends nothing.
    pub(crate) fn end(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

impl Answerer {
    /// Answers, if there is a question.
    ///
    /// # Errors
    ///
    /// The other end is gone.
    pub(crate) fn answer(&mut self, of: impl FnOnce(Question) -> Answer) -> io::Result<()> {
        let mut bytes = [0; 64];
        match self.wake.read(&mut bytes) {
            Ok(0) => Err(io::ErrorKind::BrokenPipe.into()),
            Ok(_) => {
                let Ok(question) = self.questions.try_recv() else {
                    return Ok(());
                };
                // The asker takes one answer at a time; others would be old when it does.
                match self.answers.try_send(of(question)) {
                    Ok(()) | Err(TrySendError::Full(_)) => Ok(()),
                    Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
                }
            }
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Answerer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
