//! One subflow of a connection.

use mptcplab_wire::Segment;

use super::join::JoinHandshake;
use super::mappings::Mappings;
use super::signals::Signals;
use super::staleness::Staleness;
use super::subflow_end::SubflowEnd;
use crate::Nanos;
use crate::scheduler::SubflowView;
use crate::tcp::{State, Tcp};

/// A subflow: a TCP connection and its part in the MPTCP connection.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    /// Number in the connection; 0 is the first subflow.
    pub(super) id: u32,
    pub(super) tcp: Tcp,
    pub(super) initiated_here: bool,
    pub(super) stage: Stage,
    pub(super) local: JoinEnd,
    pub(super) remote: JoinEnd,
    /// Handshake of MP_JOIN.
    pub(super) join: JoinHandshake,
    pub(super) mappings: Mappings,
    /// Offset in the subflow's stream of the next byte to hand over.
    pub(super) handed: u64,
    /// End of the connection's data that it was handed.
    pub(super) sent_until: u64,
    pub(super) signals: Signals,
    pub(super) staleness: Staleness,
    /// Something was acknowledged on it since data was last handed out.
    pub(super) acknowledged: bool,
    pub(super) end: SubflowEnd,
    /// [`Tcp::next_segment`] may have something.
    pub(super) pending: bool,
    /// SYNs sent.
    pub(super) syns: u32,
    /// A DSS of the peer came on it.
    pub(super) dss_seen: bool,
    /// End of the data that it was given for having held the peer's window up.
    pub(super) relieved_until: u64,
    /// Not penalised again before this.
    pub(super) penalised_until: Nanos,
}

/// One end of a subflow, as MP_JOIN and MP_PRIO describe it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JoinEnd {
    /// Id of its address.
    pub(super) address_id: u8,
    /// It wants the subflow used only where there is no other.
    pub(super) backup: bool,
}

/// How far a subflow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// SYN or SYN/ACK is on its way.
    Opening,
    /// The third ACK of a join was sent and not acknowledged: no data yet.
    PreEstablished,
    /// Data may flow.
    Established,
}

impl Subflow {
    pub(super) fn new(id: u32, tcp: Tcp, initiated_here: bool) -> Self {
        Self {
            id,
            tcp,
            initiated_here,
            stage: Stage::Opening,
            local: JoinEnd::default(),
            remote: JoinEnd::default(),
            join: JoinHandshake::default(),
            mappings: Mappings::default(),
            handed: 1,
            sent_until: 0,
            signals: Signals::default(),
            staleness: Staleness::default(),
            acknowledged: false,
            end: SubflowEnd::default(),
            pending: true,
            syns: 0,
            dss_seen: false,
            relieved_until: 0,
            penalised_until: 0,
        }
    }

    pub(super) fn is_first(&self) -> bool {
        self.id == 0
    }

    /// Whether new data may be handed to it.
    pub(super) fn may_send(&self) -> bool {
        self.stage == Stage::Established && !self.end.is_closing() && self.tcp.state().may_send()
    }

    /// Whether one of the two ends wants it used only where there is no other.
    pub(super) fn is_backup(&self) -> bool {
        self.local.backup || self.remote.backup
    }

    /// Whether it is open for signals: established and not closing.
    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Established
            && !self.end.is_closing()
            && self.tcp.state().is_synchronised()
    }

    /// Whether the connection counts it: one that the peer opens from the end of its handshake on.
    pub(super) fn is_known(&self) -> bool {
        !self.is_over() && (self.initiated_here || self.stage != Stage::Opening)
    }

    /// Whether nothing is left to do for it.
    pub(super) fn is_gone(&self) -> bool {
        self.tcp.state() == State::Closed && !self.pending
    }

    /// Whether it is gone, or waits for its end.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_closing() || self.tcp.state() == State::Closed
    }

    /// Whether the payload of a segment without options needs none: a mapping that came before
    /// covers it, as where segments were split, or all of it has come before. What follows a hole
    /// may still get its mapping.
    pub(super) fn is_mapped(&self, segment: &Segment) -> bool {
        let end = self.tcp.offset_of(segment) + segment.payload.len() as u64;
        let from = end - segment.payload.len() as u64;
        self.tcp.received() < end || self.mappings.covers(from, end)
    }

    /// Lets an ACK go out where the peer should know that reading has made room.
    pub(super) fn update_window(&mut self, free_bytes: u64) {
        self.tcp.update_shared_window(free_bytes);
        self.pending = true;
    }

    /// Lets an ACK go out.
    pub(super) fn request_ack(&mut self) {
        self.tcp.request_ack();
        self.pending = true;
    }

    /// A scheduler's view of it.
    pub(super) fn view(&self) -> SubflowView {
        let segment_bytes = u64::from(self.tcp.segment_bytes());
        SubflowView {
            id: self.id,
            backup: self.is_backup(),
            smoothed_rtt_ns: self.tcp.smoothed_rtt_ns(),
            rtt_variation_ns: self.tcp.rtt_variation_ns(),
            window_bytes: self.tcp.congestion_window().bytes,
            room_bytes: self.tcp.room_bytes(),
            queued_bytes: self.tcp.outstanding_bytes(),
            queued_memory_bytes: self.tcp.outstanding_memory_bytes(),
            queue_limit_bytes: self.tcp.outstanding_bytes() + self.tcp.send_buffer_room_bytes(),
            paced_bits: self.tcp.paced_bits(),
            segment_bytes,
            sent_until: self.sent_until,
        }
    }
}
