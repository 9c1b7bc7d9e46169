//! The roles of the sender and the receiver of payload.

use crate::Nanos;

use super::end::{End, Input, Progress, Role};
use mptcplab_traffic::Failure;

/// Read at most at once.
const READ_BYTES: usize = 256 * 1024;

/// A rate-limited application writes at least this much at once, but at the end.
const SMALLEST_WRITE_BYTES: u64 = 1400;
/// It writes at most this often.
const WRITE_INTERVAL_NS: Nanos = 1_000_000;

/// Sends the content: all of it, or until the conversation ends.
#[derive(Debug)]
pub(super) struct Send {
    /// Bytes of payload; `None` for as much as goes.
    amount: Option<u64>,
    /// The application offers no more than this, from its first write on.
    rate_bps: Option<u64>,
    began: Option<Nanos>,
    sent: u64,
    due: Option<Nanos>,
}

impl Send {
    pub(super) fn new(amount: Option<u64>, rate_bps: Option<u64>) -> Self {
        Self {
            amount,
            rate_bps,
            began: None,
            sent: 0,
            due: None,
        }
    }

    /// The bytes that may be written now; sets the deadline where more follow.
    fn allowed(&mut self, now: Nanos) -> u64 {
        let left = self.amount.map_or(u64::MAX, |amount| amount - self.sent);
        let Some(rate_bps) = self.rate_bps else {
            return left;
        };
        let began = *self.began.get_or_insert(now);
        let bits = u128::from(now - began) * u128::from(rate_bps) / 1_000_000_000;
        let earned = u64::try_from(bits / 8).unwrap_or(u64::MAX) - self.sent;
        let write = self.write_bytes(rate_bps).min(left);
        if earned < write {
            let bits = u128::from(self.sent + write) * 8 * 1_000_000_000;
            let wait = bits.div_ceil(u128::from(rate_bps.max(1)));
            self.due = Some(began.saturating_add(u64::try_from(wait).unwrap_or(Nanos::MAX)));
            return 0;
        }
        earned.min(left)
    }

    /// Bytes that a rate-limited application writes at once.
    fn write_bytes(&self, rate_bps: u64) -> u64 {
        let in_an_interval = u128::from(rate_bps) * u128::from(WRITE_INTERVAL_NS) / 8_000_000_000;
        u64::try_from(in_an_interval)
            .unwrap_or(u64::MAX)
            .max(SMALLEST_WRITE_BYTES)
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
            let part = end.content(self.sent, allowed);
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
#[derive(Debug)]
pub(super) struct Receive;

impl Role for Receive {
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
