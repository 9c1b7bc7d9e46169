//! TCP handshakes of subflows, and the options of MPTCP that must be in them (RFC 8684, sections
//! 3.1, 3.2 and 3.7).

use super::fallback::Fallback;
use super::flow::Bits;
use super::format_option::format_option;
use super::registry::{Registry, Seen};
use super::subflow::Phase;
use crate::{Event, Segment, Side};

impl Registry {
    /// Follows the handshake of TCP.
    pub(super) fn take_handshake(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let flags = seen.segment.flags;
        if flags.syn {
            self.take_window(seen);
        }
        match (flags.syn, flags.ack) {
            (true, false) => self.take_syn(seen),
            (true, true) => self.take_syn_ack(seen, events),
            (false, _) => {
                let bits = self.flows[seen.index as usize].bits;
                if bits.any(Bits::HANDSHAKE) {
                    self.take_later(seen, events);
                }
            }
        }
    }

    fn take_syn(&mut self, seen: Seen) {
        let segment = seen.segment;
        let subflow = self.subflow(seen);
        if subflow.initial[seen.from] == Some(segment.sequence) {
            subflow.repeated = true;
            if lacks_mptcp(segment) {
                self.connection(seen).offer_withdrawn = true;
            }
            return;
        }
        subflow.initial[seen.from] = Some(segment.sequence);
        if subflow.opener == seen.from {
            subflow.syn_at = Some(segment.at);
        }
        match subflow.phase {
            Phase::Start => subflow.phase = Phase::Syn,
            Phase::SynAck if subflow.opener == seen.from => self.complete_knowledge(seen),
            _ => {}
        }
    }

    /// Takes a SYN after its SYN/ACK, from another file: nothing is inferred any longer.
    fn complete_knowledge(&mut self, seen: Seen) {
        let subflow = self.subflow(seen);
        if subflow.inferred && !subflow.join {
            subflow.be_first();
            self.connection(seen).inferred = false;
        }
    }

    fn take_syn_ack(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let segment = seen.segment;
        let subflow = self.subflow(seen);
        if subflow.initial[seen.from] == Some(segment.sequence) {
            subflow.repeated = true;
            return;
        }
        let answers = subflow.opener != seen.from
            && acknowledges_syn(subflow.initial[subflow.opener], segment);
        if !answers || subflow.phase == Phase::Open {
            return;
        }
        subflow.initial[seen.from] = Some(segment.sequence);
        subflow.phase = Phase::SynAck;
        let opener = subflow.opener;
        let join = subflow.join;
        let flow = &mut self.flows[seen.index as usize];
        if !flow.bits.any(Bits::sent(opener)) {
            flow.next[opener] = segment.acknowledgement;
            flow.bits.set(Bits::sent(opener), true);
        }
        if !lacks_mptcp(segment) {
            return;
        }
        if join {
            self.subflow(seen).rejected = true;
            let text = "the SYN/ACK has no MP_JOIN".to_owned();
            self.report(seen, "join_rejected", text, events);
        } else if self.connection(seen).offered {
            let reason = if self.connection(seen).offer_withdrawn {
                Fallback::SynRepeatedWithoutMptcp
            } else {
                Fallback::SynAckWithoutMptcp
            };
            self.fall_back(seen, reason, events);
        }
    }

    /// Takes a segment after the SYNs, while the handshake is not known to be complete.
    fn take_later(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let Seen { from, segment, .. } = seen;
        let flow = &self.flows[seen.index as usize];
        let subflow = &self.subflows[seen.index as usize];
        let (phase, opener) = (subflow.phase, subflow.opener);
        let follows = segment.sequence == flow.next[from] && flow.bits.any(Bits::sent(from));
        let acknowledges_more = segment.acknowledgement.wrapping_sub(flow.next[opener]) as i32 > 0;
        let is_complete = match phase {
            Phase::Start => true,
            _ if segment.flags.rst || !segment.flags.ack => false,
            _ if from == opener => true,
            _ => phase == Phase::Syn || acknowledges_more,
        };
        if !is_complete {
            return;
        }
        self.complete(seen);
        if phase == Phase::Start || from != opener || !follows {
            return;
        }
        self.subflow(seen).established = Some(segment.at);
        let mut text = "third ACK".to_owned();
        for option in &segment.options.mptcp {
            text.push_str(": ");
            text.push_str(&format_option(option));
        }
        self.report(seen, "subflow_established", text, events);
        let connection = self.connection(seen);
        let expected = connection.accepted || (connection.offered && phase == Phase::Syn);
        if expected && !self.subflow(seen).join && lacks_mptcp(segment) {
            self.fall_back(seen, Fallback::ThirdAckWithoutMptcp, events);
        }
    }

    /// Completes the handshake: data counts from here on.
    fn complete(&mut self, seen: Seen) {
        let subflow = self.subflow(seen);
        let was_captured = subflow.phase != Phase::Start;
        subflow.phase = Phase::Open;
        let is_first = !subflow.join;
        let connection = self.connection(seen);
        let is_mptcp = (connection.offered || connection.accepted) && connection.fallback.is_none();
        let flow = &mut self.flows[seen.index as usize];
        flow.bits.set(Bits::HANDSHAKE, false);
        if was_captured && is_first && is_mptcp {
            for side in [Side::Client, Side::Server] {
                flow.bits.set(Bits::first_data(side), true);
            }
        }
    }

    /// Takes the first data of an end of a connection of MPTCP: it has a mapping, or is that of
    /// TCP.
    pub(super) fn take_first_data(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let Seen { from, segment, .. } = seen;
        let flow = &mut self.flows[seen.index as usize];
        if segment.payload_bytes == 0 || !flow.bits.any(Bits::first_data(from)) {
            return;
        }
        let follows = segment.sequence == flow.next[from];
        flow.bits.set(Bits::first_data(from), false);
        if follows && !segment.has_mapping() && !segment.options_cut {
            self.fall_back(seen, Fallback::NoDss, events);
        }
    }

    /// Takes the same packet on another interface: only whether it lost MP_CAPABLE counts.
    pub(super) fn take_duplicate(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let segment = seen.segment;
        if !segment.flags.syn || !lacks_mptcp(segment) || self.subflow(seen).join {
            return;
        }
        let connection = self.connection(seen);
        let lost = match segment.flags.ack {
            false if connection.offered && !connection.accepted && !connection.offer_withdrawn => {
                Fallback::SynStripped
            }
            true if connection.accepted && !connection.confirmed => Fallback::SynAckStripped,
            _ => return,
        };
        self.fall_back(seen, lost, events);
    }
}

/// Returns whether a segment surely has no option of MPTCP.
fn lacks_mptcp(segment: &Segment) -> bool {
    segment.options.mptcp.is_empty() && !segment.options_cut
}

/// Returns whether a SYN/ACK answers the SYN that was captured, if one was.
fn acknowledges_syn(initial: Option<u32>, segment: &Segment) -> bool {
    initial.is_none_or(|initial| segment.acknowledgement.wrapping_sub(initial) as i32 > 0)
}
