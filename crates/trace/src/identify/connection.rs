//! State of a connection.

use super::fallback::Fallback;
use super::flow::PENDING;
use super::tokens::Owner;
use crate::{Ends, Nanos};

/// Known part of a data sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    #[default]
    Nothing,
    /// The low half: only numbers of 4 bytes were seen.
    Low,
    All,
}

/// State of a connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) start: Nanos,
    pub(super) keys: Ends<Option<u64>>,
    pub(super) tokens: Ends<Option<u32>>,
    /// The connection whose key gave the same token before.
    pub(super) same_token: Ends<Option<Owner>>,
    /// Newest data sequence number of each end, behind by less than a step.
    pub(super) data: Ends<u64>,
    pub(super) known: Ends<Known>,
    pub(super) fallback: Option<(Fallback, Nanos)>,
    pub(super) announced: Option<Box<super::addresses::Announced>>,
    /// Index of the first subflow, and of the last.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) subflows: u32,
    pub(super) version: Option<u8>,
    pub(super) checksums: Option<bool>,
    /// The handshake was not captured.
    pub(super) inferred: bool,
    /// The SYN had MP_CAPABLE.
    pub(super) offered: bool,
    /// It was sent again without.
    pub(super) offer_withdrawn: bool,
    /// The SYN/ACK had it.
    pub(super) accepted: bool,
    /// Options of MPTCP came after them.
    pub(super) confirmed: bool,
}

impl Connection {
    pub(super) fn new(start: Nanos, inferred: bool) -> Self {
        Self {
            start,
            keys: Ends::default(),
            tokens: Ends::default(),
            same_token: Ends::default(),
            data: Ends::default(),
            known: Ends::default(),
            fallback: None,
            announced: None,
            first: PENDING,
            last: PENDING,
            subflows: 0,
            version: None,
            checksums: None,
            inferred,
            offered: false,
            offer_withdrawn: false,
            accepted: false,
            confirmed: false,
        }
    }

    /// Returns whether it was a connection of MPTCP, if only for a time: the handshake, as far as
    /// it was captured, or later packets had options of MPTCP.
    pub(super) fn is_mptcp(&self) -> bool {
        self.confirmed || ((self.offered || self.accepted) && self.fallback.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{flow::Flow, subflow::Subflow};
    use super::*;

    #[test]
    fn a_connection_of_one_subflow_takes_little() {
        let bytes = size_of::<Connection>() + size_of::<Subflow>() + size_of::<Flow>();
        assert!(bytes <= 384, "{bytes}");
    }
}
