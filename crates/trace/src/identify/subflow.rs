//! State of a subflow that only few of its packets need.

use super::flow::PENDING;
use crate::{Ends, Nanos, Side};

/// Progress of a subflow's handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing was seen yet.
    Start,
    /// SYN.
    Syn,
    /// SYN/ACK.
    SynAck,
    /// It is over, or was not captured.
    Open,
}

/// A subflow: one for each flow, under the same index.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    /// When its first packet was captured.
    pub(super) start: Nanos,
    /// When its first SYN was captured.
    pub(super) syn_at: Option<Nanos>,
    /// When the third ACK was captured.
    pub(super) established: Option<Nanos>,
    /// Sequence number of the SYN of each end.
    pub(super) initial: Ends<Option<u32>>,
    /// Shift of the windows of each end, where its SYN or the other's gives it.
    pub(super) shifts: Ends<Option<u8>>,
    /// An event was added for an RST of this end that its receiver does not accept.
    pub(super) refused: Ends<bool>,
    /// Random numbers of MP_JOIN.
    pub(super) nonces: Ends<Option<u32>>,
    pub(super) address_ids: Ends<Option<u8>>,
    pub(super) backup: Ends<Option<bool>>,
    /// Whether the HMAC that each end sent was right.
    pub(super) hmac_valid: Ends<Option<bool>>,
    pub(super) priority_changes: u32,
    pub(super) reset_reason: Option<u8>,
    pub(super) phase: Phase,
    /// A SYN or a SYN/ACK was sent more than once: the handshake gives no round trip.
    pub(super) repeated: bool,
    /// The join has failed.
    pub(super) rejected: bool,
    /// By MP_JOIN, or attached to a connection that was there already.
    pub(super) join: bool,
    pub(super) opener: Side,
    pub(super) announced: bool,
    pub(super) inferred: bool,
    /// Index of the next subflow of its connection, or [`PENDING`].
    pub(super) following: u32,
}

impl Subflow {
    pub(super) fn new(start: Nanos) -> Self {
        Self {
            start,
            syn_at: None,
            established: None,
            initial: Ends::default(),
            shifts: Ends::default(),
            refused: Ends::default(),
            nonces: Ends::default(),
            address_ids: Ends::default(),
            backup: Ends::default(),
            hmac_valid: Ends::default(),
            priority_changes: 0,
            reset_reason: None,
            phase: Phase::Start,
            repeated: false,
            rejected: false,
            join: false,
            opener: Side::Client,
            announced: false,
            inferred: false,
            following: PENDING,
        }
    }

    /// Makes it the one that opened its connection. Its addresses have the id 0 (RFC 8684, section
    /// 3.4.1), and it is no backup until an end says so.
    pub(super) fn be_first(&mut self) {
        self.inferred = false;
        self.address_ids = Ends::of(|_| Some(0));
        self.backup = Ends::of(|side| Some(self.backup[side].unwrap_or(false)));
    }

    /// Takes the backup flag of an end.
    pub(super) fn prioritise(&mut self, of: Side, backup: bool) {
        if self.backup[of].replace(backup) != Some(backup) {
            self.priority_changes = self.priority_changes.saturating_add(1);
        }
    }
}
