//! What the broker did, one line an action.

use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::limits::Bucket;
use crate::peer::Peer;

/// The lines a second that are written in the long run.
const LINES_PER_SECOND: u32 = 100;

/// Writes lines to standard error, and not more than a disk can take.
pub(crate) struct Journal {
    state: Mutex<State>,
    is_quiet: bool,
}

struct State {
    bucket: Bucket,
    left_out: u64,
}

impl Journal {
    pub(crate) fn new(is_quiet: bool) -> Self {
        Self {
            state: Mutex::new(State {
                bucket: Bucket::new(LINES_PER_SECOND),
                left_out: 0,
            }),
            is_quiet,
        }
    }

    /// An action for a client, and what came of it.
    pub(crate) fn action<E: Display>(
        &self,
        peer: &Peer,
        token: Option<u32>,
        order: &str,
        result: &Result<impl Sized, E>,
    ) {
        if self.is_quiet {
            return;
        }
        let token = token.map_or("-".to_owned(), |token| format!("{token:08x}"));
        let result = match result {
            Ok(_) => "done".to_owned(),
            // Quoted: what a client sent may be in it.
            Err(error) => format!("{:?}", error.to_string()),
        };
        let (uid, pid) = (peer.who.uid, peer.pid);
        self.write(&format!(
            "uid={uid} pid={pid} token={token} order={order} result={result}"
        ));
    }

    /// A line about the broker itself.
    pub(crate) fn write(&self, line: &str) {
        if self.is_quiet {
            return;
        }
        let now = Instant::now();
        let left_out = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.bucket.wait(now).is_some() {
                state.left_out += 1;
                return;
            }
            state.bucket.take(now);
            std::mem::take(&mut state.left_out)
        };
        // Who closed standard error does not want to know.
        let mut error = std::io::stderr().lock();
        if left_out > 0 {
            let _ = writeln!(error, "left_out={left_out}");
        }
        let _ = writeln!(error, "{line}");
    }
}
