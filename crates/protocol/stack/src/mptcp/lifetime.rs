//! Whether a connection has ended, and when it is given up.

use crate::Nanos;
use crate::tcp::CloseReason;

/// End of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Lifetime {
    end: Option<CloseReason>,
    /// The application has released the connection.
    released: bool,
    /// When a connection without a subflow, or without an application, is given up.
    given_up_at: Option<Nanos>,
}

impl Lifetime {
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Why the connection ended.
    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        self.end
    }

    /// Ends the connection.
    pub(super) fn end(&mut self, reason: CloseReason) {
        self.end = Some(reason);
        self.given_up_at = None;
    }

    #[inline]
    pub(super) fn is_released(&self) -> bool {
        self.released
    }

    /// Notes that the application has released the connection. True where it had already.
    pub(super) fn release(&mut self) -> bool {
        core::mem::replace(&mut self.released, true)
    }

    /// Gives the connection up at a time, unless one is set.
    pub(super) fn give_up_at(&mut self, at: Nanos) {
        self.given_up_at.get_or_insert(at);
    }

    /// Does not give the connection up, as a subflow works.
    pub(super) fn keep(&mut self) {
        self.given_up_at = None;
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.given_up_at
    }

    /// Whether the connection is to be given up now; once.
    pub(super) fn take_due(&mut self, now: Nanos) -> bool {
        let due = self.given_up_at.is_some_and(|deadline| deadline <= now);
        if due {
            self.given_up_at = None;
        }
        due
    }
}
