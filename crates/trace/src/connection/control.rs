//! Begin and end of subflows, and with them of the connection.

use super::closing::{self, DataEnd};
use super::current_segment::{CurrentSegment, name};
use super::{Connection, Flow};
use crate::{Ends, Event, Segment, Verdict};

impl Connection {
    /// Takes SYN, FIN and RST.
    #[cold]
    pub(super) fn take_control(
        &mut self,
        current: &CurrentSegment,
        segment: &Segment,
        events: &mut Vec<Event>,
    ) {
        let flags = segment.flags;
        let flows = &mut self.flows[current.subflow as usize];
        let was_over = is_over(flows);
        let (own, other) = flows.pair_mut(current.from);
        if flags.syn {
            own.origin.set_initial(segment.sequence);
            if flags.ack {
                let initial = segment.acknowledgement.wrapping_sub(1);
                other.origin.set_initial(initial);
            }
            if let Some(bytes) = segment.options.max_segment_bytes {
                self.directions[current.from.other()]
                    .window
                    .set_segment(bytes);
            }
        }
        if flags.fin && !own.fin {
            own.fin = true;
            events.push(current.event("fin", format!("FIN of the {}", name(current.from))));
            self.directions[current.from].is_complete |= self.plain;
        }
        own.reset |= flags.rst;
        if !was_over && is_over(flows) {
            let text = if flags.rst {
                format!("the subflow is closed by RST of the {}", name(current.from))
            } else {
                "the subflow is closed: both ends sent FIN".to_owned()
            };
            events.push(current.event("subflow_closed", text));
            self.is_closing = true;
        }
    }

    /// Takes a MP_FASTCLOSE.
    #[cold]
    pub(super) fn take_fast_close(&mut self, current: &CurrentSegment) {
        self.fast_closed.get_or_insert(current.at);
        self.is_closing = true;
    }

    /// Adds an event, once, if the connection is over.
    #[cold]
    pub(super) fn report_closed(&mut self, current: &CurrentSegment, events: &mut Vec<Event>) {
        self.is_closing = false;
        if self.is_closed {
            return;
        }
        let how = match self.end() {
            DataEnd::Open => return,
            DataEnd::DataFin => "the DATA_FIN of both ends is acknowledged",
            DataEnd::Fin => "both ends sent FIN",
            DataEnd::FastClose => "MP_FASTCLOSE",
            DataEnd::Reset => "no subflow is left, one at least was reset",
        };
        self.is_closed = true;
        let text = format!("the connection is closed: {how}");
        let mut event = current.event("connection_closed", text);
        event.subflow = None;
        events.push(event);
    }

    /// Returns how the connection ended.
    pub(super) fn end(&self) -> DataEnd {
        let fins = Ends::of(|side| self.directions[side].fin.acknowledged_at.is_some());
        let data_fins = fins.client && fins.server;
        closing::end(&self.flows, data_fins, self.fast_closed.is_some())
    }

    /// Adds an event for a retransmission by timeout, the first since an acknowledgement.
    #[cold]
    pub(super) fn report_timeout(
        &mut self,
        current: &CurrentSegment,
        verdict: &Verdict,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[current.subflow as usize][current.from];
        if !std::mem::replace(&mut flow.timed_out, true) {
            let sequence = verdict.sequence;
            let text = format!("retransmission timeout: sequence {sequence} is sent again");
            events.push(current.event("timeout", text));
        }
    }
}

/// Returns whether a subflow is over: both ends sent FIN, or one RST.
fn is_over(flows: &Ends<Flow>) -> bool {
    flows.client.fin && flows.server.fin || flows.client.reset || flows.server.reset
}
