//! Changes of a connection's identity that the analysis of data needs.

use super::registry::Registry;
use crate::Side;

/// A change of a connection's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityEvent {
    /// The initial data sequence number of an end.
    InitialDataSequence(Side, u64),
    /// It goes on as TCP.
    FellBack,
    /// It does not: mappings came after what looked like a fallback.
    FallbackWithdrawn,
}

impl Registry {
    /// Returns the next change, with the number of its connection. To be called after each
    /// [`place`](Self::place), before its segment and those that are
    /// [`released`](Self::released) are analysed, until there is none.
    #[inline]
    pub fn next_identity_event(&mut self) -> Option<(u32, IdentityEvent)> {
        self.identity_events.pop_front()
    }
}
