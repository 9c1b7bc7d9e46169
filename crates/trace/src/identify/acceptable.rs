//! Segments that their receiver does not accept as the connection's (RFC 9293, section 3.10.7), as
//! far as a capture shows its state.
//!
//! An RST counts where the receiver may accept it:
//!
//! - In SYN-SENT (section 3.10.7.3) it must acknowledge the SYN. The end is in that state if its
//!   SYN was captured and no acknowledgement of it. If a SYN/ACK of the other end was captured, it
//!   may have arrived: then an RST in the window that begins there counts too.
//! - In SYN-RECEIVED and all later states (section 3.10.7.4) its sequence number must lie in the
//!   window: not below the highest acknowledgement that the receiver sent, and not beyond the
//!   window granted with that nor beyond all that the other end sent. A capture does not show which
//!   number in it the receiver expects exactly (RFC 5961, section 3.2): packets that reached the
//!   receiver since, or were lost before the capture, are not seen.
//! - Where nothing of the receiver was captured its state is unknown, and the RST counts. A window
//!   scale that no SYN gives is taken for the largest.
//!
//! An acknowledgement of number 0 by an end in SYN-SENT acknowledges nothing: the other end, in
//! LISTEN or CLOSED, answers it with an RST of sequence number 0 (sections 3.10.7.1 and 3.10.7.2).

use super::flow::Bits;
use super::registry::{Registry, Seen};
use super::subflow::Phase;
use crate::{Ends, Event, Side};

/// Largest shift of a window (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

impl Registry {
    /// Returns whether the receiver of a segment accepts it as one of the connection.
    pub(super) fn is_acceptable(&self, seen: Seen) -> bool {
        if seen.segment.flags.rst {
            self.accepts_reset(seen)
        } else {
            !self.acknowledges_nothing(seen)
        }
    }

    /// Takes the window of a SYN, which is in bytes, and the scale of those that follow: they are
    /// scaled where both SYNs have the option (RFC 7323, section 2.2).
    pub(super) fn take_window(&mut self, seen: Seen) {
        let Seen { from, segment, .. } = seen;
        let shifts = &mut self.subflow(seen).shifts;
        let shift = match segment.options.window_shift {
            Some(shift) => *shifts[from].get_or_insert(shift.min(MAX_SHIFT)),
            None => {
                *shifts = Ends::of(|_| Some(0));
                0
            }
        };
        self.flows[seen.index as usize].window[from] = segment.window.div_ceil(1 << shift);
    }

    /// Adds an event for the first RST of an end that its receiver does not accept.
    pub(super) fn report_refused(&mut self, seen: Seen, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.subflow(seen).refused[seen.from], true) {
            return;
        }
        let to = seen.from.other();
        let is_synchronised = self.flows[seen.index as usize]
            .bits
            .any(Bits::synchronised(to));
        let why = if is_synchronised {
            "it lies outside of the receiver's window"
        } else {
            "it does not acknowledge the receiver's SYN"
        };
        self.report(seen, "reset_ignored", format!("RST: {why}"), events);
    }

    fn accepts_reset(&self, seen: Seen) -> bool {
        let flow = &self.flows[seen.index as usize];
        let subflow = &self.subflows[seen.index as usize];
        let (from, to) = (seen.from, seen.from.other());
        if flow.bits.is_over() {
            return true;
        }
        if flow.bits.any(Bits::synchronised(to)) {
            return self.is_in_window(seen, flow.expected[to]);
        }
        let Some(syn) = subflow.initial[to] else {
            return true;
        };
        let acknowledged = seen.segment.acknowledgement.wrapping_sub(syn);
        let sent = flow.next[to].wrapping_sub(syn);
        let acknowledges_syn = seen.segment.flags.ack && (1..=sent).contains(&acknowledged);
        let syn_ack = subflow.initial[from];
        acknowledges_syn
            || syn_ack.is_some_and(|number| self.is_in_window(seen, number.wrapping_add(1)))
    }

    /// Returns whether a segment lies in the window of its receiver, which expects `expected` next.
    fn is_in_window(&self, seen: Seen, expected: u32) -> bool {
        let flow = &self.flows[seen.index as usize];
        let (from, to) = (seen.from, seen.from.other());
        let shift = self.subflows[seen.index as usize].shifts[to];
        let window = u32::from(flow.window[to]) << shift.unwrap_or(MAX_SHIFT);
        let sent = flow.next[from].wrapping_sub(expected);
        let has_sent = flow.bits.any(Bits::sent(from)) && sent as i32 > 0;
        let most = window.max(if has_sent { sent } else { 0 });
        seen.segment.sequence.wrapping_sub(expected) <= most
    }

    fn acknowledges_nothing(&self, seen: Seen) -> bool {
        let flags = seen.segment.flags;
        let subflow = &self.subflows[seen.index as usize];
        flags.ack
            && !flags.syn
            && seen.segment.acknowledgement == 0
            && subflow.phase == Phase::Syn
            && subflow.initial[seen.from].is_some()
            && !self.has_sent(seen.index, seen.from.other())
    }

    fn has_sent(&self, index: u32, side: Side) -> bool {
        self.flows[index as usize].bits.any(Bits::sent(side))
    }
}
