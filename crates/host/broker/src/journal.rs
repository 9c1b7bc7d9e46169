//! The log of the broker's actions, a line each.
//!
//! Lines are queued, and one thread writes them: standard error may be a pipe that is not read, for
//! which the other threads must not wait. It is not made non-blocking: other processes share it.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::limits::Bucket;
use crate::peer::Peer;
use crate::user_state::Outcome;

/// The lines a second that are written in the long run.
const LINES_PER_SECOND: u32 = 100;
/// The most lines that wait to be written.
const MOST_WAITING: usize = 256;

/// Writes lines at a limited rate.
pub(crate) struct Journal {
    state: Mutex<State>,
    changed: Condvar,
    detail: Detail,
}

/// Level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Nothing.
    Quiet,
    /// Commands that were carried out or refused.
    Actions,
    /// Also commands that clients gave up.
    Debug,
}

struct State {
    bucket: Bucket,
    waiting: VecDeque<String>,
    /// Number of lines that were left out and not reported yet.
    left_out: u64,
    is_writing: bool,
    has_ended: bool,
}

impl Journal {
    pub(crate) fn new(detail: Detail) -> Self {
        Self {
            state: Mutex::new(State {
                bucket: Bucket::new(LINES_PER_SECOND),
                waiting: VecDeque::new(),
                left_out: 0,
                is_writing: false,
                has_ended: false,
            }),
            changed: Condvar::new(),
            detail,
        }
    }

    /// Writes a client's command and its outcome.
    pub(crate) fn action(&self, peer: &Peer, token: Option<u32>, command: &str, outcome: &Outcome) {
        let result = match outcome {
            Outcome::Done => "done".to_owned(),
            // Quoted: it may contain text from the client.
            Outcome::Failed(error) => format!("{:?}", error.to_string()),
            Outcome::HungUp if self.detail < Detail::Debug => return,
            Outcome::HungUp => "\"the client hung up\"".to_owned(),
        };
        let token = token.map_or("-".to_owned(), |token| format!("{token:08x}"));
        let (uid, pid) = (peer.credentials.uid, peer.pid);
        self.write(format!(
            "uid={uid} pid={pid} token={token} order={command} result={result}"
        ));
    }

    /// Writes a line about the broker itself.
    pub(crate) fn write(&self, line: String) {
        if self.detail == Detail::Quiet {
            return;
        }
        let now = Instant::now();
        let mut state = self.lock();
        if state.waiting.len() >= MOST_WAITING || state.bucket.wait(now).is_some() {
            state.left_out += 1;
            return;
        }
        state.bucket.take(now);
        let left_out = state.take_left_out();
        state.waiting.extend(left_out);
        state.waiting.push_back(line);
        drop(state);
        self.changed.notify_all();
    }

    /// Writes lines until the end, and waits as long as that takes: for a thread of its own.
    pub(crate) fn write_out(&self, to: impl AsFd) {
        while let Some(line) = self.next() {
            write_whole(&to, format!("{line}\n").as_bytes());
        }
    }

    /// Tells the thread that writes to end with what is queued, and waits for it until then.
    pub(crate) fn end(&self, deadline: Instant) {
        let mut state = self.lock();
        state.has_ended = true;
        self.changed.notify_all();
        while state.is_writing || !state.waiting.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next line, once there is one; `None` at the end.
    fn next(&self) -> Option<String> {
        let mut state = self.lock();
        state.is_writing = false;
        self.changed.notify_all();
        loop {
            let line = state.waiting.pop_front();
            if let Some(line) = line.or_else(|| state.take_left_out()) {
                state.is_writing = true;
                return Some(line);
            }
            if state.has_ended {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the line that says how many were left out before it.
    fn take_left_out(&mut self) -> Option<String> {
        let left_out = std::mem::take(&mut self.left_out);
        (left_out > 0).then(|| format!("left_out={left_out}"))
    }
}

/// Writes all of it, unless the reader has gone. Bypasses the lock of standard error, for which the
/// message of a panic would wait.
fn write_whole(to: impl AsFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Another process made it non-blocking.
                let _ = poll(&mut [PollFd::new(&to, PollFlags::OUT)], None);
            }
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};
    use std::thread;

    use super::*;

    #[test]
    fn lines_beyond_the_queue_are_counted_and_told_of_when_it_is_written() {
        let journal = Journal::new(Detail::Actions);
        journal.lock().bucket = Bucket::new(u32::MAX);
        for number in 0..MOST_WAITING + 7 {
            journal.write(format!("line {number}"));
        }
        let (mut reader, writer) = pipe().unwrap();
        journal.end(Instant::now());
        // The lines in the queue are more than a pipe of one page takes.
        thread::scope(|scope| {
            scope.spawn(|| journal.write_out(writer));
            let mut written = String::new();
            reader.read_to_string(&mut written).unwrap();
            let lines: Vec<&str> = written.lines().collect();
            assert_eq!(lines.len(), MOST_WAITING + 1);
            assert_eq!(lines[MOST_WAITING - 1], "line 255");
            assert_eq!(lines[MOST_WAITING], "left_out=7");
        });
    }

    #[test]
    fn a_line_that_follows_missing_ones_is_preceded_by_their_number() {
        let journal = Journal::new(Detail::Actions);
        let burst = LINES_PER_SECOND as usize + 1;
        for number in 0..burst + 3 {
            journal.write(format!("line {number}"));
        }
        journal.lock().bucket = Bucket::new(LINES_PER_SECOND);
        journal.write("after".to_owned());
        let waiting: Vec<_> = journal.lock().waiting.iter().skip(burst).cloned().collect();
        assert_eq!(waiting, ["left_out=3", "after"]);
    }
}
