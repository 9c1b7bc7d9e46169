//! What the analysis of data must know of a connection's identity, when it becomes known.

use super::registry::Registry;
use crate::Side;

/// Something that became known of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The initial data sequence number of an end.
    InitialDataSequence(Side, u64),
    /// The connection goes on as TCP.
    FellBack,
    /// It does not: mappings came after what looked like a fallback.
    FallbackWithdrawn,
}

impl Registry {
    /// The next of what became known, with the number of its connection. To be asked after each
    /// [`place`](Self::place), before its segment and those that are
    /// [`released`](Self::released) are analysed, until there is none.
    #[inline]
    pub fn news(&mut self) -> Option<(u32, News)> {
        self.news.pop_front()
    }
}
