//! The roles of the sender and the receiver of payload.

use mptcplab_plan::Protocol;
use mptcplab_traffic::{Failure, Offer, Pacing, WRITE_BYTES};

use super::end::{End, Input, Progress, Role};
use super::wake_up::is_sleeping_reader;
use crate::Nanos;

/// Read at most at once.
pub(super) const READ_BYTES: usize = 256 * 1024;

/// Sends the content: all of it, or until the conversation ends.
#[derive(Clone, Debug)]
pub(super) struct Send {
    /// Bytes of payload; `None` for as much as goes.
    amount: Option<u64>,
    /// The application offers no more than this.
    pacing: Option<Pacing>,
    sent: u64,
    due: Option<Nanos>,
}

impl Send {
    pub(super) fn new(amount: Option<u64>, rate_bps: Option<u64>) -> Self {
        Self {
            amount,
            pacing: rate_bps.map(Pacing::new),
            sent: 0,
            due: None,
        }
    }

    /// The bytes that may be written now; sets the deadline where more follow.
    fn allowed(&mut self, now: Nanos) -> u64 {
        let left = self.amount.map_or(u64::MAX, |amount| amount - self.sent);
        let Some(pacing) = &mut self.pacing else {
            return left;
        };
        match pacing.offer(now, self.sent, left) {
            Offer::Bytes(bytes) => bytes,
            Offer::Wait(due) => {
                self.due = Some(due);
                0
            }
        }
    }
}

impl Role for Send {
    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        self.due = None;
        while self.amount.is_none_or(|amount| self.sent < amount) {
            let allowed = self.allowed(end.now());
            if allowed == 0 {
                return Ok(Progress::Waiting);
            }
            let part = end.content(self.sent, allowed.min(WRITE_BYTES));
            let offered = part.len();
            let taken = end.write(part);
            self.sent += taken as u64;
            if taken < offered {
                return Ok(Progress::Waiting);
            }
        }
        end.finish();
        Ok(Progress::Done)
    }

    fn deadline(&self) -> Option<Nanos> {
        self.due
    }

    fn operation(&self) -> &'static str {
        "send"
    }
}

/// Receives to the end of the stream.
#[derive(Clone, Debug)]
pub(super) struct Receive;

impl Role for Receive {
    fn listens(&self) -> bool {
        true
    }

    fn sleeps(&self, protocol: Protocol) -> bool {
        is_sleeping_reader(protocol)
    }

    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        loop {
            match end.read(READ_BYTES) {
                None => return Ok(Progress::Waiting),
                Some(Input::End) => return Ok(Progress::Done),
                Some(Input::Bytes(payload)) => end.take(&payload)?,
            }
        }
    }
}
